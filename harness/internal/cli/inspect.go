package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/internal/inspect"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

func inspectCommand(sys IO, p *project) *cobra.Command {
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "inspect FILE…",
		Short: "Show the conversations in cassettes, whoever recorded them",
		Long: `inspect reads cassettes and prints the conversations in them, a row for each model
call, totals, and where the contract of an agent loop is broken. --json prints one
object a file instead.

Besides go-vcr's cassettes (versions 1 and 2) it reads those of VCR.py, Ruby's VCR
and httprr, HAR files of browsers and of Polly.JS, one request with its answer as
JSON, and the body of an answer, as JSON or as an event stream. What a file holds
is seen from its content, not from its name.

Tokens are the provider's own figures. A breach does not change the exit code,
unless --strict is given.`,
		Example: `  retake inspect cassettes/travel/umbrella/claude-opus-4-8.yaml
  retake inspect --json testdata/*.yaml | jq .tool_calls
  retake inspect recording.har answer.sse`,
		Args: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				return errors.New("which cassette? name its file: retake inspect cassettes/travel/umbrella/claude-opus-4-8.yaml")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, files []string) error {
			hideSecrets(sys, p)
			return inspectAll(sys, files, asJSON, strict)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each file")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit 1 when a rule of the contract is broken")
	return cmd
}

// hideSecrets takes the secrets of the project, if the command is in one.
func hideSecrets(sys IO, p *project) {
	c, err := suite.OpenConfig(p.dirs, sys.Getenv)
	if err != nil {
		_, _ = fmt.Fprintf(sys.Stderr, "warning: %s; the secrets that it names are not masked\n", transcript.AppendSafe(nil, err.Error(), 9))
		return
	}
	sys.hidden.values = c.Hidden()
}

// inspectAll goes on after a file that cannot be read, and then exits with its
// code.
func inspectAll(sys IO, files []string, asJSON, strict bool) error {
	worst := exitPass
	for i, name := range files {
		f, err := foreign.Open(name)
		if err != nil {
			printError(sys.Stderr, err)
			worst = worse(worst, exitOf(err))
			continue
		}
		in := inspect.Read(f.File)
		if strict && len(in.Facts.Breaches) > 0 {
			worst = worse(worst, exitFail)
		}
		if i > 0 && !asJSON {
			_, _ = fmt.Fprintln(sys.Stdout)
		}
		if err := printInspection(sys.Stdout, &in, asJSON); err != nil {
			return err
		}
	}
	if worst != exitPass {
		return exitError(worst)
	}
	return nil
}

func printInspection(w io.Writer, in *inspect.Inspection, asJSON bool) error {
	if asJSON {
		b, err := in.Facts.JSON()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", b)
		return err
	}
	f := &in.Facts
	_, _ = fmt.Fprintf(w, "%s\n\n", transcript.Safe(f.Path))
	if len(f.Calls) == 0 {
		_, _ = fmt.Fprintf(w, "no call to a model API that retake reads; %s\n", or(hosts("requests went to: ", in.Others), "there are no requests at all"))
		warningLines(w, f)
		return nil
	}
	_, _ = fmt.Fprintf(w, "%s\n", in.Transcript)
	callTable(w, f)
	_, _ = fmt.Fprintf(w, "total: %s\n", totals(in))
	warningLines(w, f)
	contractLines(w, in.Findings)
	return nil
}

func warningLines(w io.Writer, f *inspect.Facts) {
	for _, warn := range f.Warnings {
		_, _ = fmt.Fprintf(w, "warning: %s\n", transcript.Safe(warn))
	}
}

// hosts lists where requests went, with how many; "" for none.
func hosts(lead string, list []inspect.Host) string {
	if len(list) == 0 {
		return ""
	}
	parts := make([]string, len(list))
	for i, h := range list {
		parts[i] = fmt.Sprintf("%s (%d)", transcript.Safe(h.Name), h.Requests)
	}
	return lead + strings.Join(parts, ", ")
}

func callTable(out io.Writer, f *inspect.Facts) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "#\tapi\tmodel\tstop\tinput\toutput\tcache read\tcache write\treasoning\tlatency\ttools")
	for i := range f.Calls {
		c := &f.Calls[i]
		stop := strings.Join(c.Stop, ",")
		if c.Error != nil {
			stop = "error: " + *c.Error
		}
		if len(c.Problems) > 0 {
			stop += " (" + strings.Join(c.Problems, ", ") + ")"
		}
		var tools []string
		for _, t := range c.Tools {
			tools = append(tools, t.Name)
		}
		model := "-"
		if c.Model != nil {
			model = *c.Model
		}
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i+1, c.Family, transcript.Safe(model), or(transcript.Safe(stop), "-"),
			count(c.Input), count(c.Output), count(c.CacheRead), count(c.CacheWrite), count(c.Reasoning),
			latency(c.Latency), transcript.Safe(strings.Join(tools, ", ")))
	}
	_ = w.Flush()
	_, _ = fmt.Fprintln(out)
}

func latency(us int64) string {
	if us == 0 {
		return "-"
	}
	return (time.Duration(us) * time.Microsecond).Round(time.Millisecond).String()
}

func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func totals(in *inspect.Inspection) string {
	f := &in.Facts
	s := fmt.Sprintf("%s, %d failed, %s, at most %d at once; tokens: input %s, output %s, cache read %s, cache write %s, reasoning %s",
		report.Count(f.ModelCalls, "model call"), f.Failed, report.Count(len(f.ToolCalls), "tool call"), f.ParallelMax,
		count(f.Input), count(f.Output), count(f.CacheRead), count(f.CacheWrite), count(f.Reasoning))
	if f.Others == 0 {
		return s
	}
	are := "which are no calls"
	if f.Others == 1 {
		are = "which is no call"
	}
	return fmt.Sprintf("%s; %s, %s to a model API that retake reads: %s", s, report.Count(f.Others, "other request"), are, hosts("", in.Others))
}

// contractLines shows breaches, and what could not be seen.
func contractLines(w io.Writer, findings []contract.Finding) {
	var held, unseen []string
	for _, f := range findings {
		switch f.State {
		case contract.Held:
			held = append(held, string(f.Rule))
		case contract.NotObservable:
			unseen = append(unseen, string(f.Rule))
		case contract.Breached, contract.NotApplicable:
		}
		for _, b := range f.Breaches {
			_, _ = fmt.Fprintf(w, "breach %s\n", transcript.Safe(b.String()))
		}
	}
	_, _ = fmt.Fprintf(w, "contract: held %s; not observable in a cassette: %s\n", or(strings.Join(held, " "), "none"), strings.Join(unseen, " "))
}

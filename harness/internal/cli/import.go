package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/internal/start"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

func importCommand(sys IO, p *project) *cobra.Command {
	var t start.Target
	var o foreign.Options
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Make cassettes of what other recorders wrote",
		Long: `import reads recordings (VCR.py, Ruby's VCR, go-vcr of both versions, httprr, HAR of
browsers and of Polly.JS, one request with its answer as JSON, bodies as JSON or as
event streams) and writes the calls to models in them where retake run looks for
them: cassettes/NAME/MODEL.yaml, a file for each model. NAME is made of the file's
name, or given with --name; with it several files become one scenario's recordings.

Headers that are not known to be harmless are left out (credentials, cookies), and
keys in addresses, and what redact in scenarios/retake.yaml names. A file that has
the value of a secret of the configuration is refused, with its place. Requests that
are no model calls are left out and counted, unless --all is given.

The body of an answer alone has no request to be found by: its cassette can only be
replayed by order (in the scenario, replay: {match: sequence}). Name the request's
body before it, and the two become one exchange.`,
		Example: `  retake import tests/cassettes/test_refund.yaml --name refund
  retake import network.har --out /tmp/cassettes
  retake import request.json answer.sse --name hello
  retake import old-go-vcr.yaml --out cassettes/refund/claude-opus-4-8.yaml --force`,
		Args: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				return errors.New("which recording? name its file: retake import recording.har")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, files []string) error {
			c, err := suite.OpenConfig(p.dirs, sys.Getenv)
			if err != nil {
				return err
			}
			sys.hidden.values = c.Hidden()
			o.Redact, o.Secrets = cassette.Redaction{Headers: c.Redact.Headers, JSON: c.Redact.JSON}, c.Hidden()
			t.Cassettes = suite.Filled(p.dirs).Cassettes
			sources, written, err := start.Import(files, o, t)
			if err != nil {
				return err
			}
			printImport(sys, sources, written, o.All)
			return nil
		},
	}
	cmd.Flags().StringVar(&t.Out, "out", "", "the folder for cassettes, or one file ending in .yaml for all (default: the project's cassettes)")
	cmd.Flags().StringVar(&t.Name, "name", "", "the scenario that the recordings are for (default: made of each file's name)")
	cmd.Flags().BoolVar(&t.Force, "force", false, "write over cassettes that are there")
	cmd.Flags().BoolVar(&o.All, "all", false, "keep requests that are no model calls, too")
	return cmd
}

func printImport(sys IO, sources []start.Source, written []start.Written, all bool) {
	for i := range sources {
		printSource(sys, &sources[i])
	}
	for _, w := range written {
		others := ""
		if w.Others > 0 {
			others = ", " + report.Count(w.Others, "other request")
		}
		_, _ = fmt.Fprintf(sys.Stdout, "wrote %s: %s%s\n", w.Path, report.Count(w.Calls, "model call"), others)
	}
	if len(written) > 0 && !all {
		_, _ = fmt.Fprintf(sys.Stdout, "look at it: retake inspect %s\na scenario of it: retake init --from %s NAME\n", written[0].Path, written[0].Path)
	}
}

func printSource(sys IO, s *start.Source) {
	var left []string
	total := 0
	for _, l := range s.Left {
		total += l.Requests
		left = append(left, fmt.Sprintf("%s (%d)", transcript.Safe(l.What), l.Requests))
	}
	_, _ = fmt.Fprintf(sys.Stdout, "%s: %s, %s, %s\n", transcript.Safe(s.Path), s.Format,
		report.Count(len(s.File.Interactions)+total, "interaction"), report.Count(len(s.Calls), "model call"))
	if total > 0 {
		_, _ = fmt.Fprintf(sys.Stdout, "  left out, no model calls: %s\n", strings.Join(left, ", "))
	}
	doubts(sys.Stderr, s.Path, s.Doubts)
}

func doubts(w io.Writer, path string, list []string) {
	for _, d := range list {
		_, _ = fmt.Fprintf(w, "warning: %s: %s\n", transcript.Safe(path), transcript.Safe(d))
	}
}

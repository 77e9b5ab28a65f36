package cli

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

type driftFlags struct {
	models, labels []string
	live, yes      bool
	strict, json   bool
	out            string
	tokens         atLeastOne
	cost           money
}

func driftCommand(sys IO, p *project) *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "drift [SCENARIO…]",
		Short: "Tell which recordings are stale, or differ from a fresh run",
		Long: `drift tells, without going live, which recordings are stale and why: what the
model is told, the tools, or the model have changed since, or the recording is
older than expires: says (in the scenario, else under record in retake.yaml, else
90 days). What a recording does not say of itself is told as not known.

With --live each scenario is run against the live API, within the session's cap
as for record, and the model's course is compared with the recorded one: another
text is info, other arguments are a warning, other calls an error. Nothing is
written over.

The exit code is 1 with an error among the findings, with --strict also with a
warning.`,
		Example: `  retake drift
  retake drift --live --yes --out drift.md`,
		RunE: func(_ *cobra.Command, args []string) error { return drift(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.models, "model", "m", nil, "only these model versions")
	flags.StringSliceVarP(&f.labels, "label", "l", nil, "only scenarios with one of these labels")
	flags.BoolVar(&f.live, "live", false, "compare with a fresh run against the live API")
	flags.BoolVarP(&f.yes, "yes", "y", false, "with --live: do not ask before the first call that costs")
	flags.BoolVar(&f.strict, "strict", false, "take warnings as errors")
	flags.BoolVar(&f.json, "json", false, "print the findings as JSON")
	flags.StringVar(&f.out, "out", "", "write them to this file as Markdown, too")
	flags.Var(&f.tokens, "max-tokens", "with --live: how many tokens may be used (default: record.tokens in retake.yaml)")
	flags.Var(&f.cost, "max-cost", "with --live: how many US dollars it may cost (default: record.cost in retake.yaml)")
	return cmd
}

func drift(sys IO, p *project, f *driftFlags, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	of := s.Config.Record
	o := rerecord.Options{
		Models: f.models, Labels: f.labels, SDK: "retake " + version(), Getenv: sys.Getenv, Unjudged: true,
		Cap: live.Cap{Tokens: cmp.Or(int64(f.tokens), of.Tokens), Cost: cmp.Or(float64(f.cost), of.Cost)},
	}
	var all []rerecord.Drifted
	if f.live {
		all, err = driftLive(sys, s, names, &o, f)
	} else {
		all, err = rerecord.Offline(s, names, o, clock.Wallclock())
	}
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return failure.Errorf(failure.ScenarioInvalid, "%s: there are no recordings to look at: no scenario has all that is asked for", s.Dirs.Scenarios)
	}
	return driftResult(sys, f, all)
}

// driftLive runs the scenarios, and tells what it cost.
func driftLive(sys IO, s *suite.Suite, names []string, o *rerecord.Options, f *driftFlags) ([]rerecord.Drifted, error) {
	if a := newAsker(sys, 1); a != nil {
		o.Approve = a.ask
	}
	out := &recordPrinter{sys: sys}
	o.Watch = out.spent
	plan, err := rerecord.Prepare(s, names, *o)
	if err != nil || len(plan.Jobs) == 0 {
		return nil, err
	}
	sys.hidden.values = plan.Secrets
	if err := confirm(sys, "to run live", plan, o, f.yes); err != nil {
		return nil, err
	}
	var all []rerecord.Drifted
	spent := plan.Fresh(sys.Context, func(d *rerecord.Drifted) { all = append(all, *d) })
	out.clear()
	_, _ = fmt.Fprintln(sys.Stderr, amounts(&spent))
	return all, nil
}

func driftResult(sys IO, f *driftFlags, all []rerecord.Drifted) error {
	if f.out != "" {
		var text bytes.Buffer
		if err := rerecord.Markdown(&text, all, f.live); err != nil {
			return err
		}
		if err := file.Replace(f.out, sys.hidden.values.Bytes(text.Bytes())); err != nil {
			return failure.Errorf(failure.World, "writing what has drifted: %w", err)
		}
	}
	if f.json {
		text, err := json.Marshal(all, jsontext.WithIndent("  "))
		if err != nil {
			return failure.Errorf(failure.Internal, "the findings as JSON: %w", err)
		}
		_, _ = fmt.Fprintf(sys.Stdout, "%s\n", text)
	} else {
		printDrift(sys, all)
	}
	switch code := exitOfDrift(all, f.strict); {
	case sys.Context.Err() != nil:
		return exitError(exitInterrupted)
	case code != exitPass:
		return exitError(code)
	}
	return nil
}

func printDrift(sys IO, all []rerecord.Drifted) {
	for i := range all {
		d := &all[i]
		worst := string(d.Worst())
		if worst == "" {
			worst = "same"
		}
		_, _ = fmt.Fprintf(sys.Stdout, "%-5s %-34s %s\n", worst, transcript.Safe(report.Title(d.Scenario, d.Fault)), transcript.Safe(d.Model))
		for _, x := range d.Findings {
			_, _ = fmt.Fprintf(sys.Stdout, "      %s: %s: %s\n", x.Tier, x.What, transcript.AppendSafe(nil, x.Text, 12))
		}
		if d.Worst() == rerecord.Error {
			_, _ = fmt.Fprintf(sys.Stdout, "      next: retake record %s --model %s\n", transcript.Safe(d.Scenario), transcript.Safe(d.Model))
		}
	}
	_, _ = fmt.Fprintf(sys.Stdout, "\n%s\n", rerecord.Summary(all))
}

func exitOfDrift(all []rerecord.Drifted, strict bool) int {
	for i := range all {
		if w := all[i].Worst(); w == rerecord.Error || strict && w == rerecord.Warn {
			return exitFail
		}
	}
	return exitPass
}

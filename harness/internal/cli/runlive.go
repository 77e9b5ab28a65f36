package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// liveFlags are those of a run in which the models answer themselves.
type liveFlags struct {
	on, yes bool
	tokens  atLeastOne
	cost    money
}

func (f *liveFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "live", false, "ask the models themselves instead of replaying, and record nothing; costs money")
	flags.BoolVarP(&f.yes, "yes", "y", false, "with --live: do not ask before the first call that costs")
	flags.Var(&f.tokens, "max-tokens", "with --live: how many tokens all trials together may use (default: record.tokens in retake.yaml)")
	flags.Var(&f.cost, "max-cost", "with --live: how many US dollars they may cost, where prices are known (default: record.cost in retake.yaml)")
}

// check refuses what has no meaning together.
func (f *liveFlags) check(o suite.Options) error {
	switch {
	case !f.on && (f.yes || f.tokens > 0 || f.cost > 0):
		return failure.Errorf(failure.ScenarioInvalid, "--yes, --max-tokens and --max-cost go with --live: a replay costs nothing")
	case f.on && o.Update:
		return failure.Errorf(failure.ScenarioInvalid, "a live run has no golden transcript to accept: a model's words differ each time; record it with: retake record")
	case f.on && len(o.Faults) > 0:
		return failure.Errorf(failure.ScenarioInvalid, "--live runs without faults; replay them, or leave --fault out")
	}
	return nil
}

// begin plans a live run, and asks whether it may be made. nil without --live.
func (f *liveFlags) begin(sys IO, s *suite.Suite, names []string, o suite.Options, progress *progress) (*rerecord.Live, error) {
	if !f.on {
		return nil, nil //nolint:nilnil // a replay has none
	}
	of := s.Config.Record
	ro := rerecord.Options{
		Models: o.Models, Labels: o.Labels, SDK: "retake " + version(), Getenv: sys.Getenv,
		Cap:   live.Cap{Tokens: cmp.Or(int64(f.tokens), of.Tokens), Cost: cmp.Or(float64(f.cost), of.Cost)},
		Watch: func(spent live.Spent) { progress.say(false, amounts(&spent)+" so far") },
	}
	plan, err := rerecord.Prepare(s, names, ro)
	if err != nil {
		return nil, err
	}
	sys.hidden.values = plan.Secrets
	if len(plan.Jobs) == 0 {
		return nil, suite.NothingToRun(o)
	}
	what := "to run live"
	if o.Trials > 1 {
		what += fmt.Sprintf(", %d times each", o.Trials)
	}
	if err := confirm(sys, what, plan, &ro, f.yes); err != nil {
		return nil, err
	}
	return plan.Live(), nil
}

// tellLive says what a live run has spent, and what it was judged by.
func (p *runPrinter) tellLive(l *rerecord.Live) {
	if l == nil {
		return
	}
	spent := l.Spent()
	_, _ = fmt.Fprintf(p.sys.Stdout, "live: %s\n", amounts(&spent))
	_, _ = fmt.Fprintln(p.sys.Stdout, "note: judged by expectations, contract, budgets and effects; golden transcripts and unused recordings of tools do not count, as a model's words differ each time")
	if why := l.Reached(); why != "" {
		_, _ = fmt.Fprintf(p.sys.Stdout, "note: %s\n", why)
	}
}

package suite

import (
	"context"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
)

// live makes one run in which the model answers itself.
func (s *Suite) live(ctx context.Context, sc *scenario.Scenario, model string, trial int, o Options) *harness.Result {
	if why := o.Live.Reached(); why != "" {
		return Capped(harness.Interrupted(sc, sc.Name, model), why)
	}
	sc = sc.WhenRecording()
	p, err := s.Params(sc, model, o)
	if err != nil {
		return harness.NotBuilt(sc.Name, model, err)
	}
	p.Trial = trial
	over, err := o.Live.Adapt(sc, &p)
	if err != nil {
		return harness.NotBuilt(sc.Name, model, err)
	}
	r := harness.Exec(ctx, p)
	over(r)
	return r
}

// Capped makes the result of a run that the session's cap has kept from being made,
// or from its end, one that says so: it is nobody's failure, and no trial.
func Capped(r *harness.Result, why string) *harness.Result {
	r.Verdict = harness.NotRun
	r.Failures = []harness.Failure{{
		Class: failure.Interrupted, Part: failure.PartHarness, What: "not run to its end: " + why,
		Next: "run again with another cap: --max-tokens, --max-cost, or record in retake.yaml",
	}}
	return r
}

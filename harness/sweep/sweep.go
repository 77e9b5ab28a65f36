// Package sweep runs a scenario under every fault of the catalogue, at every
// place where it can strike, and says where the agent kept the contract.
//
// The places come from a run without faults: each model call with the events of
// its stream, each tool call. Each run under one fault (or two, with Params.Pairs)
// is judged by the contract and by the effects alone, and comes out as
//
//   - held: every rule held; how the run ended is the agent's choice,
//   - breached: a rule did not hold, or after a fault that the model was not shown
//     the agent asked for something else than it had; the cell has the command that
//     repeats it,
//   - diverged: everything held until the model saw the fault, and the recording
//     has no answer to what came next,
//   - not applicable: with the reason.
//
// The same scenario, agent and seed give the same Report, byte for byte, on any
// number of workers.
package sweep

import (
	"context"
	"fmt"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/schema"
)

// DefaultMax is how many runs a sweep makes without being told a number.
const DefaultMax = 50_000

// Params say what to sweep.
type Params struct {
	// Run is the scenario with its world. Its Variant, Survey and Update are not
	// looked at. An Agent must stand being run many times at once.
	Run harness.Params
	// Exec makes one run; nil is harness.Exec.
	Exec func(context.Context, harness.Params) *harness.Result

	Only       []string // names of faults, or patterns such as tool.*; none: all
	Pairs      bool     // every two faults as well
	EveryEvent bool     // strike every event of a stream; else the first, the middle, the last and each block's boundary
	Seed       uint64   // what chance is drawn from; 0 is the scenario's
	// Max is the most runs to make: a larger sweep is drawn from by the seed. 0
	// refuses one of more than DefaultMax.
	Max      int
	Parallel int // runs at once; 0 or 1 is one

	// Command spells how a person repeats a run; nil is retake run, with the Flags.
	Command func(specs []fault.Spec) string
	Flags   []string // of the command line that name the project's folders
	// Progress is told how many of the runs are done, never from two goroutines at
	// once; nil tells nobody.
	Progress func(done, total int)
}

// NotPassedError is the error of a scenario that fails without any fault.
type NotPassedError struct{ Result *harness.Result }

func (e *NotPassedError) Error() string {
	why := string(e.Result.Verdict)
	if len(e.Result.Failures) > 0 {
		why = e.Result.Failures[0].What
	}
	return fmt.Sprintf("%s [%s] does not pass without faults; mend that first: %s", e.Result.Name, e.Result.Model, why)
}

// Run sweeps. Its error is a *NotPassedError, one of class scenario_invalid for a
// sweep that cannot be made, or of class interrupted: then the Report says what
// had been run until there.
func Run(ctx context.Context, p Params) (*Report, error) {
	s, err := prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	single := s.singles()
	jobs := due(single)
	var pairs []*job
	if p.Pairs {
		pairs = s.pairs(jobs)
		jobs = append(jobs, pairs...)
	}
	all := len(jobs)
	if jobs, err = s.limit(jobs); err != nil {
		return nil, err
	}
	s.runAll(ctx, jobs)
	r := s.report(single, pairs)
	r.LeftOut = all - len(jobs)
	if ctx.Err() != nil {
		made := len(jobs) - len(due(jobs))
		return r, failure.Errorf(failure.Interrupted, "interrupted: %d of %d runs were made", made, len(jobs))
	}
	return r, nil
}

// Base is the run without faults, from which the places of a sweep come. A sweep
// asks what the agent does, not how it words it: the golden is not looked at.
func Base(run harness.Params) harness.Params {
	sc := *run.Scenario
	sc.Expect.Golden = false
	run.Scenario, run.Variant, run.Survey, run.Update = &sc, nil, true, false
	return run
}

// sweep is one at work.
type sweep struct {
	Params
	base   *harness.Result
	faults []*fault.Fault
}

// prepare makes the run without faults, from which the places come.
func prepare(ctx context.Context, p Params) (*sweep, error) {
	if p.Exec == nil {
		p.Exec = harness.Exec
	}
	if p.Run.Schemas == nil {
		p.Run.Schemas = &schema.Cache{}
	}
	p.Run.Recordings = &harness.Recordings{}
	if p.Seed == 0 {
		p.Seed = max(p.Run.Scenario.Seed, 1)
	}
	if p.Command == nil {
		p.Command = p.commandLine
	}
	if p.Max < 0 {
		return nil, failure.Errorf(failure.ScenarioInvalid, "at most %d runs: say how many to make, at least 1, or 0 for all", p.Max)
	}
	faults, err := fault.Select(p.Only...)
	if err != nil {
		return nil, err
	}
	base := p.Exec(ctx, Base(p.Run))
	if base.Verdict != harness.Pass {
		if ctx.Err() != nil {
			return nil, failure.Errorf(failure.Interrupted, "interrupted")
		}
		return nil, &NotPassedError{base}
	}
	return &sweep{Params: p, base: base, faults: faults}, nil
}

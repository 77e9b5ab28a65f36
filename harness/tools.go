package harness

import (
	"context"
	"maps"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Tools are what runs the tools of one run.
type Tools struct {
	// Scenario is the run's, with what the servers of its tools say of them; nil: it
	// says all itself.
	Scenario  *scenario.Scenario
	Executors map[string]tool.Executor
	Close     func() // ends what was started; nil: nothing was
}

// openTools starts what runs the tools, and puts it into p. The returned func ends
// it; it is never nil.
func openTools(ctx context.Context, p *Params, r *Result) (shut func(), err error) {
	shut = func() {}
	if p.OpenTools == nil {
		return shut, nil
	}
	t, err := p.OpenTools(ctx, p.Scenario)
	if err != nil {
		if ctx.Err() != nil {
			return shut, failure.Errorf(failure.Interrupted, "interrupted")
		}
		return shut, err
	}
	if t.Close != nil {
		shut = t.Close
	}
	if t.Scenario != nil {
		p.Scenario, r.Scenario = t.Scenario, t.Scenario
	}
	executors := maps.Clone(t.Executors)
	if executors == nil {
		executors = map[string]tool.Executor{}
	}
	maps.Copy(executors, p.Executors)
	p.Executors = executors
	return shut, nil
}

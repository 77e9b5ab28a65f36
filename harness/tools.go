package harness

import (
	"context"
	"maps"

	"github.com/retake-harness/retake/harness/effect"
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
	Probes    map[string]effect.Probe // of effects, by the tool
	Scratch   string                  // the run's own folder; "" where it has none
	Close     func()                  // ends what was started; nil: nothing was
}

// With is t with what others have in the place of its own; closing it closes both.
func (t *Tools) With(others *Tools) *Tools {
	return &Tools{
		Scenario: t.Scenario, Scratch: t.Scratch, Executors: over(t.Executors, others.Executors), Probes: over(t.Probes, others.Probes),
		Close: func() { t.close(); others.close() },
	}
}

func (t *Tools) close() {
	if t.Close != nil {
		t.Close()
	}
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
	shut = t.close
	if t.Scenario != nil {
		p.Scenario, r.Scenario = t.Scenario, t.Scenario
	}
	p.scratch = t.Scratch
	p.Executors = over(t.Executors, p.Executors)
	p.Probes = over(t.Probes, p.Probes)
	return shut, nil
}

// over is base with what first has in the place of its own.
func over[V any](base, first map[string]V) map[string]V {
	out := map[string]V{}
	maps.Copy(out, base)
	maps.Copy(out, first)
	return out
}

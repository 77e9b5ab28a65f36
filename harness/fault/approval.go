package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/tool"
)

// Decide wraps what asks a person about calls that need approval.
func (i *Injector) Decide(next func(context.Context, tool.Call) (tool.Decision, error)) func(context.Context, tool.Call) (tool.Decision, error) {
	return func(ctx context.Context, c tool.Call) (tool.Decision, error) {
		d, err := next(ctx, c)
		if err != nil {
			return d, err
		}
		n := i.count(c)
		at := Address{Tool: c.Tool, Call: n.ofTool, Attempt: 1}
		for _, a := range i.armed {
			if a.fault.approval == nil || !i.toolDue(a, at, n) {
				continue
			}
			if !d.Approved {
				i.misfit(a, at, "the person does not approve the call")
				continue
			}
			i.struck(clock.Now(ctx), a, at)
			i.shows(c.Ordinal, true)
			return a.fault.approval(d), nil
		}
		return d, nil
	}
}

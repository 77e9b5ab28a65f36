package fault

import (
	"context"
	"time"

	"github.com/retake-harness/retake/harness/tool"
)

// lateResult is a good result that comes when nobody waits for it any more: the
// tool does not look at its deadline. In real life the loop has told the model of a
// timeout by then, and appends the result all the same. A right loop drops and logs
// it.
var lateResult = Fault{
	Name:    "tool.late_result",
	What:    "the tool does its work, and its good result comes after the deadline",
	Breaks:  "one call gets two results, or a timeout is shown as a success",
	Right:   "dropped and logged; attempt unknown",
	Retried: true,
	Seen:    true,
	Waits:   func(_ Params, timeout time.Duration) time.Duration { return timeout },
	declared: func(d *tool.Decl) string {
		if d.Timeout <= 0 {
			return "the tool has no timeout to be late for"
		}
		return ""
	},
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		res, err := s.work(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		_ = s.injector.wait(ctx, s.spec.Decl.Timeout) // a tool that does not look at its deadline
		if _, ends := ctx.Deadline(); ends {
			<-ctx.Done() // of two timers for the same moment either may come first
		}
		return res, nil
	},
}

package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// partialBatch is one of several calls of a turn that fails while the others
// succeed. In real life a loop then drops the whole batch, or answers only the
// calls that worked, and the next request is turned down. A right loop gives every
// call its own result, keeps what succeeded and repeats only what failed.
var partialBatch = Fault{
	Name:    "tool.partial_batch",
	What:    "one of several calls of a turn fails",
	Breaks:  "the results of the others are lost, or one call stays without any",
	Right:   "one result per call; successes are kept, only failures repeated",
	Retried: true,
	Seen:    true,
	turn:    true,
	fits: func(p *Place, _ *Spec) string {
		if p.Siblings == 0 {
			return "the turn makes no other call"
		}
		return ""
	},
	tool: func(context.Context, *toolStrike) (tool.Result, error) {
		return tool.Result{Err: turnedAway()}, nil
	},
}

package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// notRetryable is a tool that says no, for good. In real life a daily limit is
// reached or an article is discontinued, and a loop that repeats everything asks
// again until it is locked out. A right loop asks once and tells the model.
var notRetryable = Fault{
	Name:   "tool.not_retryable",
	What:   "the tool refuses the call for a reason that does not pass",
	Breaks: "the same call is made again and again",
	Right:  "never repeated, neither by the loop nor under the same call id",
	Takes:  []Param{effectParam()},
	Seen:   true,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		return s.failing(ctx, &tool.Error{
			Code: "LIMIT_REACHED", Message: "the limit of this operation is reached for today", Class: failure.ToolFailed,
		})
	},
}

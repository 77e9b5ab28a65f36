package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// cancelled is a call that is cancelled while it runs. In real life the user
// presses stop, or one call of a batch takes the others with it, and the next
// request leaves those out. A right loop answers every call before it asks the
// model again.
var cancelled = Fault{
	Name:   "tool.cancelled",
	What:   "the call is cancelled in the middle",
	Breaks: "a call stays without a result, and the next request is turned down",
	Right:  "every call gets a result before the next model call",
	Takes:  []Param{effectParam()},
	Seen:   true,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		return s.failing(ctx, &tool.Error{
			Code: tool.CodeCancelled, Message: "the call was cancelled", Class: failure.ToolUnavailable,
			Detail: context.Canceled.Error(),
		})
	},
}

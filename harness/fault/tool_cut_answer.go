package fault

import (
	"context"
	"fmt"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// cutAnswer is an answer that breaks off midway: the work is done, and half a
// result is no result. In real life a connection is closed too early. A right loop
// shows the model nothing of the half, and knows that the effect may have
// happened.
var cutAnswer = Fault{
	Name:     "tool.cut_answer",
	What:     "the tool does its work, and its answer breaks off midway",
	Breaks:   "half a result is taken for the whole, or the work is done twice",
	Right:    "nothing of the half is shown; attempt unknown; retry only with the same key",
	Retried:  true,
	Seen:     true,
	answered: true,
	tool: func(_ context.Context, s *toolStrike) (tool.Result, error) {
		n := len(s.result.Content)
		return tool.Result{Err: &tool.Error{
			Code: tool.CodeUpstream, Message: "the tool's answer broke off", Retryable: true,
			Class: failure.ToolUnavailable, Detail: fmt.Sprintf("unexpected end after %d of %d bytes", n/2, n),
		}}, nil
	},
}

package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// unavailable is a tool whose service is down: 503, or nobody listens. In real
// life it lasts for seconds or for an hour. A right loop tries again a bounded
// number of times, and then tells the model in clean words.
var unavailable = Fault{
	Name:    "tool.unavailable",
	What:    "the tool's service is down",
	Breaks:  "the run hangs in retries, or the model is shown a stack trace",
	Right:   "class tool_unavailable; a bounded number of retries",
	Retried: true,
	Seen:    true,
	tool: func(_ context.Context, _ *toolStrike) (tool.Result, error) {
		return tool.Result{Err: &tool.Error{
			Code: tool.CodeUnavailable, Message: "the tool is not available", Retryable: true,
			Class: failure.ToolUnavailable, Detail: "503 Service Unavailable",
		}}, nil
	},
}

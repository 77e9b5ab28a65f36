package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// unavailable is a tool whose service is down. In real life it lasts for seconds
// or for an hour. Before the effect the service turns the request away (503),
// which is certain; after it, something in between answers for a service that
// broke down over its work (502), which is not. A right loop tries again a bounded
// number of times, in doubt only with a key, and then tells the model in clean
// words.
var unavailable = Fault{
	Name:    "tool.unavailable",
	What:    "the tool's service is down",
	Breaks:  "the run hangs in retries, or the model is shown a stack trace",
	Right:   "class tool_unavailable; a bounded number of retries",
	Takes:   []Param{effectParam()},
	Retried: true,
	Seen:    true,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		e := turnedAway()
		if s.params().Effect == After {
			e.Code, e.Message, e.Detail = tool.CodeUpstream, "the tool broke down", "502 Bad Gateway"
		}
		return s.failing(ctx, e)
	},
}

// turnedAway is the error of a service that takes no request.
func turnedAway() *tool.Error {
	return &tool.Error{
		Code: tool.CodeUnavailable, Message: "the tool is not available", Retryable: true,
		Class: failure.ToolUnavailable, Detail: "503 Service Unavailable",
	}
}

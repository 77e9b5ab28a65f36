package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// timeoutBefore is a tool that never got the request, and so never answers. In
// real life a packet is lost or a queue is full, and to the caller it looks just
// like an answer that was lost: nobody knows whether the work was done. A right
// loop tries again with the same key, or says that it does not know.
var timeoutBefore = Fault{
	Name:    "tool.timeout_before",
	What:    "the request does not reach the tool, and no answer comes",
	Breaks:  "the call is given up as done, or as failed, and nobody knows which",
	Right:   "attempt unknown; retry with the same key; one effect in the end",
	Takes:   []Param{{"delay", "a minute, or until the tool's timeout"}},
	Retried: true,
	Seen:    true,
	Waits:   silent,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		return s.silence(ctx)
	},
}

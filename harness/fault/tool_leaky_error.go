package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// leakyError is a tool that breaks with an error which tells all about its inside.
// In real life that is the text of nearly every exception. A right loop shows the
// model a code, a clean message and whether a retry may help; the text is for the
// log.
var leakyError = Fault{
	Name:    "tool.leaky_error",
	What:    "the tool breaks with a stack trace, a query, a path, an inner address and a token",
	Breaks:  "the model, and whoever reads along, is shown how the inside looks",
	Right:   "code, message and retryable are shown, nothing else; the detail is in the log",
	Takes:   []Param{effectParam()},
	Retried: true,
	Seen:    true,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		return s.failing(ctx, &tool.Error{
			Code: tool.CodeUpstream, Message: "the tool failed", Retryable: true,
			Class: failure.ToolUnavailable, Detail: leak(),
		})
	},
}

// leak is an error text as programs give it, with one of each that no model must
// see. The token is none.
func leak() string {
	return "panic: query failed: SELECT id, card FROM customers WHERE id = 7\n\n" +
		"goroutine 41 [running]:\nmain.(*store).find(0xc000012345)\n\t/srv/app/internal/store/find.go:87 +0x1d\n" +
		"GET http://10.0.3.17:8080/internal/customers/7: 500 Internal Server Error\n" +
		"authorization: Bearer sk-" + "made-up-for-a-test-0123456789"
}

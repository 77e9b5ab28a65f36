package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// panicking is a tool that panics. In real life a nil pointer takes the whole agent
// with it, and the conversation stays open. A right loop answers the call with an
// error and goes on.
var panicking = Fault{
	Name:   "tool.panic",
	What:   "the tool panics",
	Breaks: "the agent dies with its tool, and a call stays without a result",
	Right:  "one error result; the loop survives",
	Takes:  []Param{effectParam()},
	Seen:   true,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		if err := s.reach(ctx); err != nil {
			return tool.Result{}, err
		}
		panic("runtime error: invalid memory address or nil pointer dereference (injected)")
	},
}

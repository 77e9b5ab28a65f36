package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// approvalTwice is a person who answers twice. In real life somebody clicks
// twice, or a second tab has the same question open, and the call is made for each
// answer. A right host makes it once; a right tool knows by the key that it has
// seen it.
var approvalTwice = Fault{
	Name:     "host.approval_twice",
	What:     "a call is approved twice, and is made for each answer",
	Breaks:   "what the person agreed to happens twice",
	Right:    "one effect, by the idempotency key",
	declared: needsApproval,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		res, err := s.work(ctx)
		if err != nil {
			return res, err
		}
		_, err = s.deliver(ctx) // its answer goes to a window that nobody looks at
		return res, err
	},
}

func needsApproval(d *tool.Decl) string {
	if !d.Approval {
		return "the tool asks nobody for approval"
	}
	return ""
}

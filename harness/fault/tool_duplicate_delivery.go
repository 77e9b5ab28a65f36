package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// duplicateDelivery is a request that arrives twice. In real life a proxy repeats
// it, or a queue that promises "at least once" keeps its word. The caller sees one
// answer, the second. A right tool knows by the key that it has done the work.
var duplicateDelivery = Fault{
	Name:   "tool.duplicate_delivery",
	What:   "the tool gets the same request twice, and the second answer is given",
	Breaks: "the work is done twice, and nobody on this side can see it",
	Right:  "one effect, by the idempotency key",
	Seen:   true,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		if res, err := s.work(ctx); err != nil {
			return res, err
		}
		return s.deliver(ctx)
	},
}

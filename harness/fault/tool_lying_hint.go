package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// lyingHint is a tool that says that it only reads, and writes. In real life a
// "get or create" does, and whoever believes the hint approves and repeats it
// freely. No loop can see it: the ledger of effects has to.
var lyingHint = Fault{
	Name:    "tool.lying_hint",
	What:    "a tool that is declared to read has an effect",
	Breaks:  "it is approved without a question and repeated at will",
	Right:   "the ledger finds the effect, and the contract names the tool",
	FoundBy: "W6",
	declared: func(d *tool.Decl) string {
		if d.Effect != tool.EffectRead {
			return "the tool does not say that it only reads"
		}
		return ""
	},
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		if deliver := s.injector.opts.Deliver; deliver != nil {
			deliver(ctx, &s.spec.Decl, s.call)
		}
		return s.work(ctx)
	},
}

package fault

import (
	"context"
	"time"

	"github.com/retake-harness/retake/harness/tool"
)

// slow is a tool that does its work and takes long to say so. In real life a
// database is locked or a region is far away, and a loop without deadlines of its
// own waits with it. A right loop holds the deadline of each attempt and that of
// the run, and knows that the effect may have happened.
var slow = Fault{
	Name:    "tool.slow",
	What:    "the tool does its work, and its answer comes late",
	Breaks:  "the run waits for ever, or the work is done again while it goes on",
	Right:   "deadlines of the attempt and of the run hold; past them attempt unknown",
	Takes:   []Param{{"delay", "twice the tool's timeout, 30 s without one"}},
	Retried: true,
	Seen:    true,
	Waits:   lateness,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		res, err := s.work(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if err := s.injector.wait(ctx, lateness(s.params(), s.spec.Decl.Timeout)); err != nil {
			return tool.Result{}, err
		}
		return res, nil
	},
}

const slowWithoutTimeout = 30 * time.Second

// lateness is by how much the answer comes late.
func lateness(p Params, timeout time.Duration) time.Duration {
	return orDefault(p.Delay, orDefault(2*timeout, slowWithoutTimeout))
}

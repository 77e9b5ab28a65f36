package fault

import (
	"context"

	"github.com/retake-harness/retake/harness/tool"
)

// lostAck is an effect that happened and an answer that did not arrive. In real
// life the caller takes it for a failure, tries again under a new id, and the
// customer pays twice. A right loop tries again with the same key, or not at all,
// and does not claim that it failed.
var lostAck = Fault{
	Name:    "tool.lost_ack",
	What:    "the tool does its work, and the answer is lost",
	Breaks:  "the retry does it a second time",
	Right:   "attempt unknown; retry only with the same key; one effect in the end",
	Takes:   []Param{{"delay", "a minute, or until the tool's timeout"}},
	Retried: true,
	Seen:    true,
	Waits:   silent,
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		if _, err := s.work(ctx); err != nil {
			return tool.Result{}, err
		}
		return s.silence(ctx)
	},
}

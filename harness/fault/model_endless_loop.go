package fault

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// endlessLoop is a model that makes the same call for ever. In real life a result
// does not tell it what it wants to know, and it asks again until the budget is
// gone. A right loop has a cap on its turns and notices that a call repeats itself,
// each with an outcome of its own.
var endlessLoop = Fault{
	Name:    "model.endless_loop",
	What:    "the model makes the same call again and again, each time under another id",
	Breaks:  "the loop goes on until the budget is gone",
	Right:   "a cap on the turns and a detector of repeated calls; an outcome of its own",
	Lasting: true,
	Seen:    true,
	fits:    rewritable,
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			s.stop(r, wire.StopToolCalls, "")
			if s.repeats {
				s.restate(r, "loop", s.at.Call)
			}
		})
	},
}

package fault

import (
	"cmp"
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// emptyTurn is a finished turn without content. In real life it follows a tool
// result, and a program takes it for success. A right loop ends with an outcome of
// its own.
var emptyTurn = Fault{
	Name:   "model.empty_turn",
	What:   "the model ends its turn without a word",
	Breaks: "nothing is taken for a finished task",
	Right:  "outcome empty_response, never a silent success",
	Seen:   true,
	fits:   func(p *Place, s *Spec) string { return cmp.Or(readable(p, s), p.forced()) },
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			r.Message.Blocks = nil
			s.stop(r, wire.StopDone, "")
		})
	},
}

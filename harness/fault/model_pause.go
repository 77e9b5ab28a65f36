package fault

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// pause is a model that pauses its turn and does so for ever. In real life a long
// turn of server tools is paused, and a loop that goes on without a cap never
// ends. A right loop sends the turn back unchanged, and counts.
var pause = Fault{
	Name:    "model.pause",
	What:    "the model pauses its turn (pause_turn), for ever",
	Breaks:  "a loop without a cap goes on until the budget is gone",
	Right:   "send the turn back as it is, a bounded number of times",
	Lasting: true,
	Seen:    true,
	fits: func(p *Place, s *Spec) string {
		if p.API != wire.AnthropicMessages {
			return "the API does not pause turns"
		}
		return readable(p, s)
	},
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			r.Message.Blocks = []wire.Block{{Kind: wire.KindText, Text: "One moment."}}
			s.stop(r, wire.StopPaused, "pause_turn")
		})
	},
}

package fault

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// contextExceeded is a turn that ends because the context window is full. In real
// life it comes late in a long task, and a call that happens to be whole by then
// looks like one to run. A right loop takes the turn for cut: nothing runs.
var contextExceeded = Fault{
	Name:   "model.context_exceeded",
	What:   "the turn ends because the context window is full; Anthropic says so, the others as for any limit",
	Breaks: "a cut turn is taken for a finished one, or its calls run",
	Right:  "class truncated; nothing runs",
	Seen:   true,
	fits:   readable,
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			raw := ""
			if s.held.place.API == wire.AnthropicMessages {
				raw = "model_context_window_exceeded"
			}
			s.stop(r, wire.StopTruncated, raw)
		})
	},
}

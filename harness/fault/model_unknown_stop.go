package fault

import (
	"cmp"
	"fmt"
	"io"
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// unknownStop is a stop reason that nobody has heard of. In real life providers
// add new ones, and a program whose last branch means "done" or "run the tools"
// takes a refusal for that. A right loop does neither.
var unknownStop = Fault{
	Name:   "model.unknown_stop",
	What:   "the turn ends with a stop reason that is not known",
	Breaks: "it is taken for success, or its calls run",
	Right:  "class unknown_stop_reason; nothing runs",
	Takes:  []Param{{"text", defaultStop}},
	Seen:   true,
	fits:   readable,
	model: func(s *strike) (*http.Response, error) {
		word := cmp.Or(s.params().Text, defaultStop)
		resp, err := s.rewrite(func(r *wire.Response) { s.stop(r, wire.StopUnknown, word) })
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		if r, err := s.understood(text); err != nil || r.Stop != wire.StopUnknown {
			return s.unfit(fmt.Sprintf("%q is a stop reason of the API; give a word that is none", word))
		}
		return newResponse(s.req, resp.StatusCode, resp.Header, text), nil
	},
}

const defaultStop = "suspended"

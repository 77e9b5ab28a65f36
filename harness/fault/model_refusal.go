package fault

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// refusal is a model that declines. In real life a filter strikes in the middle of
// a turn, when a call has been made already; a program that looks for calls first
// runs it. A right loop stops, and nothing runs.
var refusal = Fault{
	Name:   "model.refusal",
	What:   "the model refuses, with its calls still in the turn or without them",
	Breaks: "the call runs although the turn was refused",
	Right:  "stop as refused; nothing runs",
	Takes:  []Param{{"kind", kindWithCall + " where the answer has calls, else " + kindBare}},
	Kinds:  []string{kindWithCall, kindBare},
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		if s.Params.Kind == kindWithCall {
			return rewritable(p, s)
		}
		return readable(p, s)
	},
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			if s.params().Kind == kindBare || len(r.Calls()) == 0 {
				s.refuseBare(r)
			}
			s.stop(r, wire.StopRefused, "")
			if s.held.place.API == wire.AnthropicMessages {
				r.Extra = withMember(r.Extra, "stop_details", refusalDetails)
			}
		})
	},
}

// The refusals.
const (
	kindWithCall = "with_call"
	kindBare     = "bare"
)

const refusalDetails = `{"type":"refusal","category":null,"explanation":"The request was declined."}`

// refuseBare leaves of the turn what the API says when it declines.
func (s *strike) refuseBare(r *wire.Response) {
	const words = "I can't help with that."
	switch s.held.place.API {
	case wire.OpenAIChat, wire.OpenAIResponses:
		r.Message.Blocks = []wire.Block{{Kind: wire.KindRefusal, Text: words}}
	case wire.AnthropicMessages:
		r.Message.Blocks = []wire.Block{{Kind: wire.KindText, Text: words}}
	default:
		r.Message.Blocks = nil
	}
}

// withMember is the object with a member set; nil is an empty one.
func withMember(object jsontext.Value, name, value string) jsontext.Value {
	if object == nil {
		object = jsontext.Value("{}")
	}
	return rawjson.Set(object, name, []byte(value))
}

package standin

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
)

// items gives an answer of OpenAI's Responses its time, and its blocks the ids of
// items, without which some clients do not read it.
func items(r *wire.Response) {
	if r.Extra == nil {
		r.Extra = jsontext.Value(`{"created_at":1796083200}`)
	}
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		switch b.Kind {
		case wire.KindText:
			b.Extra = fmt.Appendf(nil, `{"#item":{"id":"item_%s_%d","status":"completed"},"annotations":[]}`, r.ID, i+1)
		case wire.KindToolCall, wire.KindReasoning:
			if b.Raw == nil {
				b.Extra = jsontext.Value(fmt.Sprintf(`{"id":"item_%s_%d","status":"completed"}`, r.ID, i+1))
			}
		default: // a script says no other
		}
	}
}

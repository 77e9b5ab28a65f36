package fault

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// stop gives the answer a stop reason in neutral words, and in the provider's
// where raw says them.
func (s *strike) stop(r *wire.Response, stop wire.Stop, raw string) {
	r.Stop, r.RawStop = stop, nil
	if raw != "" {
		r.RawStop = []string{raw}
	}
}

// changed is a call with other arguments.
func changed(b wire.Block, args jsontext.Value) wire.Block {
	b.Args, b.ArgsText, b.Raw = args, "", nil
	return b
}

// longestID keeps made-up ids within the 64 bytes that the strictest API allows.
const longestID = 48

// freshID is an id made of another; "" stays "", for APIs without ids.
func freshID(id, mark string, n int) string {
	if id == "" {
		return ""
	}
	return id[:min(len(id), longestID)] + "_" + mark + strconv.Itoa(n)
}

// again is a copy of a call under an id of its own. What belongs to the one call
// alone is changed with it: the id of its item, the signature of its part.
func (s *strike) again(b wire.Block, mark string, n int) wire.Block {
	return copyOf(s.held.place.API, b, mark, n)
}

func copyOf(api wire.API, b wire.Block, mark string, n int) wire.Block {
	b.ID, b.Raw = freshID(b.ID, mark, n), nil
	switch api {
	case wire.GeminiGenerate:
		b.Extra = rawjson.Without(b.Extra, "thoughtSignature")
	case wire.OpenAIResponses:
		b.Extra = freshItem(b.Extra, mark, n)
	default:
	}
	return b
}

// freshItem gives the members of an item of the Responses API another id.
func freshItem(extra jsontext.Value, mark string, n int) jsontext.Value {
	id, ok := rawjson.Text(rawjson.Get(extra, "id"))
	if !ok {
		return extra
	}
	return rawjson.Set(extra, "id", rawjson.Quote(nil, freshID(id, mark, n)))
}

// restated are the blocks of a turn that the model makes once more: calls under
// other ids, and none of what may be there only once, the items of the Responses
// API that the provider keeps by their id.
func restated(api wire.API, blocks []wire.Block, mark string, n int) []wire.Block {
	var out []wire.Block
	for _, b := range blocks {
		switch {
		case b.Kind == wire.KindToolCall && b.Args != nil:
			signature := rawjson.Get(b.Extra, "thoughtSignature")
			c := copyOf(api, b, mark, n)
			if signature != nil && api == wire.GeminiGenerate {
				c.Extra = b.Extra // the turn as a whole is made again, its signature too
			}
			out = append(out, c)
		case b.Kind == wire.KindToolCall, api == wire.OpenAIResponses && b.Kind != wire.KindText:
		case api == wire.OpenAIResponses:
			b.Extra = nil
			out = append(out, b)
		default:
			out = append(out, b)
		}
	}
	return out
}

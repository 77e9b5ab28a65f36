package openairesponses

import (
	"slices"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Resend is the model's turn as a later request may hold it that goes on from r.
//
// With store: false the server keeps nothing. A reasoning item without its
// encrypted content is then a reference to what is not there, and is refused as
// not found; an item that names itself by its id is refused where the reasoning
// before it is missing. Both are left out.
func Resend(r *wire.Request, turn wire.Message) wire.Message {
	if stores(r) || !slices.ContainsFunc(turn.Blocks, isReference) {
		return turn
	}
	turn.Blocks = slices.DeleteFunc(slices.Clone(turn.Blocks), isReference)
	for i := range turn.Blocks {
		anonymous(&turn.Blocks[i])
	}
	return turn
}

func stores(r *wire.Request) bool {
	return !slices.ContainsFunc(r.Params, func(p wire.Field) bool { return p.Name == "store" && string(p.Value) == "false" })
}

func isReference(b wire.Block) bool {
	if b.Kind != wire.KindReasoning {
		return false
	}
	content, _ := rawjson.Text(rawjson.Get(b.Raw, "encrypted_content"))
	return content == ""
}

// anonymous takes the id off a block's item.
func anonymous(b *wire.Block) {
	b.Extra = rawjson.Without(b.Extra, "id")
	if item := rawjson.Get(b.Extra, ofItem); rawjson.Get(item, "id") != nil {
		rest := rawjson.Without(item, "id")
		if rest == nil {
			rest = []byte("{}")
		}
		b.Extra = rawjson.Set(b.Extra, ofItem, rest)
	}
}

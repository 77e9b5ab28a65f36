package gemini

import (
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Canonical implements wire.Codec. The defaults are those of the API reference;
// those of sampling depend on the model and are kept.
func (Codec) Canonical(r *wire.Request) {
	for i := range r.Params {
		p := &r.Params[i]
		if p.Name == "generationConfig" && string(rawjson.Get(p.Value, "candidateCount")) == "1" {
			p.Value = rawjson.Without(p.Value, "candidateCount")
		}
	}
	r.Params = slices.DeleteFunc(r.Params, func(p wire.Field) bool {
		switch strings.TrimSpace(string(p.Value)) {
		case "", "null", "{}", "[]":
			return true
		}
		return false
	})
	if redundantIDs(r.Messages) {
		eachPart(r.Messages, func(b *wire.Block) { b.ID = "" })
	}
	if c := &r.ToolChoice; c.Mode == wire.ChoiceAuto && c.Name == "" && c.Extra == nil {
		*c = wire.ToolChoice{}
	}
}

// redundantIDs tells whether the ids of calls say no more than the order does:
// the results answer the calls one by one. The API gives no ids to some models'
// calls, and clients then make up their own or send none.
func redundantIDs(messages []wire.Message) bool {
	var calls []string
	next, same := 0, true
	eachPart(messages, func(b *wire.Block) {
		if b.Kind == wire.KindToolCall {
			calls = append(calls, b.ID)
			return
		}
		same = same && next < len(calls) && calls[next] == b.ID
		next++
	})
	return same
}

// eachPart visits calls and results in their order.
func eachPart(messages []wire.Message, visit func(*wire.Block)) {
	for i := range messages {
		for j := range messages[i].Blocks {
			b := &messages[i].Blocks[j]
			if b.Kind == wire.KindToolCall || b.Kind == wire.KindToolResult {
				visit(b)
			}
		}
	}
}

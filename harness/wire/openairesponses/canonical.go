package openairesponses

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Canonical drops from r what OpenAI's API reference gives as the default.
// Sampling parameters stay: their defaults differ from model to model. So do
// stream_options and include, which change the answer, a tool's strict, whose
// default in this API is true, and the ids of items, which refer to what the
// server keeps.
//
//   - tool_choice: "none is the default when no tools are present. auto is the
//     default if tools are present" (as in Chat Completions).
//   - parallel_tool_calls, store: "Defaults to true".
//   - stream, background: "Defaults to false".
//   - truncation: "disabled (default)".
//   - null, which the reference allows for every optional member, says the same
//     as its absence; so do empty lists (annotations, logprobs).
//   - an item's status is "populated when items are returned via API": a
//     completed item means the same with and without it.
func (Codec) Canonical(r *wire.Request) {
	openai.CanonicalChoice(r)
	r.Params = slices.DeleteFunc(r.Params, func(p wire.Field) bool { return isDefault(p.Name, p.Value) })
	for i := range r.Tools {
		r.Tools[i].Extra = openai.Without(r.Tools[i].Extra, saysNothing)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		m.Extra = openai.Without(m.Extra, saysNothing)
		for j := range m.Blocks {
			canonicalBlock(m.Blocks, j)
		}
	}
}

func saysNothing(name string, v jsontext.Value) bool {
	return openai.SaysNothing(v) || name == "status" && string(v) == `"completed"`
}

func isDefault(name string, v jsontext.Value) bool {
	if openai.SaysNothing(v) {
		return true
	}
	switch name {
	case "stream", "background":
		return string(v) == "false"
	case "parallel_tool_calls", "store":
		return string(v) == "true"
	case "truncation":
		return string(v) == `"disabled"`
	}
	return false
}

// canonicalBlock cleans a block's Extra and the item's within it. An item's mark
// that says nothing is left only where it parts two messages.
func canonicalBlock(blocks []wire.Block, i int) {
	b := &blocks[i]
	if b.Extra == nil {
		return
	}
	mark := rawjson.Get(b.Extra, ofItem)
	b.Extra = openai.Without(b.Extra, func(name string, v jsontext.Value) bool { return name == ofItem || saysNothing(name, v) })
	if mark == nil {
		return
	}
	inner := openai.Without(mark, saysNothing)
	markItem(blocks[i:i+1], inner, i > 0 && inMessage(&blocks[i-1]))
}

package openaichat

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
)

// Canonical drops from r what OpenAI's API reference gives as the default, where
// it holds for the servers that copy the API too. Sampling parameters stay:
// their defaults differ from server to server. stream_options stays: it changes
// the answer.
//
//   - tool_choice: "none is the default when no tools are present. auto is the
//     default if tools are present."
//   - parallel_tool_calls: "Defaults to true".
//   - stream, logprobs: "Defaults to false"; n: "Defaults to 1".
//   - tools[].function.strict: "Defaults to false".
//   - null, which the reference allows for every optional member, says the same
//     as its absence; so do empty lists.
//   - messages[].content of an assistant is "required unless tool_calls or
//     function_call is specified": beside calls null, "" and absence are one.
func (Codec) Canonical(r *wire.Request) {
	openai.CanonicalChoice(r)
	r.Params = slices.DeleteFunc(r.Params, func(p wire.Field) bool { return isDefault(p.Name, p.Value) })
	for i := range r.Tools {
		r.Tools[i].Extra = openai.Without(r.Tools[i].Extra, func(name string, v jsontext.Value) bool {
			return openai.IsNull(v) || name == "strict" && string(v) == "false"
		})
	}
	for i := range r.Messages {
		canonicalMessage(&r.Messages[i])
	}
}

func isDefault(name string, v jsontext.Value) bool {
	if openai.SaysNothing(v) {
		return true
	}
	switch name {
	case "stream", "logprobs":
		return string(v) == "false"
	case "parallel_tool_calls":
		return string(v) == "true"
	case "n":
		return string(v) == "1"
	}
	return false
}

func canonicalMessage(m *wire.Message) {
	nothing := func(_ string, v jsontext.Value) bool { return openai.SaysNothing(v) }
	m.Extra = openai.Without(m.Extra, nothing)
	calls := false
	for i := range m.Blocks {
		calls = calls || m.Blocks[i].Kind == wire.KindToolCall
		m.Blocks[i].Extra = openai.Without(m.Blocks[i].Extra, nothing)
	}
	if calls {
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b wire.Block) bool {
			return b.Kind == wire.KindText && b.Text == "" && b.Extra == nil && b.Raw == nil
		})
	}
}

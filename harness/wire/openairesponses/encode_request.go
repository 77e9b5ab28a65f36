package openairesponses

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// EncodeRequest appends the request's body. A block in a message whose role
// cannot have it is an error.
func (Codec) EncodeRequest(dst []byte, r *wire.Request) ([]byte, error) {
	w := openai.Writer{B: dst}
	w.Begin('{')
	if r.Model != "" {
		w.Text("model", r.Model)
	}
	if len(r.System) > 0 {
		w.Text("instructions", instructions(r.System))
	}
	if len(r.Messages) > 0 {
		w.Name("input")
		w.Begin('[')
		for i := range r.Messages {
			if err := encodeMessage(&w, &r.Messages[i]); err != nil {
				return dst, failure.Errorf(failure.Of(err), "openai responses: writing a request: message %d: %w", i+1, err)
			}
		}
		w.Close(']')
	}
	if r.MaxTokens > 0 {
		w.Int("max_output_tokens", int64(r.MaxTokens))
	}
	if len(r.Tools) > 0 {
		encodeTools(&w, r.Tools)
	}
	encodeChoice(&w, &r.ToolChoice)
	if r.Stream {
		w.Bool("stream", true)
	}
	for _, p := range r.Params {
		w.Value(p.Name, p.Value)
	}
	w.Close('}')
	return w.B, nil
}

func instructions(blocks []wire.Block) string {
	if len(blocks) == 1 {
		return blocks[0].Text
	}
	texts := make([]string, len(blocks))
	for i := range blocks {
		texts[i] = blocks[i].Text
	}
	return strings.Join(texts, "\n\n")
}

func encodeMessage(w *openai.Writer, m *wire.Message) error {
	if m.Role == wire.RoleAssistant {
		for i := range m.Blocks {
			if m.Blocks[i].Kind == wire.KindToolResult {
				return failure.Errorf(failure.Protocol, "an assistant's message cannot hold a tool result; give it to a message of role %q", wire.RoleUser)
			}
		}
		encodeTurn(w, m.Blocks, false)
		return nil
	}
	items := 0
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; {
		case b.Kind == wire.KindToolCall:
			return failure.Errorf(failure.Protocol, "a message of role %q cannot hold a tool call", m.Role)
		case b.Kind == wire.KindToolResult:
			encodeResult(w, b)
			items++
		case isItem(b):
			w.Element(b.Raw)
			items++
		}
	}
	parts := m.Blocks
	if items > 0 {
		parts = slices.DeleteFunc(slices.Clone(parts), func(b wire.Block) bool { return b.Kind == wire.KindToolResult || isItem(&b) })
	}
	if items > 0 && len(parts) == 0 && m.Extra == nil {
		return nil
	}
	w.Open('{')
	if m.Extra != nil {
		w.Text("type", "message")
	}
	w.Text("role", string(m.Role))
	if len(parts) > 0 {
		w.Name("content")
		encodeContent(w, parts, m.Role, false)
	}
	w.Splice(m.Extra)
	w.Close('}')
	return nil
}

// isItem tells an opaque block that is a client's output from a part of a
// message.
func isItem(b *wire.Block) bool {
	return b.Kind == wire.KindOpaque && isOutput(rawjson.TextOf(rawjson.Get(b.Raw, "type")))
}

func encodeResult(w *openai.Writer, b *wire.Block) {
	if b.Raw != nil {
		w.Element(b.Raw)
		return
	}
	w.Open('{')
	if b.Extra == nil || rawjson.Get(b.Extra, "type") == nil {
		w.Text("type", "function_call_output")
	}
	w.Text("call_id", b.ID)
	if b.Name != "" {
		w.Text("name", b.Name)
	}
	if len(b.Result) > 0 {
		w.Name("output")
		encodeContent(w, b.Result, wire.RoleUser, false)
	}
	w.Splice(b.Extra)
	w.Close('}')
}

// encodeContent writes one plain text as a string, anything else, or when told
// so, as parts.
func encodeContent(w *openai.Writer, blocks []wire.Block, role wire.Role, asParts bool) {
	if b := &blocks[0]; !asParts && len(blocks) == 1 && b.Kind == wire.KindText && b.Raw == nil && b.Extra == nil {
		w.B = rawjson.Quote(w.B, b.Text)
		return
	}
	w.Begin('[')
	for i := range blocks {
		encodePart(w, &blocks[i], role)
	}
	w.Close(']')
}

func encodePart(w *openai.Writer, b *wire.Block, role wire.Role) {
	if b.Raw != nil {
		w.Element(b.Raw)
		return
	}
	kind, text := textType(role), "text"
	if b.Kind == wire.KindRefusal {
		kind, text = "refusal", "refusal"
	}
	w.Open('{')
	if b.Extra == nil || rawjson.Get(b.Extra, "type") == nil {
		w.Text("type", kind)
	}
	w.Text(text, b.Text)
	w.Splice(b.Extra, ofItem, isPart)
	w.Close('}')
}

// encodeTurn writes the items of an assistant's message; answer asks for the
// form in which the API returns them.
func encodeTurn(w *openai.Writer, blocks []wire.Block, answer bool) {
	for i := 0; i < len(blocks); {
		if !inMessage(&blocks[i]) {
			encodeItem(w, &blocks[i])
			i++
			continue
		}
		end := i + 1
		for end < len(blocks) && inMessage(&blocks[end]) && rawjson.Get(blocks[end].Extra, ofItem) == nil {
			end++
		}
		encodeMessageItem(w, blocks[i:end], answer)
		i = end
	}
}

func encodeMessageItem(w *openai.Writer, parts []wire.Block, answer bool) {
	var extra jsontext.Value
	if parts[0].Extra != nil {
		extra = rawjson.Get(parts[0].Extra, ofItem)
	}
	returned := answer || rawjson.Size(extra) > 0
	w.Open('{')
	if returned {
		w.Text("type", "message")
	}
	w.Text("role", string(wire.RoleAssistant))
	w.Name("content")
	if b := parts[0]; !returned && len(parts) == 1 && rawjson.Size(b.Extra) == 1 && extra != nil {
		b.Extra = nil // nothing but the mark
		encodeContent(w, []wire.Block{b}, wire.RoleAssistant, false)
	} else {
		encodeContent(w, parts, wire.RoleAssistant, returned)
	}
	w.Splice(extra)
	w.Close('}')
}

// encodeItem writes a block that is an item by itself.
func encodeItem(w *openai.Writer, b *wire.Block) {
	switch {
	case b.Raw != nil:
		w.Element(b.Raw)
	case b.Kind == wire.KindReasoning:
		w.Open('{')
		w.Text("type", "reasoning")
		w.Name("summary")
		w.Begin('[')
		w.Open('{')
		w.Text("type", "summary_text")
		w.Text("text", b.Text)
		w.Close('}')
		w.Close(']')
		w.Splice(b.Extra)
		w.Close('}')
	case b.Kind == wire.KindToolCall:
		w.Open('{')
		w.Text("type", "function_call")
		w.Text("call_id", b.ID)
		w.Text("name", b.Name)
		w.Name("arguments")
		if b.Args != nil {
			w.B = rawjson.Quote(w.B, b.Args)
		} else {
			w.B = rawjson.Quote(w.B, b.ArgsText)
		}
		w.Splice(b.Extra)
		w.Close('}')
	}
}

func encodeTools(w *openai.Writer, tools []wire.Tool) {
	w.Name("tools")
	w.Open('[')
	for i := range tools {
		t := &tools[i]
		if t.Raw != nil {
			w.Element(t.Raw)
			continue
		}
		w.Open('{')
		w.Text("type", "function")
		w.Function(t)
		w.Splice(t.Extra)
		w.Close('}')
	}
	w.Close(']')
}

func encodeChoice(w *openai.Writer, c *wire.ToolChoice) {
	switch {
	case c.Extra != nil:
		w.Value("tool_choice", c.Extra)
	case c.Mode == wire.ChoiceAny:
		w.Text("tool_choice", "required")
	case c.Mode == wire.ChoiceTool:
		w.Name("tool_choice")
		w.Begin('{')
		w.Text("type", "function")
		w.Text("name", c.Name)
		w.Close('}')
	case c.Mode != wire.ChoiceUnset:
		w.Text("tool_choice", string(c.Mode))
	}
	if c.NoParallel {
		w.Bool("parallel_tool_calls", false)
	}
}

package openaichat

import (
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
	w.Name("messages")
	w.Begin('[')
	for i := range r.System {
		encodePlain(&w, &wire.Message{Role: wire.RoleSystem, Blocks: r.System[i : i+1]})
	}
	for i := range r.Messages {
		if err := encodeMessage(&w, &r.Messages[i]); err != nil {
			return dst, failure.Errorf(failure.Of(err), "openai chat: writing a request: messages[%d]: %w", i, err)
		}
	}
	w.Close(']')
	if r.MaxTokens > 0 {
		w.Int("max_tokens", int64(r.MaxTokens))
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

func encodeMessage(w *openai.Writer, m *wire.Message) error {
	if m.Role == wire.RoleAssistant {
		for i := range m.Blocks {
			if m.Blocks[i].Kind == wire.KindToolResult {
				return failure.Errorf(failure.Protocol, "an assistant's message cannot hold a tool result; give it to a message of role %q", wire.RoleUser)
			}
		}
		w.Open('{')
		w.Text("role", string(m.Role))
		encodeTurn(w, m.Blocks)
		w.Splice(m.Extra)
		w.Close('}')
		return nil
	}
	results := 0
	for i := range m.Blocks {
		switch m.Blocks[i].Kind {
		case wire.KindToolResult:
			encodeResult(w, &m.Blocks[i])
			results++
		case wire.KindToolCall:
			return failure.Errorf(failure.Protocol, "a message of role %q cannot hold a tool call", m.Role)
		default: // content: see encodePlain
		}
	}
	if results == 0 || results < len(m.Blocks) || m.Extra != nil {
		encodePlain(w, m)
	}
	return nil
}

// encodePlain writes a message of any other role, without its results.
func encodePlain(w *openai.Writer, m *wire.Message) {
	w.Open('{')
	if m.Role != "" {
		w.Text("role", string(m.Role))
	}
	encodeContent(w, m.Blocks)
	w.Splice(m.Extra)
	w.Close('}')
}

func encodeResult(w *openai.Writer, b *wire.Block) {
	if b.Raw != nil {
		w.Element(b.Raw)
		return
	}
	w.Open('{')
	if b.Extra == nil || rawjson.Get(b.Extra, "role") == nil {
		w.Text("role", "tool")
	}
	if b.ID != "" {
		w.Text("tool_call_id", b.ID)
	}
	if b.Name != "" {
		w.Text("name", b.Name)
	}
	encodeContent(w, b.Result)
	w.Splice(b.Extra)
	w.Close('}')
}

// inContent tells whether a block is a part of "content".
func inContent(b *wire.Block) bool {
	switch b.Kind {
	case wire.KindText, wire.KindOpaque:
		return true
	case wire.KindRefusal:
		return b.Raw != nil
	case wire.KindReasoning:
		return isPart(b)
	default:
		return false
	}
}

// isPart tells a reasoning part of the content from members of the message.
func isPart(b *wire.Block) bool { return rawjson.Get(b.Raw, "type") != nil }

// encodeContent writes the member "content": one plain text as a string, else
// parts; nothing when no block is content.
func encodeContent(w *openai.Writer, blocks []wire.Block) {
	n, last := 0, -1
	for i := range blocks {
		if inContent(&blocks[i]) {
			n, last = n+1, i
		}
	}
	if n == 0 {
		return
	}
	w.Name("content")
	if b := &blocks[last]; n == 1 && b.Kind == wire.KindText && b.Raw == nil && b.Extra == nil {
		w.B = rawjson.Quote(w.B, b.Text)
		return
	}
	w.Begin('[')
	for i := range blocks {
		if inContent(&blocks[i]) {
			encodePart(w, &blocks[i])
		}
	}
	w.Close(']')
}

func encodePart(w *openai.Writer, b *wire.Block) {
	if b.Raw != nil {
		w.Element(b.Raw)
		return
	}
	w.Open('{')
	w.Text("type", "text")
	w.Text("text", b.Text)
	w.Splice(b.Extra)
	w.Close('}')
}

// encodeTurn writes the members of an assistant's message.
func encodeTurn(w *openai.Writer, blocks []wire.Block) {
	encodeContent(w, blocks)
	calls := 0
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.Kind == wire.KindReasoning && b.Raw == nil:
			w.Text("reasoning_content", b.Text)
		case b.Kind == wire.KindReasoning && !isPart(b):
			w.Splice(b.Raw)
		case b.Kind == wire.KindRefusal && b.Raw == nil:
			w.Text("refusal", b.Text)
		case b.Kind == wire.KindToolCall && isLegacy(b):
			w.Splice(b.Raw)
		case b.Kind == wire.KindToolCall:
			calls++
		}
	}
	if calls == 0 {
		return
	}
	w.Name("tool_calls")
	w.Begin('[')
	for i := range blocks {
		if b := &blocks[i]; b.Kind == wire.KindToolCall && !isLegacy(b) {
			encodeCall(w, b, -1)
		}
	}
	w.Close(']')
}

// encodeCall writes one call; a stream's chunk carries its index as well.
func encodeCall(w *openai.Writer, b *wire.Block, index int) {
	if b.Raw != nil && index < 0 {
		w.Element(b.Raw)
		return
	}
	w.Open('{')
	if index >= 0 {
		w.Int("index", int64(index))
	}
	if b.Raw != nil {
		w.Splice(b.Raw, "index")
		w.Close('}')
		return
	}
	if b.ID != "" {
		w.Text("id", b.ID)
	}
	w.Text("type", "function")
	w.Name("function")
	w.Begin('{')
	w.Text("name", b.Name)
	w.Name("arguments")
	if b.Args != nil {
		w.B = rawjson.Quote(w.B, b.Args)
	} else {
		w.B = rawjson.Quote(w.B, b.ArgsText)
	}
	w.Close('}')
	w.Splice(b.Extra)
	w.Close('}')
}

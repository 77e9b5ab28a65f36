package anthropic

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// writer appends events; data is the scratch for one event's data.
type writer struct {
	dst, data []byte
}

// event writes the data begun with begin.
func (w *writer) event(name string) {
	w.dst = sse.Append(w.dst, name, w.data)
}

// begin starts the data of an event and returns it to be added to.
func (w *writer) begin(name string) []byte {
	return append(append(append(w.data[:0], `{"type":"`...), name...), '"')
}

func appendStream(dst []byte, r *wire.Response) []byte {
	w := writer{dst: dst}
	if r.Err == nil || r.ID != "" || len(r.Message.Blocks) > 0 {
		w.messageStart(r)
		for i := range r.Message.Blocks {
			w.block(i, &r.Message.Blocks[i])
		}
	}
	if r.Err != nil {
		w.data = appendError(w.data[:0], r.Err)
		w.event("error")
		return w.dst
	}
	w.messageEnd(r)
	return w.dst
}

func (w *writer) messageStart(r *wire.Response) {
	w.data = append(appendHead(append(w.begin("message_start"), `,"message":`...), r), `,"content":[],"stop_reason":null,"stop_sequence":null`...)
	if hasUsage(r) {
		w.data = appendUsage(append(w.data, `,"usage":`...), r)
	}
	w.data = append(w.data, "}}"...)
	w.event("message_start")
}

// messageEnd: a provider has no stop reason to tell when it breaks off.
func (w *writer) messageEnd(r *wire.Response) {
	broken := slices.ContainsFunc(r.Problems, func(p wire.Problem) bool { return p.Kind == wire.ProblemNoTerminal })
	if !broken || r.Stop != wire.StopNone {
		w.messageDelta(r)
	}
	if !broken {
		w.data = append(w.begin("message_stop"), '}')
		w.event("message_stop")
	}
}

func (w *writer) messageDelta(r *wire.Response) {
	w.data = appendStop(append(w.begin("message_delta"), `,"delta":{"stop_reason":`...), r)
	if rawjson.Get(r.Extra, "stop_sequence") == nil {
		w.data = append(w.data, `,"stop_sequence":null`...)
	}
	w.data = append(rawjson.Splice(w.data, r.Extra), '}')
	if out := figures(r).Output; out != nil {
		w.data = append(strconv.AppendInt(append(w.data, `,"usage":{"output_tokens":`...), *out, 10), '}')
	}
	w.data = append(w.data, '}')
	w.event("message_delta")
}

func (w *writer) block(index int, b *wire.Block) {
	start, deltas := split(b)
	w.data = strconv.AppendInt(append(w.begin("content_block_start"), `,"index":`...), int64(index), 10)
	w.data = append(append(append(w.data, `,"content_block":`...), start...), '}')
	w.event("content_block_start")
	for _, d := range deltas {
		w.data = strconv.AppendInt(append(w.begin("content_block_delta"), `,"index":`...), int64(index), 10)
		w.data = append(append(append(w.data, `,"delta":{"type":"`...), d.kind...), `","`...)
		w.data = rawjson.Quote(append(append(w.data, d.member...), `":`...), d.text)
		w.data = append(w.data, "}}"...)
		w.event("content_block_delta")
	}
	w.data = append(strconv.AppendInt(append(w.begin("content_block_stop"), `,"index":`...), int64(index), 10), '}')
	w.event("content_block_stop")
}

// delta is one text that is added to a block.
type delta struct{ kind, member, text string }

// split says how a block starts and what its deltas add. A block that deltas
// cannot give back byte for byte starts whole.
func split(b *wire.Block) (start jsontext.Value, deltas []delta) {
	begun := *b
	switch {
	case b.Kind == wire.KindToolCall && b.Raw == nil:
		begun.Args = jsontext.Value("{}")
		text := b.ArgsText
		if b.Args != nil {
			text = string(b.Args)
		}
		return appendBlock(nil, &begun), []delta{{"input_json_delta", "partial_json", text}}
	case b.Kind == wire.KindText && b.Raw == nil:
		begun.Text = ""
		return appendBlock(nil, &begun), []delta{{"text_delta", "text", b.Text}}
	case b.Kind == wire.KindReasoning && b.Raw != nil:
		return splitThinking(b.Raw)
	}
	return appendBlock(nil, b), nil
}

func splitThinking(raw jsontext.Value) (jsontext.Value, []delta) {
	text, isText := rawjson.Text(rawjson.Get(raw, "thinking"))
	signature, isSigned := rawjson.Text(rawjson.Get(raw, "signature"))
	if !isText || !isSigned {
		return raw, nil
	}
	start := rawjson.Set(rawjson.Set(raw, "thinking", []byte(`""`)), "signature", []byte(`""`))
	p := part{start: start, text: []byte(text), signature: []byte(signature), signed: true}
	if string(p.thinking()) != string(raw) {
		return raw, nil
	}
	return start, []delta{{"thinking_delta", "thinking", text}, {"signature_delta", "signature", signature}}
}

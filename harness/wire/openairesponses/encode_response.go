package openairesponses

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// EncodeResponse appends the answer as the provider would send it. A stream of
// an answer that is not Complete lacks its terminal event.
func (Codec) EncodeResponse(dst []byte, r *wire.Response, stream bool) ([]byte, error) {
	switch {
	case r.Err != nil && r.Err.Status >= 400, r.Err != nil && r.ID == "" && !stream:
		return openai.AppendError(dst, r.Err), nil
	case stream:
		return encodeStream(dst, r), nil
	}
	w := openai.Writer{B: dst}
	w.Begin('{')
	response(&w, r, status(r), output(r))
	w.Close('}')
	return w.B, nil
}

// status is the answer's raw stop reason, or the one that its neutral stop makes.
func status(r *wire.Response) string {
	switch {
	case r.Err != nil:
		return "failed"
	case len(r.RawStop) > 0:
		return r.RawStop[0]
	}
	switch r.Stop {
	case wire.StopTruncated:
		return "incomplete:max_output_tokens"
	case wire.StopRefused:
		if openai.Finished(r.Message.Blocks) == wire.StopRefused {
			return "completed"
		}
		return "incomplete:content_filter"
	case wire.StopDone, wire.StopToolCalls:
		return "completed"
	default:
		return string(r.Stop)
	}
}

func output(r *wire.Response) jsontext.Value {
	var w openai.Writer
	w.Begin('[')
	encodeTurn(&w, r.Message.Blocks, true)
	w.Close(']')
	return w.B
}

// response writes the members of a response object.
func response(w *openai.Writer, r *wire.Response, status string, output jsontext.Value) {
	state, reason, _ := strings.Cut(status, ":")
	w.Text("id", r.ID)
	w.Text("object", "response")
	if state != "" {
		w.Text("status", state)
	}
	w.Name("error")
	if r.Err != nil && state == "failed" {
		w.Begin('{')
		w.Text("code", r.Err.Type)
		w.Text("message", r.Err.Message)
		w.Close('}')
	} else {
		w.B = append(w.B, "null"...)
	}
	w.Name("incomplete_details")
	if reason != "" {
		w.Begin('{')
		w.Text("reason", reason)
		w.Close('}')
	} else {
		w.B = append(w.B, "null"...)
	}
	if r.Model != "" {
		w.Text("model", r.Model)
	}
	w.Value("output", output)
	if usage := usageOf(r); usage != nil {
		w.Value("usage", usage)
	}
	w.Splice(r.Extra)
}

// usageOf is the usage object as it came, else one made from the neutral
// figures; nil when there are none.
func usageOf(r *wire.Response) jsontext.Value {
	u := r.Usage
	switch {
	case r.RawUsage != nil:
		return r.RawUsage
	case u == (wire.Usage{}):
		return nil
	}
	input := openai.Value(u.Input) + openai.Value(u.CacheRead) + openai.Value(u.CacheWrite)
	var w openai.Writer
	w.Begin('{')
	w.Int("input_tokens", input)
	if u.CacheRead != nil || u.CacheWrite != nil {
		w.Name("input_tokens_details")
		w.Begin('{')
		if u.CacheRead != nil {
			w.Int("cached_tokens", *u.CacheRead)
		}
		if u.CacheWrite != nil {
			w.Int("cache_write_tokens", *u.CacheWrite)
		}
		w.Close('}')
	}
	w.Int("output_tokens", openai.Value(u.Output))
	if u.Reasoning != nil {
		w.Name("output_tokens_details")
		w.Begin('{')
		w.Int("reasoning_tokens", *u.Reasoning)
		w.Close('}')
	}
	w.Int("total_tokens", input+openai.Value(u.Output))
	w.Close('}')
	return w.B
}

// events writes the events of a stream; each has its name, its type and its
// number.
type events struct {
	data []byte
	out  []byte
	n    int64
}

func (e *events) add(kind string, members func(*openai.Writer)) {
	w := openai.Writer{B: e.data[:0]}
	w.Begin('{')
	w.Text("type", kind)
	w.Int("sequence_number", e.n)
	members(&w)
	w.Close('}')
	e.n++
	e.data = w.B
	e.out = sse.Append(e.out, kind, e.data)
}

func (e *events) response(kind string, r *wire.Response, status string, output jsontext.Value) {
	e.add(kind, func(w *openai.Writer) {
		w.Name("response")
		w.Begin('{')
		response(w, r, status, output)
		w.Close('}')
	})
}

func encodeStream(dst []byte, r *wire.Response) []byte {
	e := events{out: dst}
	if r.ID != "" {
		begun := wire.Response{ID: r.ID, Model: r.Model, Extra: r.Extra}
		e.response("response.created", &begun, "in_progress", jsontext.Value("[]"))
		e.response("response.in_progress", &begun, "in_progress", jsontext.Value("[]"))
	}
	items := output(r)
	index := int64(0)
	for a := rawjson.InArray(items); a.More(); index++ {
		e.item(a.Value(), index)
	}
	end := status(r)
	switch {
	case r.Err != nil && r.ID == "":
		e.add("error", func(w *openai.Writer) {
			w.Text("code", r.Err.Type)
			w.Text("message", r.Err.Message)
			w.Value("param", jsontext.Value("null"))
		})
	case r.Complete:
		e.response(terminal(end), r, end, items)
	}
	return e.out
}

// terminal is the event that ends a stream with this status.
func terminal(status string) string {
	switch state, _, _ := strings.Cut(status, ":"); state {
	case "incomplete", "failed":
		return "response." + state
	}
	return "response.completed"
}

// item writes the events of one output item.
func (e *events) item(item jsontext.Value, index int64) {
	place := func(w *openai.Writer) {
		w.Int("output_index", index)
		if id := rawjson.Get(item, "id"); id != nil {
			w.Value("item_id", id)
		}
	}
	kind := rawjson.TextOf(rawjson.Get(item, "type"))
	text, content := "", jsontext.Value(nil)
	switch kind {
	case "function_call":
		text = "arguments"
	case "custom_tool_call":
		text = "input"
	case "message":
		content = rawjson.Get(item, "content")
	}
	e.add("response.output_item.added", func(w *openai.Writer) {
		w.Int("output_index", index)
		w.Name("item")
		w.Begin('{')
		w.Splice(item, text, "content")
		switch {
		case text != "":
			w.Text(text, "")
		case kind == "message":
			w.Value("content", jsontext.Value("[]"))
		case rawjson.Get(item, "content") != nil:
			w.Value("content", rawjson.Get(item, "content"))
		}
		w.Close('}')
	})
	e.parts(content, place)
	switch kind {
	case "function_call":
		e.pair("response.function_call_arguments", "arguments", rawjson.Get(item, text), place)
	case "custom_tool_call":
		e.pair("response.custom_tool_call_input", "input", rawjson.Get(item, text), place)
	}
	e.add("response.output_item.done", func(w *openai.Writer) {
		w.Int("output_index", index)
		w.Value("item", item)
	})
}

// parts writes the events of a message's content.
func (e *events) parts(content jsontext.Value, place func(*openai.Writer)) {
	n := int64(0)
	for a := rawjson.InArray(content); a.More(); {
		part := a.Value()
		here := func(w *openai.Writer) {
			place(w)
			w.Int("content_index", n)
		}
		text, name := "text", "response.output_text"
		if string(rawjson.Get(part, "type")) == `"refusal"` {
			text, name = "refusal", "response.refusal"
		}
		value := rawjson.Get(part, text)
		e.add("response.content_part.added", func(w *openai.Writer) {
			here(w)
			w.Name("part")
			w.Begin('{')
			w.Splice(part, text)
			if value != nil {
				w.Text(text, "")
			}
			w.Close('}')
		})
		if value != nil {
			e.pair(name, text, value, here)
		}
		e.add("response.content_part.done", func(w *openai.Writer) {
			here(w)
			w.Value("part", part)
		})
	}
}

// pair writes a text as one delta and its end.
func (e *events) pair(kind, name string, text jsontext.Value, place func(*openai.Writer)) {
	e.add(kind+".delta", func(w *openai.Writer) {
		place(w)
		w.Value("delta", text)
	})
	e.add(kind+".done", func(w *openai.Writer) {
		place(w)
		w.Value(name, text)
	})
}

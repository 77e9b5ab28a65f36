package openairesponses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// stream accumulates the events of one answer. The response object of the
// terminal event has it all; the items are for streams that lack it.
type stream struct {
	answer
	known bool // an event of this API was seen
	ended bool // the terminal event was seen
	holed bool // an event before the end could not be read
	items []streamed
}

// streamed is one output item as it comes in.
type streamed struct {
	index int64
	id    string
	added jsontext.Value // as announced
	done  jsontext.Value // as completed
	text  []byte         // arguments, input or text so far
	whole bool           // text is all of it
}

func decodeStream(status int, body []byte) (*wire.Response, error) {
	s := stream{answer: answer{r: &wire.Response{Streamed: true}, status: status}}
	events := sse.NewScanner(body)
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		switch {
		case rawjson.Valid(e.Data) && openai.IsObject(e.Data):
			s.event(string(e.Name), e.Data)
		case string(e.Data) != "[DONE]": // some gateways send it here too
			s.bad(e.Data)
		}
	}
	if status >= 400 {
		if s.r.Err == nil {
			s.r.Err = wire.ReadError(status, body)
		}
		return &wire.Response{Err: s.r.Err, Complete: true}, nil
	}
	if !s.known {
		return nil, failure.Errorf(failure.Protocol, "openai responses: reading a stream: none of its events is one of this API")
	}
	s.end()
	return s.r, nil
}

func (s *stream) bad(data []byte) {
	const most = 80
	s.r.Problems = append(s.r.Problems, wire.Problem{Kind: wire.ProblemBadEvent, Block: -1, Detail: string(data[:min(len(data), most)])})
	s.holed = s.holed || !s.r.Complete
}

// event takes one event. Its type stands in the data; the event line repeats it.
func (s *stream) event(name string, data jsontext.Value) {
	kind := rawjson.TextOf(rawjson.Get(data, "type"))
	if kind == "" {
		kind = name
	}
	s.known = s.known || strings.HasPrefix(kind, "response.")
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		head := rawjson.Get(data, "response")
		s.r.ID, s.r.Model = rawjson.TextOf(rawjson.Get(head, "id")), rawjson.TextOf(rawjson.Get(head, "model"))
	case "response.completed", "response.incomplete", "response.failed":
		s.terminal(strings.TrimPrefix(kind, "response."), data)
	case "response.output_item.added":
		s.item(data).added = rawjson.Get(data, "item")
	case "response.output_item.done":
		s.item(data).done = rawjson.Get(data, "item")
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta",
		"response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		if it := s.item(data); !it.whole {
			it.text = append(it.text, rawjson.TextOf(rawjson.Get(data, "delta"))...)
		}
	case "response.function_call_arguments.done":
		s.whole(data, "arguments")
	case "response.custom_tool_call_input.done":
		s.whole(data, "input")
	default:
		if kind == "error" || openai.IsObject(rawjson.Get(data, "error")) {
			s.fail(data)
		}
	}
}

// whole takes the complete arguments, unless they are empty: the deltas count.
func (s *stream) whole(data jsontext.Value, name string) {
	if text := rawjson.TextOf(rawjson.Get(data, name)); text != "" {
		it := s.item(data)
		it.text, it.whole = []byte(text), true
	}
}

func (s *stream) terminal(state string, data jsontext.Value) {
	v := rawjson.Get(data, "response")
	if !openai.IsObject(v) || !s.read(v) {
		s.bad(data)
		return
	}
	s.ended, s.r.Complete = true, true
	if s.state == "" {
		s.state = state
	}
	if s.state == "failed" && s.r.Err == nil {
		s.r.Err = &wire.APIError{Status: s.status, Type: "failed"}
	}
}

// fail takes an error event: {"type":"error","code":…,"message":…}, or the error
// within "error". It is the stream's end.
func (s *stream) fail(data jsontext.Value) {
	err := openai.InBody(s.status, data)
	if err == nil {
		err = &wire.APIError{Status: s.status, Type: rawjson.TextOf(rawjson.Get(data, "code")), Message: rawjson.TextOf(rawjson.Get(data, "message"))}
	}
	if s.r.Err == nil {
		s.r.Err = err
	}
	s.known, s.r.Complete = true, true
}

// item finds the item that an event speaks of, by its place in the output, else
// by its id.
func (s *stream) item(data jsontext.Value) *streamed {
	id := rawjson.TextOf(rawjson.Get(data, "item_id"))
	if id == "" {
		id = rawjson.TextOf(rawjson.Get(rawjson.Get(data, "item"), "id"))
	}
	n := openai.Int(rawjson.Get(data, "output_index"))
	for i := range s.items {
		if it := &s.items[i]; n != nil && it.index == *n || n == nil && id != "" && it.id == id {
			return it
		}
	}
	it := streamed{index: int64(len(s.items)), id: id}
	if n != nil {
		it.index = *n
	}
	s.items = append(s.items, it)
	return &s.items[len(s.items)-1]
}

// end puts the answer together. Where the terminal event is missing, or its
// response has no output (some backends leave it out), the items count.
func (s *stream) end() {
	r := s.r
	if !s.ended || openai.IsEmpty(s.output) {
		s.output = s.assembled()
	}
	if !s.ended && r.Err == nil {
		s.state = ""
	}
	s.finish()
	if !r.Complete {
		r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemNoTerminal, Block: -1, Detail: "no response.completed, response.incomplete or response.failed"})
	}
	r.Complete = r.Complete && !s.holed
}

// assembled is the output made of the items that arrived, finished or not.
func (s *stream) assembled() jsontext.Value {
	slices.SortStableFunc(s.items, func(a, b streamed) int { return cmp.Compare(a.index, b.index) })
	var w openai.Writer
	w.Begin('[')
	for i := range s.items {
		it := &s.items[i]
		if openai.IsObject(it.done) {
			w.Element(it.done)
		} else if openai.IsObject(it.added) {
			it.partial(&w)
		}
	}
	w.Close(']')
	return w.B
}

// partial writes an item that was announced but not completed, with what came of
// it so far.
func (it *streamed) partial(w *openai.Writer) {
	text := string(it.text)
	w.Open('{')
	switch rawjson.TextOf(rawjson.Get(it.added, "type")) {
	case "function_call":
		w.Splice(it.added, "arguments")
		w.Text("arguments", text)
	case "custom_tool_call":
		w.Splice(it.added, "input")
		w.Text("input", text)
	case "message":
		w.Splice(it.added, "content")
		w.Name("content")
		w.Begin('[')
		w.Open('{')
		w.Text("type", "output_text")
		w.Text("text", text)
		w.Close('}')
		w.Close(']')
	case "reasoning":
		w.Splice(it.added, "summary")
		w.Name("summary")
		w.Begin('[')
		if text != "" {
			w.Open('{')
			w.Text("type", "summary_text")
			w.Text("text", text)
			w.Close('}')
		}
		w.Close(']')
	default:
		w.Splice(it.added)
	}
	w.Close('}')
}

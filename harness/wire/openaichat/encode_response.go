package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// EncodeResponse appends the answer as a server would send it. Of further
// choices only their finish reasons are left. A stream of an answer that is not
// Complete lacks its [DONE].
func (Codec) EncodeResponse(dst []byte, r *wire.Response, stream bool) ([]byte, error) {
	switch {
	case r.Err != nil && (!stream || r.Err.Status >= 400):
		return openai.AppendError(dst, r.Err), nil
	case stream:
		return encodeStream(dst, r), nil
	}
	w := openai.Writer{B: dst}
	head(&w, r, "chat.completion")
	w.Name("choices")
	w.Begin('[')
	w.Open('{')
	w.Int("index", 0)
	w.Name("message")
	w.Begin('{')
	w.Text("role", string(wire.RoleAssistant))
	if !hasContent(r.Message.Blocks) {
		w.Value("content", jsontext.Value("null"))
	}
	encodeTurn(&w, r.Message.Blocks)
	w.Splice(rawjson.Get(r.Extra, ofMessage))
	w.Close('}')
	stopMember(&w, r, 0)
	w.Splice(rawjson.Get(r.Extra, ofChoice))
	w.Close('}')
	for i := 1; i < choices(r); i++ {
		w.Open('{')
		w.Int("index", int64(i))
		w.Value("message", jsontext.Value(`{"role":"assistant","content":null}`))
		stopMember(&w, r, i)
		w.Close('}')
	}
	w.Close(']')
	if usage := usageOf(r); usage != nil {
		w.Value("usage", usage)
	}
	w.Close('}')
	return w.B, nil
}

func hasContent(blocks []wire.Block) bool {
	for i := range blocks {
		if inContent(&blocks[i]) {
			return true
		}
	}
	return false
}

// choices is how many choices the answer had.
func choices(r *wire.Response) int {
	n := max(1, len(r.RawStop))
	for _, p := range r.Problems {
		if p.Kind == wire.ProblemChoices {
			n = max(n, 2)
		}
	}
	return n
}

// head opens an answer or a chunk with what is said of the whole.
func head(w *openai.Writer, r *wire.Response, kind string) {
	w.Begin('{')
	if r.ID != "" {
		w.Text("id", r.ID)
	}
	w.Text("object", kind)
	if r.Model != "" {
		w.Text("model", r.Model)
	}
	w.Splice(r.Extra, ofChoice, ofMessage)
}

func stopMember(w *openai.Writer, r *wire.Response, choice int) {
	if s := rawStop(r, choice); s != "" {
		w.Text("finish_reason", s)
	} else {
		w.Value("finish_reason", jsontext.Value("null"))
	}
}

// rawStop is a choice's finish reason: the server's own word where there was one.
func rawStop(r *wire.Response, choice int) string {
	if choice < len(r.RawStop) {
		return r.RawStop[choice]
	}
	if choice > 0 {
		return ""
	}
	switch r.Stop {
	case wire.StopDone:
		return "stop"
	case wire.StopTruncated:
		return "length"
	case wire.StopRefused:
		return "content_filter"
	default:
		return string(r.Stop)
	}
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
	w.Int("prompt_tokens", input)
	w.Int("completion_tokens", openai.Value(u.Output))
	w.Int("total_tokens", input+openai.Value(u.Output))
	if u.CacheRead != nil || u.CacheWrite != nil {
		w.Name("prompt_tokens_details")
		w.Begin('{')
		if u.CacheRead != nil {
			w.Int("cached_tokens", *u.CacheRead)
		}
		if u.CacheWrite != nil {
			w.Int("cache_write_tokens", *u.CacheWrite)
		}
		w.Close('}')
	}
	if u.Reasoning != nil {
		w.Name("completion_tokens_details")
		w.Begin('{')
		w.Int("reasoning_tokens", *u.Reasoning)
		w.Close('}')
	}
	w.Close('}')
	return w.B
}

// chunks writes the chunks of a stream into one buffer, an event at a time.
type chunks struct {
	r    *wire.Response
	data []byte
	out  []byte
}

func encodeStream(dst []byte, r *wire.Response) []byte {
	if r.Err != nil && r.ID == "" && len(r.Message.Blocks) == 0 {
		return sse.Append(dst, "", openai.AppendError(nil, r.Err)) // it failed before the first chunk
	}
	c := chunks{r: r, out: dst}
	c.delta(func(w *openai.Writer) {
		w.Text("role", string(wire.RoleAssistant))
		w.Splice(rawjson.Get(r.Extra, ofMessage))
	})
	c.blocks()
	for i := range choices(r) {
		c.stop(i)
	}
	if usage := usageOf(r); usage != nil {
		c.event(func(w *openai.Writer) {
			w.Value("choices", jsontext.Value("[]"))
			w.Value("usage", usage)
		})
	}
	if r.Err != nil {
		return sse.Append(c.out, "", openai.AppendError(nil, r.Err))
	}
	if !r.Complete {
		return c.out
	}
	return sse.Append(c.out, "", []byte("[DONE]"))
}

// event writes one chunk; each repeats the head.
func (c *chunks) event(rest func(*openai.Writer)) {
	w := openai.Writer{B: c.data[:0]}
	head(&w, c.r, "chat.completion.chunk")
	rest(&w)
	w.Close('}')
	c.data = w.B
	c.out = sse.Append(c.out, "", c.data)
}

func (c *chunks) delta(members func(*openai.Writer)) {
	c.event(func(w *openai.Writer) {
		w.Name("choices")
		w.Begin('[')
		w.Open('{')
		w.Int("index", 0)
		w.Name("delta")
		w.Begin('{')
		members(w)
		w.Close('}')
		w.Value("finish_reason", jsontext.Value("null"))
		w.Close('}')
		w.Close(']')
	})
}

// blocks writes a chunk a block, a call in two: its name, then its arguments.
func (c *chunks) blocks() {
	calls := 0
	for i := range c.r.Message.Blocks {
		b := &c.r.Message.Blocks[i]
		if b.Kind != wire.KindToolCall || isLegacy(b) {
			c.delta(func(w *openai.Writer) { encodeTurn(w, c.r.Message.Blocks[i:i+1]) })
			continue
		}
		c.call(b, calls)
		calls++
	}
}

func (c *chunks) call(b *wire.Block, index int) {
	opening := *b
	if b.Raw == nil {
		opening.Args, opening.ArgsText = nil, ""
	}
	c.delta(func(w *openai.Writer) {
		w.Name("tool_calls")
		w.Begin('[')
		encodeCall(w, &opening, index)
		w.Close(']')
	})
	if b.Raw != nil {
		return
	}
	c.delta(func(w *openai.Writer) {
		w.Name("tool_calls")
		w.Begin('[')
		w.Open('{')
		w.Int("index", int64(index))
		w.Name("function")
		w.Begin('{')
		w.Text("arguments", openai.Arguments(b))
		w.Close('}')
		w.Close('}')
		w.Close(']')
	})
}

// stop writes the chunk that ends a choice; none when no stop arrived.
func (c *chunks) stop(choice int) {
	extra := rawjson.Get(c.r.Extra, ofChoice)
	if rawStop(c.r, choice) == "" && (choice > 0 || extra == nil) {
		return
	}
	c.event(func(w *openai.Writer) {
		w.Name("choices")
		w.Begin('[')
		w.Open('{')
		w.Int("index", int64(choice))
		w.Value("delta", jsontext.Value("{}"))
		stopMember(w, c.r, choice)
		if choice == 0 {
			w.Splice(extra)
		}
		w.Close('}')
		w.Close(']')
	})
}

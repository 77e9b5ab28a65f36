package openaichat

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// DecodeResponse reads an answer. A body that begins with a brace is JSON,
// whatever its content type: servers put a JSON error where a stream was asked
// for and keep the stream's header.
func (Codec) DecodeResponse(status int, contentType string, body []byte) (*wire.Response, error) {
	stream := sse.Is(contentType, body) && !openai.IsObject(body)
	switch {
	case status >= 400 && !stream:
		return &wire.Response{Err: wire.ReadError(status, body), Complete: true}, nil
	case stream:
		return decodeStream(status, body)
	}
	return decodeJSON(status, body)
}

func decodeJSON(status int, body []byte) (*wire.Response, error) {
	if err := openai.CheckObject("openai chat: reading an answer", body); err != nil {
		return nil, err
	}
	r := &wire.Response{Complete: true}
	var a answer
	for o := rawjson.InObject(body); o.More(); {
		name, value := o.Member()
		a.member(r, string(name), value)
	}
	r.Err = openai.InBody(status, body)
	switch {
	case a.choices != nil:
	case r.Err != nil:
		return &wire.Response{Err: r.Err, Complete: true}, nil //nolint:nilerr // the provider's error, which was read well
	default:
		return nil, failure.Errorf(failure.Protocol, `openai chat: reading an answer: it has neither "choices" nor "error"`)
	}
	a.choose(r, status)
	a.finish(r)
	return r, nil
}

// answer gathers what JSON and stream have in common.
type answer struct {
	choices jsontext.Value
	usage   jsontext.Value
	extra   openai.Extra // of the answer
	choice  openai.Extra // of the first choice
	message openai.Extra // of its message
	texts   []callText   // a call's arguments, in the order of the calls
}

// member takes one top-level member. A null one says nothing.
func (a *answer) member(r *wire.Response, name string, v jsontext.Value) {
	switch {
	case name == "choices":
		if openai.IsArray(v) {
			a.choices = v
		}
	case openai.IsNull(v), name == "object", name == "error":
	case name == "id":
		r.ID = rawjson.TextOf(v)
	case name == "model":
		r.Model = rawjson.TextOf(v)
	case name == "usage":
		a.usage = v
	default:
		a.extra.Add(name, v)
	}
}

type indexed struct {
	index int64
	value jsontext.Value
}

// inOrder are the choices by their index; one without has its place's.
func inOrder(choices jsontext.Value) []indexed {
	out := make([]indexed, 0, 1)
	for a := rawjson.InArray(choices); a.More(); {
		v := a.Value()
		c := indexed{int64(len(out)), v}
		if n := openai.Int(rawjson.Get(v, "index")); n != nil {
			c.index = *n
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b indexed) int { return cmp.Compare(a.index, b.index) })
	return out
}

// choose reads the choices: of all the finish reason, of the first the rest.
func (a *answer) choose(r *wire.Response, status int) {
	r.Message.Role = wire.RoleAssistant
	for i, c := range inOrder(a.choices) {
		for o := rawjson.InObject(c.value); o.More(); {
			name, value := o.Member()
			switch s := string(name); {
			case openai.IsNull(value), s == "index":
			case s == "finish_reason":
				r.RawStop = append(r.RawStop, rawjson.TextOf(value))
			case i > 0:
			case s == "message":
				a.turn(r, value)
			case s == "error":
				r.Err = openai.InBody(status, c.value)
			default:
				a.choice.Add(s, value)
			}
		}
		if i == 1 {
			r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemChoices, Block: -1})
		}
	}
}

// turn reads the message of an answer.
func (a *answer) turn(r *wire.Response, v jsontext.Value) {
	var m rawMessage
	if openai.IsObject(v) {
		c := rawjson.New(v)
		m.walk(&c)
	}
	var blocks []wire.Block
	if raw := m.reasoning.Object(); raw != nil {
		blocks = append(blocks, wire.Block{Kind: wire.KindReasoning, Text: m.thought, Raw: raw})
	}
	if s, ok := rawjson.Text(m.content); ok && s != "" {
		blocks = append(blocks, wire.Block{Kind: wire.KindText, Text: s})
	} else if openai.IsArray(m.content) {
		blocks = decodeParts(blocks, m.content)
	}
	if s := rawjson.TextOf(m.refusal); s != "" {
		blocks = append(blocks, wire.Block{Kind: wire.KindRefusal, Text: s})
	}
	if openai.IsObject(m.call) {
		b, text := readLegacy(m.call)
		blocks, a.texts = append(blocks, b), append(a.texts, text)
	}
	for c := rawjson.InArray(m.calls); c.More(); {
		start := c.Mark()
		b, text, plain := readCall(&c, true)
		if !plain {
			b.Raw = c.Since(start)
		}
		blocks, a.texts = append(blocks, b), append(a.texts, text)
	}
	r.Message.Blocks = blocks
	a.messageExtra(&m)
}

func (a *answer) messageExtra(m *rawMessage) {
	for o := rawjson.InObject(m.extra.Object()); o.More(); {
		name, value := o.Member()
		if !openai.IsNull(value) {
			a.message.Add(string(name), value)
		}
	}
}

// finish judges what was gathered: stop, arguments, figures.
func (a *answer) finish(r *wire.Response) {
	r.Stop = stop(r)
	cut := !r.Complete || r.Stop == wire.StopTruncated || r.Stop == wire.StopNone
	n := 0
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		if b.Kind != wire.KindToolCall {
			continue
		}
		judge(r, i, a.texts[n], cut)
		n++
	}
	r.Problems = append(r.Problems, wire.DuplicateIDs(r.Message.Blocks)...)
	if choice := a.choice.Object(); choice != nil {
		a.extra.Add(ofChoice, choice)
	}
	if message := a.message.Object(); message != nil {
		a.extra.Add(ofMessage, message)
	}
	r.Extra = a.extra.Object()
	count(r, a.usage)
}

// judge sets a call's arguments and says what is wrong with them.
func judge(r *wire.Response, i int, text callText, cut bool) {
	b := &r.Message.Blocks[i]
	switch {
	case text.object != nil:
		b.Args = text.object
	case text.custom:
		b.ArgsText = string(text.text)
	default:
		if kind := openai.SetArgs(b, text.text, cut); kind != "" {
			r.Problems = append(r.Problems, wire.Problem{Kind: kind, Block: i, Detail: b.Name})
		}
	}
}

// stop is the first choice's finish reason in neutral words. eos is Together's,
// model_length Mistral's, max_tokens some gateways'.
func stop(r *wire.Response) wire.Stop {
	if len(r.RawStop) == 0 {
		return wire.StopNone
	}
	switch r.RawStop[0] {
	case "stop", "eos":
		return openai.Finished(r.Message.Blocks)
	case "tool_calls", "function_call":
		return wire.StopToolCalls
	case "length", "model_length", "max_tokens":
		return wire.StopTruncated
	case "content_filter":
		return wire.StopRefused
	}
	return wire.StopUnknown
}

// count reads the usage object; Groq's streams have it within x_groq.
func count(r *wire.Response, usage jsontext.Value) {
	if !openai.IsObject(usage) {
		usage = rawjson.Get(rawjson.Get(r.Extra, "x_groq"), "usage")
	}
	if !openai.IsObject(usage) {
		return
	}
	r.RawUsage = usage
	var total *int64
	for o := rawjson.InObject(usage); o.More(); {
		name, value := o.Member()
		switch string(name) {
		case "prompt_tokens":
			r.Reported.Input = openai.Int(value)
		case "completion_tokens":
			r.Reported.Output = openai.Int(value)
		case "total_tokens":
			total = openai.Int(value)
		case "prompt_tokens_details":
			r.Reported.CacheRead = openai.Int(rawjson.Get(value, "cached_tokens"))
			r.Reported.CacheWrite = openai.Int(rawjson.Get(value, "cache_write_tokens"))
		case "cache_creation_input_tokens": // gateways before Anthropic
			r.Reported.CacheWrite = openai.Int(value)
		case "completion_tokens_details":
			r.Reported.Reasoning = openai.Int(rawjson.Get(value, "reasoning_tokens"))
		}
	}
	r.Usage = openai.Neutral(r.Reported, apart(&r.Reported, total))
}

// apart tells by the total whether reasoning was counted beside the output.
func apart(u *wire.Usage, total *int64) bool {
	if total == nil || openai.Value(u.Reasoning) == 0 {
		return false
	}
	return *total == openai.Value(u.Input)+openai.Value(u.Output)+*u.Reasoning
}

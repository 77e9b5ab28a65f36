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

// stream accumulates the chunks of one answer.
type stream struct {
	answer
	r       wire.Response
	status  int
	known   bool // a chunk of this API was seen
	holed   bool // an event before the end could not be read
	stops   []finish
	several bool

	reasoning members
	parts     []part
	refusal   []byte
	calls     []call
	legacy    *call
	top       members
	ofChoice  members
	ofMessage members
}

// finish is the finish reason of one choice.
type finish struct {
	index  int64
	reason string
}

// decodeStream reads the chunks up to [DONE]. A stream of which no event is a
// chunk is not this API's.
func decodeStream(status int, body []byte) (*wire.Response, error) {
	s := stream{status: status}
	s.r.Streamed = true
	s.r.Message.Role = wire.RoleAssistant
	events := sse.NewScanner(body)
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		switch {
		case string(e.Data) == "[DONE]":
			s.r.Complete = true
		case rawjson.Valid(e.Data) && openai.IsObject(e.Data):
			s.chunk(string(e.Name), e.Data)
		default:
			s.r.Problems = append(s.r.Problems, wire.Problem{Kind: wire.ProblemBadEvent, Block: -1, Detail: short(e.Data)})
			s.holed = s.holed || !s.r.Complete
		}
	}
	if status >= 400 {
		if s.r.Err == nil {
			s.r.Err = wire.ReadError(status, body)
		}
		return &wire.Response{Err: s.r.Err, Complete: true}, nil
	}
	if !s.known {
		return nil, failure.Errorf(failure.Protocol, "openai chat: reading a stream: none of its events is a chunk of a chat completion")
	}
	s.end()
	return &s.r, nil
}

// short is enough of an event's data to find it.
func short(data []byte) string {
	const most = 80
	return string(data[:min(len(data), most)])
}

func (s *stream) chunk(event string, data jsontext.Value) {
	for o := rawjson.InObject(data); o.More(); {
		name, value := o.Member()
		switch n := string(name); {
		case openai.IsNull(value), n == "object":
		case n == "id" && s.r.ID == "":
			s.r.ID = rawjson.TextOf(value)
		case n == "model" && s.r.Model == "":
			s.r.Model = rawjson.TextOf(value)
		case n == "id", n == "model":
		case n == "usage":
			s.usage, s.known = value, true
		case n == "choices":
			s.known = s.known || openai.IsArray(value)
			s.choicesOf(value)
		case n == "error":
			s.fail(openai.InBody(s.status, data))
		default:
			s.top.set(n, value)
		}
	}
	if event == "error" && s.r.Err == nil {
		s.fail(wire.ReadError(s.status, data))
	}
}

// fail keeps the first error. It is the stream's end.
func (s *stream) fail(err *wire.APIError) {
	if err != nil && s.r.Err == nil {
		s.r.Err, s.r.Complete, s.known = err, true, true
	}
}

func (s *stream) choicesOf(v jsontext.Value) {
	for a := rawjson.InArray(v); a.More(); {
		c := a.Value()
		index := int64(0)
		if n := openai.Int(rawjson.Get(c, "index")); n != nil {
			index = *n
		}
		s.several = s.several || index != 0
		for o := rawjson.InObject(c); o.More(); {
			name, value := o.Member()
			switch n := string(name); {
			case openai.IsNull(value), n == "index":
			case n == "finish_reason":
				s.stop(index, rawjson.TextOf(value))
			case index != 0:
			case n == "delta", n == "message": // some servers end with a whole message
				s.delta(value)
			case n == "error":
				s.fail(openai.InBody(s.status, c))
			default:
				s.ofChoice.set(n, value)
			}
		}
	}
}

// stop notes a finish reason; repeated ones overwrite, empty ones say nothing.
func (s *stream) stop(index int64, reason string) {
	if reason == "" {
		return
	}
	for i := range s.stops {
		if s.stops[i].index == index {
			s.stops[i].reason = reason
			return
		}
	}
	s.stops = append(s.stops, finish{index, reason})
}

func (s *stream) delta(v jsontext.Value) {
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch n := string(name); {
		case openai.IsNull(value), n == "role":
		case n == "content":
			s.content(value)
		case n == "refusal":
			s.refusal = append(s.refusal, rawjson.TextOf(value)...)
		case n == "tool_calls":
			for a := rawjson.InArray(value); a.More(); {
				s.call(a.Value())
			}
		case n == "function_call":
			if s.legacy == nil {
				s.legacy = &call{}
			}
			s.legacy.function(value)
		case isReasoning(name):
			s.reasoning.add(n, value)
		default:
			s.ofMessage.set(n, value)
		}
	}
}

// end puts the blocks together, in the order of a JSON answer.
func (s *stream) end() {
	r := &s.r
	slices.SortFunc(s.stops, func(a, b finish) int { return cmp.Compare(a.index, b.index) })
	for _, f := range s.stops {
		r.RawStop = append(r.RawStop, f.reason)
	}
	if s.several {
		r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemChoices, Block: -1})
	}
	s.blocks()
	s.top.into(&s.extra)
	s.ofChoice.into(&s.choice)
	s.ofMessage.into(&s.message)
	s.finish(r)
	if !r.Complete {
		r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemNoTerminal, Block: -1, Detail: "no [DONE]"})
	}
	r.Complete = r.Complete && !s.holed
}

func (s *stream) blocks() {
	r := &s.r
	if raw, text := s.reasoning.raw(); raw != nil {
		r.Message.Blocks = append(r.Message.Blocks, wire.Block{Kind: wire.KindReasoning, Text: text, Raw: raw})
	}
	for i := range s.parts {
		r.Message.Blocks = append(r.Message.Blocks, s.parts[i].block())
	}
	if len(s.refusal) > 0 {
		r.Message.Blocks = append(r.Message.Blocks, wire.Block{Kind: wire.KindRefusal, Text: string(s.refusal)})
	}
	if s.legacy != nil {
		b := wire.Block{Kind: wire.KindToolCall, Name: s.legacy.name, Raw: legacyRaw(s.legacy.rawFunction("arguments"))}
		s.add(b, s.legacy)
	}
	for i := range s.calls {
		c := &s.calls[i]
		b := wire.Block{Kind: wire.KindToolCall, ID: c.id, Name: c.name, Extra: c.extra.object()}
		if c.kind != "" {
			b.Raw = c.raw()
		}
		s.add(b, c)
	}
}

func (s *stream) add(b wire.Block, c *call) {
	r := &s.r
	r.Message.Blocks = append(r.Message.Blocks, b)
	s.texts = append(s.texts, callText{text: c.args, object: c.object, custom: c.kind == "custom"})
	if c.repeated {
		r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemRepeatedKey, Block: len(r.Message.Blocks) - 1, Detail: c.name})
	}
}

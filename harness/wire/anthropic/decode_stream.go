package anthropic

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// stream puts an answer together from its events.
type stream struct {
	start message
	parts []part
	usage jsontext.Value
	known bool // at least one event of the API was seen
	ended bool // message_stop was seen
	holed bool // an event before the end could not be read

	failure  *wire.APIError
	problems []wire.Problem
}

func decodeStream(body []byte) (*wire.Response, error) {
	st := stream{start: message{role: wire.RoleAssistant}}
	events := sse.NewScanner(body)
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		if !rawjson.Valid(e.Data) {
			st.problems = append(st.problems, wire.Problem{Kind: wire.ProblemBadEvent, Block: -1, Detail: string(e.Data)})
			st.holed = st.holed || !st.ended
			continue
		}
		if err := st.event(readEvent(e.Data)); err != nil {
			return nil, wire.Unreadable(wire.AnthropicMessages, e.Data, err.Error())
		}
	}
	if !st.known {
		return nil, wire.Unreadable(wire.AnthropicMessages, body, "a stream without an event of this API")
	}
	return st.response(), nil
}

// event are the members of one event's data.
type event struct {
	kind                         string
	index                        int64
	message, block, delta, usage jsontext.Value
	data                         jsontext.Value
	extra                        rawjson.Members
	err                          error
}

func readEvent(data []byte) event {
	e := event{data: data}
	c := rawjson.New(data)
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			e.kind = c.Text()
		case "index":
			if n := c.Int(); n != nil {
				e.index = *n
			}
		case "message":
			e.message = c.Value()
		case "content_block":
			e.block = c.Value()
		case "delta":
			e.delta = c.Value()
		case "usage":
			e.usage = c.Value()
		default:
			e.extra.AddSet(name, c.Value())
		}
	}
	e.err = c.Err()
	return e
}

// event takes one event; unknown ones are ignored, as the API asks.
func (st *stream) event(e event) error {
	switch e.kind {
	case "message_start":
		st.start = readMessage(e.message)
		st.usage = st.start.usage
		if e.err == nil {
			e.err = st.start.err
		}
	case "content_block_start":
		st.parts = append(st.parts, part{index: e.index, start: e.block})
	case "content_block_delta":
		if p := st.part(e.index); p != nil {
			p.delta(e.delta)
		}
	case "content_block_stop":
		if p := st.part(e.index); p != nil {
			p.stopped = true
		}
	case "message_delta":
		st.messageDelta(&e)
	case "message_stop":
		st.ended = true
	case "error":
		st.failure = wire.ReadError(200, e.data)
	default:
		return nil
	}
	st.known = true
	return e.err
}

// part is the newest block with the index.
func (st *stream) part(index int64) *part {
	for i := len(st.parts) - 1; i >= 0; i-- {
		if st.parts[i].index == index {
			return &st.parts[i]
		}
	}
	return nil
}

func (st *stream) messageDelta(e *event) {
	c := rawjson.New(e.delta)
	for c.Object(); c.More(); {
		name := c.Name()
		v := c.Value()
		switch text, isText := rawjson.Text(v); {
		case string(name) != "stop_reason":
			st.start.extra.AddSet(name, v)
		case isText:
			st.start.stop, st.start.stopped = text, true
		}
	}
	c = rawjson.New(e.extra.Value())
	for c.Object(); c.More(); {
		st.start.extra.AddSet(c.Name(), c.Value())
	}
	st.overlay(e.usage)
}

// overlay lays a cumulative usage over what is known: it replaces, never adds,
// and what it does not mention stays.
func (st *stream) overlay(usage jsontext.Value) {
	c := rawjson.New(usage)
	for c.Object(); c.More(); {
		name, v := string(c.Name()), c.Value()
		if rawjson.IsNull(v) || string(rawjson.Get(st.usage, name)) == string(v) {
			continue
		}
		if len(st.usage) == 0 || rawjson.IsNull(st.usage) {
			st.usage = jsontext.Value("{}")
		}
		st.usage = rawjson.Set(st.usage, name, v)
	}
}

func (st *stream) response() *wire.Response {
	st.start.usage = st.usage
	r := st.start.response()
	r.Streamed, r.Err, r.Problems = true, st.failure, st.problems
	r.Complete = st.ended && st.failure == nil && !st.holed
	for i := range st.parts {
		p := &st.parts[i]
		// The block may be whole though its end was not sent, unless the
		// stream itself was cut or the limit struck in it.
		last := i == len(st.parts)-1
		b, problem := p.block(!p.stopped && !st.ended || last && r.Stop == wire.StopTruncated)
		if problem != "" {
			r.Problems = append(r.Problems, wire.Problem{Kind: problem, Block: i, Detail: string(p.text)})
		}
		r.Message.Blocks = append(r.Message.Blocks, b)
	}
	if !st.ended && st.failure == nil {
		r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemNoTerminal, Block: -1, Detail: "no message_stop"})
	}
	r.Problems = append(r.Problems, wire.DuplicateIDs(r.Message.Blocks)...)
	return r
}

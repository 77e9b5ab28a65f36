package anthropic

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// DecodeResponse implements wire.Codec.
func (Codec) DecodeResponse(status int, contentType string, body []byte) (*wire.Response, error) {
	if status >= 400 {
		return &wire.Response{Err: wire.ReadError(status, body), Complete: true}, nil
	}
	// The body's own look counts more than its label, which recordings lose.
	if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '{' {
		return decodeJSON(text)
	}
	if sse.Is(contentType, body) {
		return decodeStream(body)
	}
	return nil, wire.Unreadable(wire.AnthropicMessages, body, "neither JSON nor an event stream")
}

func decodeJSON(body []byte) (*wire.Response, error) {
	if !rawjson.Valid(body) {
		return nil, wire.Unreadable(wire.AnthropicMessages, body, "invalid JSON")
	}
	m := readMessage(body)
	if m.err != nil {
		return nil, wire.Unreadable(wire.AnthropicMessages, body, m.err.Error())
	}
	if m.failure != nil {
		return &wire.Response{Err: wire.ReadError(200, body), Complete: true}, nil
	}
	if m.kind != "message" && m.content == nil {
		return nil, wire.Unreadable(wire.AnthropicMessages, body, "JSON, but no message")
	}
	r := m.response()
	r.Complete = true
	content := rawjson.New(m.content)
	r.Message.Blocks = decodeContent(&content)
	checkInputs(r)
	r.Problems = append(r.Problems, wire.DuplicateIDs(r.Message.Blocks)...)
	return r, nil
}

// message are the members of a message object.
type message struct {
	id, kind, model string
	role            wire.Role
	content         jsontext.Value
	stop            string
	stopped         bool
	usage           jsontext.Value
	failure         jsontext.Value
	extra           rawjson.Members
	err             error
}

func readMessage(v jsontext.Value) message {
	m := message{role: wire.RoleAssistant}
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		m.read(&c)
	}
	m.err = c.Err()
	return m
}

func (m *message) read(c *rawjson.Cursor) {
	switch name := c.Name(); string(name) {
	case "id":
		m.id = c.Text()
	case "type":
		m.kind = c.Text()
	case "role":
		m.role = wire.Role(c.Text())
	case "model":
		m.model = c.Text()
	case "content":
		if c.Kind() != '[' {
			c.Array() // null, or a mismatch to be told
			c.More()
			return
		}
		m.content = c.Value()
	case "stop_reason":
		m.stop, m.stopped = rawjson.Text(c.Value())
	case "usage":
		m.usage = c.Value()
	case "error":
		m.failure = c.Value()
	default:
		m.extra.AddSet(name, c.Value())
	}
}

// response is the message without its content.
func (m *message) response() *wire.Response {
	r := &wire.Response{ID: m.id, Model: m.model, Message: wire.Message{Role: m.role}, Extra: m.extra.Value()}
	if m.stopped {
		setStop(r, m.stop)
	}
	setUsage(r, m.usage)
	return r
}

// checkInputs files what is wrong with the calls of a JSON answer. A limit that
// struck inside a call leaves {} as its input: that is told, although the call
// looks whole.
func checkInputs(r *wire.Response) {
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		if b.Kind != wire.KindToolCall {
			continue
		}
		last := i == len(r.Message.Blocks)-1
		kind, detail := wire.JudgeArgs(b)
		if kind == "" && last && r.Stop == wire.StopTruncated && empty(b.Args) {
			kind, detail = wire.ProblemArgsCut, "the answer was cut inside this call"
		}
		if kind != "" {
			r.Problems = append(r.Problems, wire.Problem{Kind: kind, Block: i, Detail: detail})
		}
	}
}

func empty(object jsontext.Value) bool {
	return len(object) >= 2 && len(bytes.TrimSpace(object[1:len(object)-1])) == 0
}

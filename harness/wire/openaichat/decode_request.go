package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// DecodeRequest reads a request body; the path says nothing here.
func (Codec) DecodeRequest(_ string, body []byte) (*wire.Request, error) {
	if err := openai.CheckObject("openai chat: reading a request", body); err != nil {
		return nil, err
	}
	r := &wire.Request{}
	c := rawjson.New(body)
	for c.Object(); c.More(); {
		name := c.Name()
		if string(name) == "messages" && c.Kind() == '[' {
			if err := decodeMessages(r, &c); err != nil {
				return nil, err
			}
			continue
		}
		if value := c.Value(); !member(r, name, value) {
			r.Params = append(r.Params, wire.Field{Name: string(name), Value: value})
		}
	}
	wire.SortFields(r.Params)
	return r, nil
}

// member puts one top-level member into its field; false when none holds it.
func member(r *wire.Request, name []byte, value jsontext.Value) (held bool) {
	switch string(name) {
	case "tools":
		r.Tools = decodeTools(value)
		return len(r.Tools) > 0
	case "tool_choice":
		return decodeChoice(&r.ToolChoice, value)
	case "max_tokens":
		return openai.MaxTokens(r, value)
	}
	return openai.RequestMember(r, name, value)
}

// decodeMessages walks the list of messages in one pass.
func decodeMessages(r *wire.Request, c *rawjson.Cursor) error {
	r.Messages = make([]wire.Message, 0, 16)
	results := false // whether the last message holds results
	for c.Array(); c.More(); {
		if c.Kind() != '{' {
			return failure.Errorf(failure.Protocol, "openai chat: reading a request: messages holds %.40q, which is no object", c.Value())
		}
		var raw rawMessage
		raw.walk(c)
		if !raw.isResult() {
			r.Messages, results = append(r.Messages, raw.message()), false
			continue
		}
		if !results {
			r.Messages, results = append(r.Messages, wire.Message{Role: wire.RoleUser}), true
		}
		last := &r.Messages[len(r.Messages)-1]
		last.Blocks = append(last.Blocks, raw.result())
	}
	return nil
}

// rawMessage has the members of a message as written.
type rawMessage struct {
	role                                string
	content, refusal, calls, call, name jsontext.Value
	id                                  jsontext.Value
	reasoning, extra                    openai.Extra
	thought                             string
}

func (m *rawMessage) walk(c *rawjson.Cursor) {
	for c.Object(); c.More(); {
		name := c.Name()
		value := c.Value()
		switch string(name) {
		case "role":
			m.role = openai.Word(value)
		case "content":
			m.content = value
		case "refusal":
			m.refusal = value
		case "tool_calls":
			m.calls = value
		case "function_call":
			m.call = value
		case "tool_call_id":
			m.id = value
		case "name":
			m.name = value
		default:
			if !isReasoning(name) || openai.IsEmpty(value) {
				m.extra.Add(string(name), value)
				continue
			}
			m.reasoning.Add(string(name), value)
			m.thought = thought(m.thought, value)
		}
	}
}

func (m *rawMessage) isResult() bool { return m.role == "tool" || m.role == "function" }

// result is a message of role tool or function.
func (m *rawMessage) result() wire.Block {
	b := wire.Block{Kind: wire.KindToolResult, ID: m.take("tool_call_id", m.id), Name: m.take("name", m.name)}
	b.Result = m.parts(nil)
	if m.role == "function" {
		m.extra.Add("role", jsontext.Value(`"function"`))
	}
	m.leftovers()
	b.Extra = m.extra.Object()
	return b
}

// take is the text of a member; what is no text is kept as it is.
func (m *rawMessage) take(name string, v jsontext.Value) string {
	s := rawjson.TextOf(v)
	if s == "" && v != nil {
		m.extra.Add(name, v)
	}
	return s
}

// leftovers keeps what a message of this role has no field for.
func (m *rawMessage) leftovers() {
	for _, f := range [...]wire.Field{{Name: "refusal", Value: m.refusal}, {Name: "tool_calls", Value: m.calls}, {Name: "function_call", Value: m.call}} {
		if f.Value != nil {
			m.extra.Add(f.Name, f.Value)
		}
	}
	if o := m.reasoning.Object(); o != nil {
		for w := rawjson.InObject(o); w.More(); {
			name, value := w.Member()
			m.extra.Add(string(name), value)
		}
	}
}

func (m *rawMessage) message() wire.Message {
	out := wire.Message{Role: wire.Role(m.role)}
	if m.id != nil {
		m.extra.Add("tool_call_id", m.id)
	}
	if m.name != nil {
		m.extra.Add("name", m.name)
	}
	if out.Role == wire.RoleAssistant {
		out.Blocks = m.turn()
	} else {
		out.Blocks = m.parts(nil)
		m.leftovers()
	}
	out.Extra = m.extra.Object()
	return out
}

// turn are the blocks of an assistant's message, in their fixed order:
// reasoning, content, refusal, calls.
func (m *rawMessage) turn() []wire.Block {
	var out []wire.Block
	if raw := m.reasoning.Object(); raw != nil {
		out = append(out, wire.Block{Kind: wire.KindReasoning, Text: m.thought, Raw: raw})
	}
	out = m.parts(out)
	if s := m.take("refusal", m.refusal); s != "" {
		out = append(out, wire.Block{Kind: wire.KindRefusal, Text: s})
	}
	if openai.IsObject(m.call) {
		out = append(out, legacyCall(m.call))
	} else if m.call != nil {
		m.extra.Add("function_call", m.call)
	}
	calls := m.calls
	if calls != nil && (!openai.IsArray(calls) || openai.IsEmpty(calls)) {
		m.extra.Add("tool_calls", calls)
		return out
	}
	for a := rawjson.InArray(calls); a.More(); {
		out = append(out, requestCall(&a))
	}
	return out
}

// parts adds the content. What is neither text nor a list of parts is kept.
func (m *rawMessage) parts(out []wire.Block) []wire.Block {
	if s, ok := rawjson.Text(m.content); ok {
		return append(out, wire.Block{Kind: wire.KindText, Text: s})
	}
	if m.content != nil && (!openai.IsArray(m.content) || openai.IsEmpty(m.content)) {
		m.extra.Add("content", m.content)
		return out
	}
	return decodeParts(out, m.content)
}

func decodeParts(out []wire.Block, v jsontext.Value) []wire.Block {
	for a := rawjson.InArray(v); a.More(); {
		out = append(out, decodePart(a.Value()))
	}
	return out
}

func decodePart(v jsontext.Value) wire.Block {
	switch kind := rawjson.Get(v, "type"); string(kind) {
	case `"text"`:
		if b, ok := textPart(v); ok {
			return b
		}
	case `"refusal"`:
		if s, ok := rawjson.Text(rawjson.Get(v, "refusal")); ok {
			return wire.Block{Kind: wire.KindRefusal, Text: s, Raw: v}
		}
	case `"thinking"`:
		return wire.Block{Kind: wire.KindReasoning, Text: thought("", rawjson.Get(v, "thinking")), Raw: v}
	}
	return wire.Block{Kind: wire.KindOpaque, Raw: v}
}

func textPart(v jsontext.Value) (b wire.Block, ok bool) {
	var extra openai.Extra
	b.Kind = wire.KindText
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch {
		case string(name) == "text":
			b.Text, ok = rawjson.Text(value)
		case string(name) != "type":
			extra.Add(string(name), value)
		}
	}
	b.Extra = extra.Object()
	return b, ok
}

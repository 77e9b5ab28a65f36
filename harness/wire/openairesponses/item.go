package openairesponses

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// item has the members of an item as written.
type item struct {
	raw                           jsontext.Value
	kind, role                    string
	content, callID, name, output jsontext.Value
	arguments, input              jsontext.Value
	extra                         openai.Extra
}

func (it *item) read(c *rawjson.Cursor) {
	start := c.Mark()
	for c.Object(); c.More(); {
		name, value := c.Member()
		switch string(name) {
		case "type":
			it.kind = openai.Word(value)
		case "role":
			it.role = openai.Word(value)
		case "content":
			it.content = value
		case "call_id":
			it.callID = value
		case "name":
			it.name = value
		case "output":
			it.output = value
		case "arguments":
			it.arguments = value
		case "input":
			it.input = value
		default:
			it.extra.Add(string(name), value)
		}
	}
	it.raw = c.Since(start)
	switch {
	case it.kind == "" && it.role != "":
		it.kind = "message"
	case it.kind != "message" && it.role != "":
		it.extra.Add("role", rawjson.Quote(nil, it.role))
	}
}

func (it *item) side() side {
	switch {
	case it.kind == "message" && it.role != string(wire.RoleAssistant):
		return ofOther
	case isOutput(it.kind):
		return ofResults
	}
	return ofAssistant
}

// isOutput tells the items with which a client answers calls.
func isOutput(kind string) bool {
	return strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
}

// open begins the neutral message that the item is the first of.
func (it *item) open(s side) wire.Message {
	switch s {
	case ofAssistant:
		return wire.Message{Role: wire.RoleAssistant}
	case ofResults:
		return wire.Message{Role: wire.RoleUser}
	default:
		return it.message()
	}
}

// message is the item as a message of another role, which is one by itself.
func (it *item) message() wire.Message {
	m := wire.Message{Role: wire.Role(it.role)}
	if blocks, ok := decodeContent(it.content, m.Role); ok {
		m.Blocks = blocks
	} else if it.content != nil {
		it.extra.Add("content", it.content)
	}
	it.keepStrange()
	m.Extra = it.extra.Object()
	return m
}

// keepStrange keeps the members that a message does not have.
func (it *item) keepStrange() {
	it.keep("call_id", it.callID)
	it.keep("name", it.name)
	it.keep("output", it.output)
	it.keep("arguments", it.arguments)
	it.keep("input", it.input)
}

func (it *item) keep(name string, v jsontext.Value) {
	if v != nil {
		it.extra.Add(name, v)
	}
}

// result is the item as a tool's result; what is none of a function or custom
// tool is kept whole.
func (it *item) result() wire.Block {
	if it.kind != "function_call_output" && it.kind != "custom_tool_call_output" {
		return wire.Block{Kind: wire.KindOpaque, Raw: it.raw}
	}
	b := wire.Block{Kind: wire.KindToolResult, ID: rawjson.TextOf(it.callID), Name: rawjson.TextOf(it.name)}
	if parts, ok := decodeContent(it.output, wire.RoleUser); ok {
		b.Result = parts
	} else {
		it.keep("output", it.output)
	}
	if it.kind != "function_call_output" {
		it.extra.Add("type", rawjson.Quote(nil, it.kind))
	}
	it.keep("content", it.content)
	b.Extra = it.extra.Object()
	return b
}

// turn adds the item to the blocks of an assistant's message.
func (it *item) turn(blocks []wire.Block) []wire.Block {
	switch it.kind {
	case "message":
		parts, ok := decodeContent(it.content, wire.RoleAssistant)
		if !ok || len(parts) == 0 {
			break
		}
		it.keepStrange()
		follows := len(blocks) > 0 && inMessage(&blocks[len(blocks)-1])
		markItem(parts, it.extra.Object(), follows)
		return append(blocks, parts...)
	case "reasoning":
		return append(blocks, wire.Block{Kind: wire.KindReasoning, Text: thought(it.raw), Raw: it.raw})
	case "function_call", "custom_tool_call":
		b, text := it.call()
		if it.kind == "custom_tool_call" {
			b.ArgsText = string(text)
		} else {
			openai.SetArgs(&b, text, false)
		}
		return append(blocks, b)
	}
	return append(blocks, wire.Block{Kind: wire.KindOpaque, Raw: it.raw})
}

// call is the item as a tool call, and its arguments as text.
func (it *item) call() (b wire.Block, text []byte) {
	b = wire.Block{Kind: wire.KindToolCall, ID: rawjson.TextOf(it.callID), Name: rawjson.TextOf(it.name)}
	if it.kind == "custom_tool_call" {
		b.Raw = it.raw
		text, _ = rawjson.TextBytes(it.input)
		return b, text
	}
	text, plain := rawjson.TextBytes(it.arguments)
	if !plain {
		b.Raw = it.raw
		if openai.IsObject(it.arguments) {
			text = it.arguments
		}
		return b, text
	}
	it.keep("content", it.content)
	it.keep("output", it.output)
	it.keep("input", it.input)
	b.Extra = it.extra.Object()
	return b, text
}

// markItem notes on the first part what belongs to the message item, and that
// the item is not the one before it continued.
func markItem(parts []wire.Block, extra jsontext.Value, follows bool) {
	if extra == nil && !follows {
		return
	}
	if extra == nil {
		extra = jsontext.Value("{}")
	}
	var e openai.Extra
	for o := rawjson.InObject(parts[0].Extra); o.More(); {
		name, value := o.Member()
		e.Add(string(name), value)
	}
	e.Add(ofItem, extra)
	parts[0].Extra = e.Object()
}

// inMessage tells the blocks of an assistant's message that are parts of a
// message item.
func inMessage(b *wire.Block) bool {
	switch b.Kind {
	case wire.KindText, wire.KindRefusal:
		return true
	default:
		return b.Kind == wire.KindOpaque && rawjson.Get(b.Extra, isPart) != nil
	}
}

// decodeContent reads a text or a list of parts; false for anything else, and
// for an empty list, which has no block to stand for it.
func decodeContent(v jsontext.Value, role wire.Role) ([]wire.Block, bool) {
	if s, ok := rawjson.Text(v); ok {
		return []wire.Block{{Kind: wire.KindText, Text: s}}, true
	}
	if !openai.IsArray(v) || openai.IsEmpty(v) {
		return nil, false
	}
	var out []wire.Block
	for a := rawjson.InArray(v); a.More(); {
		out = append(out, decodePart(a.Value(), role))
	}
	return out, true
}

// textType is the type of a text part: what the model said or what it is told.
func textType(role wire.Role) string {
	if role == wire.RoleAssistant {
		return "output_text"
	}
	return "input_text"
}

func decodePart(v jsontext.Value, role wire.Role) wire.Block {
	kind := rawjson.TextOf(rawjson.Get(v, "type"))
	b, text := wire.Block{Kind: wire.KindText}, "text"
	switch kind {
	case "input_text", "output_text", "text":
	case "refusal":
		b.Kind, text = wire.KindRefusal, "refusal"
	default:
		return opaquePart(v, role)
	}
	var extra openai.Extra
	readable := false
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch s := string(name); {
		case s == text:
			b.Text, readable = rawjson.Text(value)
		case s == "type" && (text == "refusal" || kind == textType(role)):
		default:
			extra.Add(s, value)
		}
	}
	if !readable {
		return opaquePart(v, role)
	}
	b.Extra = extra.Object()
	return b
}

func opaquePart(v jsontext.Value, role wire.Role) wire.Block {
	b := wire.Block{Kind: wire.KindOpaque, Raw: v}
	if role == wire.RoleAssistant {
		b.Extra = jsontext.Value(`{"` + isPart + `":true}`)
	}
	return b
}

// thought is the readable text of a reasoning item: its summary, else its
// content.
func thought(v jsontext.Value) string {
	for _, name := range [...]string{"summary", "content"} {
		var parts []string
		for a := rawjson.InArray(rawjson.Get(v, name)); a.More(); {
			p := a.Value()
			if s := rawjson.TextOf(rawjson.Get(p, "text")); s != "" {
				parts = append(parts, s)
			}
		}
		if len(parts) > 0 {
			return strings.Join(parts, "\n\n")
		}
	}
	return ""
}

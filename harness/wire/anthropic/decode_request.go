package anthropic

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// DecodeRequest implements wire.Codec; the path says nothing here.
func (Codec) DecodeRequest(_ string, body []byte) (*wire.Request, error) {
	if !rawjson.Valid(body) {
		return nil, failure.Errorf(failure.Protocol, "%s: reading the request: the body is not JSON", wire.AnthropicMessages)
	}
	r := &wire.Request{}
	c := rawjson.New(body)
	for c.Object(); c.More(); {
		decodeField(&c, r)
	}
	if err := c.Err(); err != nil {
		return nil, failure.Errorf(failure.Protocol, "%s: reading the request: %w", wire.AnthropicMessages, err)
	}
	wire.SortFields(r.Params)
	return r, nil
}

func decodeField(c *rawjson.Cursor, r *wire.Request) {
	switch name := c.Name(); string(name) {
	case "model":
		r.Model = c.Text()
	case "system":
		r.System = decodeContent(c)
	case "messages":
		r.Messages = decodeMessages(c)
	case "tools":
		for c.Array(); c.More(); {
			r.Tools = append(r.Tools, decodeTool(c.Value()))
		}
	case "tool_choice":
		r.ToolChoice = decodeChoice(c)
	case "stream":
		r.Stream = c.Bool()
	case "max_tokens":
		v := c.Value()
		if n, ok := rawjson.Int(v); ok && n > 0 {
			r.MaxTokens = int(n)
			return
		}
		r.Params = append(r.Params, wire.Field{Name: "max_tokens", Value: v})
	case "thread": // a conversation that the API keeps
		v := c.Value()
		kind, _ := rawjson.Text(rawjson.Get(v, "type"))
		r.Continues = kind == "continue"
		r.Params = append(r.Params, wire.Field{Name: "thread", Value: v})
	default:
		r.Params = append(r.Params, wire.Field{Name: string(name), Value: c.Value()})
	}
}

func decodeMessages(c *rawjson.Cursor) []wire.Message {
	out := make([]wire.Message, 0, 8)
	for c.Array(); c.More(); {
		var m wire.Message
		var extra rawjson.Members
		for c.Object(); c.More(); {
			switch name := c.Name(); string(name) {
			case "role":
				m.Role = wire.Role(c.Text())
			case "content":
				m.Blocks = decodeContent(c)
			default:
				extra.Add(name, c.Value())
			}
		}
		m.Extra = extra.Value()
		out = append(out, m)
	}
	return out
}

// decodeContent takes a text or a list of blocks: one text block either way.
func decodeContent(c *rawjson.Cursor) []wire.Block {
	if c.Kind() == '"' {
		return []wire.Block{{Kind: wire.KindText, Text: c.Text()}}
	}
	var out []wire.Block
	for c.Array(); c.More(); {
		out = append(out, decodeBlock(c.Value()))
	}
	return out
}

func decodeBlock(v jsontext.Value) wire.Block {
	kind, _ := rawjson.Text(rawjson.Get(v, "type"))
	var b wire.Block
	switch kind {
	case typeText:
		return decodeText(v)
	case typeToolUse:
		return decodeToolUse(v)
	case typeToolResult:
		return decodeToolResult(v)
	case typeThinking:
		b.Kind, b.Raw = wire.KindReasoning, v
		b.Text, _ = rawjson.Text(rawjson.Get(v, "thinking"))
	case typeRedacted:
		b.Kind, b.Raw = wire.KindReasoning, v
	default:
		b.Kind, b.Raw = wire.KindOpaque, v
	}
	return b
}

// Members of blocks that are null are the same as absent ones; answers have
// them ("citations":null), and clients leave them out when they send the block
// back.

func decodeText(v jsontext.Value) wire.Block {
	b := wire.Block{Kind: wire.KindText}
	var extra rawjson.Members
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			c.Value()
		case "text":
			b.Text = c.Text()
		default:
			extra.AddSet(name, c.Value())
		}
	}
	b.Extra = extra.Value()
	return b
}

func decodeToolUse(v jsontext.Value) wire.Block {
	b := wire.Block{Kind: wire.KindToolCall}
	var extra rawjson.Members
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			c.Value()
		case "id":
			b.ID = c.Text()
		case "name":
			b.Name = c.Text()
		case "input":
			b.Args, b.ArgsText = decodeInput(c.Value())
		default:
			extra.AddSet(name, c.Value())
		}
	}
	b.Extra = extra.Value()
	return b
}

// decodeInput: a string is what a client stores of arguments that are no JSON.
func decodeInput(v jsontext.Value) (jsontext.Value, string) {
	if text, ok := rawjson.Text(v); ok {
		return nil, text
	}
	return v, ""
}

func decodeToolResult(v jsontext.Value) wire.Block {
	b := wire.Block{Kind: wire.KindToolResult}
	var extra rawjson.Members
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			c.Value()
		case "tool_use_id":
			b.ID = c.Text()
		case "content":
			b.Result = decodeContent(&c)
		case "is_error":
			b.IsError = c.Bool()
		default:
			extra.AddSet(name, c.Value())
		}
	}
	b.Extra = extra.Value()
	return b
}

// decodeTool: a tool with a type of its own is run by the provider or known to
// it by name; it stays raw.
func decodeTool(v jsontext.Value) wire.Tool {
	kind, _ := rawjson.Text(rawjson.Get(v, "type"))
	if kind != "" && kind != "custom" {
		name, _ := rawjson.Text(rawjson.Get(v, "name"))
		return wire.Tool{Name: name, Raw: v}
	}
	var t wire.Tool
	var extra rawjson.Members
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "name":
			t.Name = c.Text()
		case "description":
			t.Description = c.Text()
		case "input_schema":
			t.Schema = c.Value()
		default:
			extra.AddSet(name, c.Value())
		}
	}
	t.Extra = extra.Value()
	return t
}

func decodeChoice(c *rawjson.Cursor) wire.ToolChoice {
	var t wire.ToolChoice
	var extra rawjson.Members
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			t.Mode = wire.ChoiceMode(c.Text())
		case "name":
			t.Name = c.Text()
		case "disable_parallel_tool_use":
			t.NoParallel = c.Bool()
		default:
			extra.AddSet(name, c.Value())
		}
	}
	t.Extra = extra.Value()
	return t
}

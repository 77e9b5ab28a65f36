package openairesponses

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// DecodeRequest reads a request body; the path says nothing here.
func (Codec) DecodeRequest(_ string, body []byte) (*wire.Request, error) {
	if err := openai.CheckObject("openai responses: reading a request", body); err != nil {
		return nil, err
	}
	r := &wire.Request{}
	c := rawjson.New(body)
	for c.Object(); c.More(); {
		name := c.Name()
		if string(name) == "input" && c.Kind() == '[' {
			if err := decodeInput(r, &c); err != nil {
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
func member(r *wire.Request, name []byte, v jsontext.Value) (held bool) {
	switch string(name) {
	case "input":
		s, ok := rawjson.Text(v)
		if ok {
			r.Messages = []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: s}}}}
		}
		return ok
	case "instructions":
		s, ok := rawjson.Text(v)
		if ok {
			r.System = []wire.Block{{Kind: wire.KindText, Text: s}}
		}
		return ok
	case "tools":
		r.Tools = decodeTools(v)
		return len(r.Tools) > 0
	case "tool_choice":
		return decodeChoice(&r.ToolChoice, v)
	case "max_output_tokens":
		return openai.MaxTokens(r, v)
	case "previous_response_id", "conversation":
		r.Continues = r.Continues || !openai.IsEmpty(v)
	}
	return openai.RequestMember(r, name, v)
}

// side says to which neutral message an item belongs.
type side int

const (
	ofNobody side = iota
	ofAssistant
	ofResults
	ofOther // a message of another role: one by itself
)

func decodeInput(r *wire.Request, c *rawjson.Cursor) error {
	r.Messages = make([]wire.Message, 0, 16)
	last := ofNobody
	for c.Array(); c.More(); {
		if c.Kind() != '{' {
			return failure.Errorf(failure.Protocol, "openai responses: reading a request: input holds %.40q, which is no item", c.Value())
		}
		var it item
		it.read(c)
		here := it.side()
		if here != last || here == ofOther {
			r.Messages = append(r.Messages, it.open(here))
		}
		last = here
		m := &r.Messages[len(r.Messages)-1]
		switch here {
		case ofAssistant:
			m.Blocks = it.turn(m.Blocks)
		case ofResults:
			m.Blocks = append(m.Blocks, it.result())
		default: // open has read it whole
		}
	}
	return nil
}

func decodeTools(v jsontext.Value) []wire.Tool {
	var out []wire.Tool
	for a := rawjson.InArray(v); a.More(); {
		out = append(out, decodeTool(&a))
	}
	return out
}

// decodeTool reads a function; any other tool is kept whole, with its name where
// it has one.
func decodeTool(c *rawjson.Cursor) wire.Tool {
	var t wire.Tool
	var extra openai.Extra
	start, function := c.Mark(), false
	for c.Object(); c.More(); {
		name, value := c.Member()
		if string(name) == "type" {
			function = string(value) == `"function"`
		} else {
			openai.FunctionMember(&t, &extra, name, value)
		}
	}
	if !function {
		return wire.Tool{Name: t.Name, Raw: c.Since(start)}
	}
	t.Extra = extra.Object()
	return t
}

// decodeChoice reads tool_choice; false for null. Forms other than OpenAI's
// words and the named function are kept whole.
func decodeChoice(c *wire.ToolChoice, v jsontext.Value) bool {
	if openai.IsNull(v) {
		return false
	}
	switch string(v) {
	case `"auto"`:
		c.Mode = wire.ChoiceAuto
	case `"none"`:
		c.Mode = wire.ChoiceNone
	case `"required"`:
		c.Mode = wire.ChoiceAny
	default:
		c.Extra = v
		if name := rawjson.Get(v, "name"); string(rawjson.Get(v, "type")) == `"function"` && openai.IsString(name) {
			c.Mode, c.Name = wire.ChoiceTool, rawjson.TextOf(name)
			if rawjson.Size(v) == 2 {
				c.Extra = nil
			}
		}
	}
	return true
}

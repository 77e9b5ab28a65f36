package gemini

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// DecodeRequest implements wire.Codec.
func (Codec) DecodeRequest(path string, body []byte) (*wire.Request, error) {
	if !rawjson.Valid(body) {
		return nil, failure.Errorf(failure.Protocol, "%s: reading the request: the body is not JSON", wire.GeminiGenerate)
	}
	r := &wire.Request{}
	r.Model, r.Stream = fromPath(path)
	c := rawjson.New(body)
	for c.Object(); c.More(); {
		decodeField(&c, r)
	}
	if err := c.Err(); err != nil {
		return nil, failure.Errorf(failure.Protocol, "%s: reading the request: %w", wire.GeminiGenerate, err)
	}
	wire.SortFields(r.Params)
	return r, nil
}

func decodeField(c *rawjson.Cursor, r *wire.Request) {
	switch name := camel(c.Name()); name {
	case "contents":
		r.Messages = decodeContents(c)
	case "systemInstruction":
		r.System = decodeSystem(c)
	case "tools":
		for c.Array(); c.More(); {
			r.Tools = appendDeclared(r.Tools, c.Value())
		}
	case "toolConfig":
		var rest jsontext.Value
		r.ToolChoice, rest = decodeToolConfig(c)
		addParam(r, name, rest)
	case "generationConfig":
		var rest jsontext.Value
		r.MaxTokens, rest = decodeGenerationConfig(c.Value())
		addParam(r, name, rest)
	default:
		addParam(r, name, c.Value())
	}
}

func addParam(r *wire.Request, name string, v jsontext.Value) {
	if v != nil {
		r.Params = append(r.Params, wire.Field{Name: name, Value: v})
	}
}

// decodeGenerationConfig takes the limit out; the rest keeps its spelling when
// there is no limit.
func decodeGenerationConfig(v jsontext.Value) (limit int, rest jsontext.Value) {
	for _, name := range [...]string{"maxOutputTokens", "max_output_tokens"} {
		if n, ok := rawjson.Int(rawjson.Get(v, name)); ok && n > 0 {
			return int(n), rawjson.Without(v, name)
		}
	}
	return 0, v
}

// decodeToolConfig splits off what says which functions may be called.
func decodeToolConfig(c *rawjson.Cursor) (choice wire.ToolChoice, rest jsontext.Value) {
	var others rawjson.Members
	for c.Object(); c.More(); {
		name := c.Name()
		if camel(name) == "functionCallingConfig" {
			choice = decodeChoice(c)
			continue
		}
		others.Add(name, c.Value())
	}
	return choice, others.Value()
}

// modes are the calling modes with a neutral word; others are kept as they are.
var modes = [...]struct {
	raw  string
	mode wire.ChoiceMode
}{{"AUTO", wire.ChoiceAuto}, {"ANY", wire.ChoiceAny}, {"NONE", wire.ChoiceNone}}

// decodeChoice: one allowed function under ANY is the neutral choice of a tool.
func decodeChoice(c *rawjson.Cursor) wire.ToolChoice {
	var t wire.ToolChoice
	var extra rawjson.Members
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "mode":
			raw := c.Text()
			t.Mode = wire.ChoiceMode(raw)
			for _, m := range modes {
				if m.raw == raw {
					t.Mode = m.mode
				}
			}
		case "allowedFunctionNames":
			v := c.Value()
			if only, ok := single(v); ok {
				t.Name = only
			} else {
				extra.AddSet([]byte(name), v)
			}
		default:
			extra.AddSet([]byte(name), c.Value())
		}
	}
	if t.Name != "" && t.Mode == wire.ChoiceAny {
		t.Mode = wire.ChoiceTool
	}
	t.Extra = extra.Value()
	return t
}

// single is the only string of a list.
func single(v jsontext.Value) (string, bool) {
	c := rawjson.New(v)
	n, only, text := 0, "", true
	for c.Array(); c.More(); n++ {
		only, text = rawjson.Text(c.Value())
	}
	return only, n == 1 && text && only != ""
}

// decodeSystem: the role that some clients give it says nothing.
func decodeSystem(c *rawjson.Cursor) []wire.Block {
	if c.Kind() == '"' {
		return []wire.Block{{Kind: wire.KindText, Text: c.Text()}}
	}
	var out []wire.Block
	for c.Object(); c.More(); {
		if string(c.Name()) == "parts" {
			out = decodeParts(c)
			continue
		}
		c.Value()
	}
	return out
}

func decodeContents(c *rawjson.Cursor) []wire.Message {
	if c.Kind() == '{' { // a single content instead of a list
		return []wire.Message{decodeMessage(c)}
	}
	var out []wire.Message
	for c.Array(); c.More(); {
		out = append(out, decodeMessage(c))
	}
	return out
}

func decodeMessage(c *rawjson.Cursor) wire.Message {
	m := wire.Message{Role: wire.RoleUser}
	var extra rawjson.Members
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "role":
			m.Role = neutralRole(c.Text())
		case "parts":
			m.Blocks = decodeParts(c)
		default:
			extra.AddSet(name, c.Value())
		}
	}
	m.Extra = extra.Value()
	return m
}

// neutralRole: results came under "function" before they came under "user".
func neutralRole(role string) wire.Role {
	switch role {
	case "model":
		return wire.RoleAssistant
	case "", "function":
		return wire.RoleUser
	}
	return wire.Role(role)
}

// appendDeclared adds the functions that one entry of "tools" declares, and
// what else is in it as a tool of the provider's.
func appendDeclared(tools []wire.Tool, entry jsontext.Value) []wire.Tool {
	var others rawjson.Members
	c := rawjson.New(entry)
	for c.Object(); c.More(); {
		name := camel(c.Name())
		if name != "functionDeclarations" {
			others.Add([]byte(name), c.Value())
			continue
		}
		for c.Array(); c.More(); {
			tools = append(tools, decodeTool(&c))
		}
	}
	if raw := others.Value(); raw != nil {
		tools = append(tools, wire.Tool{Raw: raw})
	}
	return tools
}

// decodeTool: a schema is either the API's own dialect ("parameters") or JSON
// Schema ("parametersJsonSchema"); should both be there, the second is Extra.
func decodeTool(c *rawjson.Cursor) wire.Tool {
	var t wire.Tool
	var second jsontext.Value
	var extra rawjson.Members
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "name":
			t.Name = c.Text()
		case "description":
			t.Description = c.Text()
		case "parameters":
			t.Schema = notNull(c.Value())
		case "parametersJsonSchema":
			second = notNull(c.Value())
		default:
			extra.AddSet([]byte(name), c.Value())
		}
	}
	if t.Schema == nil {
		t.Schema = second
	} else if second != nil {
		extra.Add([]byte("parametersJsonSchema"), second)
	}
	t.Extra = extra.Value()
	return t
}

func notNull(v jsontext.Value) jsontext.Value {
	if rawjson.IsNull(v) {
		return nil
	}
	return v
}

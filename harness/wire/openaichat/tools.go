package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

func decodeTools(v jsontext.Value) []wire.Tool {
	var out []wire.Tool
	for a := rawjson.InArray(v); a.More(); {
		out = append(out, decodeTool(&a))
	}
	return out
}

// decodeTool reads a function; anything else (a custom tool, a server's own) is
// kept whole, with its name where it has one.
func decodeTool(c *rawjson.Cursor) wire.Tool {
	var t wire.Tool
	var extra, beside openai.Extra
	start, function, other := c.Mark(), false, false
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			other = string(c.Value()) != `"function"`
		case "function":
			function = c.Kind() == '{'
			t, extra = wire.Tool{}, openai.Extra{}
			for c.Object(); c.More(); {
				name, value := c.Member()
				openai.FunctionMember(&t, &extra, name, value)
			}
		default:
			beside.Add(string(name), c.Value())
		}
	}
	switch raw := c.Since(start); {
	case other:
		return wire.Tool{Name: rawjson.TextOf(rawjson.Get(rawjson.Get(raw, "custom"), "name")), Raw: raw}
	case !function:
		return wire.Tool{Raw: raw}
	}
	if o := beside.Object(); o != nil {
		extra.Add(besideFunction, o)
	}
	t.Extra = extra.Object()
	return t
}

func encodeTools(w *openai.Writer, tools []wire.Tool) {
	w.Name("tools")
	w.Open('[')
	for i := range tools {
		t := &tools[i]
		if t.Raw != nil {
			w.Element(t.Raw)
			continue
		}
		w.Open('{')
		w.Text("type", "function")
		w.Name("function")
		w.Begin('{')
		w.Function(t)
		w.Splice(t.Extra, besideFunction)
		w.Close('}')
		if t.Extra != nil {
			w.Splice(rawjson.Get(t.Extra, besideFunction))
		}
		w.Close('}')
	}
	w.Close(']')
}

// decodeChoice reads tool_choice; false for null. Words and forms other than
// OpenAI's four are kept whole, with the mode that they come to.
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
	case `"any"`: // Mistral
		c.Mode, c.Extra = wire.ChoiceAny, v
	default:
		c.Extra = v
		name := rawjson.Get(rawjson.Get(v, "function"), "name")
		if string(rawjson.Get(v, "type")) == `"function"` && openai.IsString(name) {
			c.Mode, c.Name = wire.ChoiceTool, rawjson.TextOf(name)
			if rawjson.Size(v) == 2 && rawjson.Size(rawjson.Get(v, "function")) == 1 {
				c.Extra = nil
			}
		}
	}
	return true
}

func encodeChoice(w *openai.Writer, c *wire.ToolChoice) {
	switch {
	case c.Extra != nil:
		w.Value("tool_choice", c.Extra)
	case c.Mode == wire.ChoiceAny:
		w.Text("tool_choice", "required")
	case c.Mode == wire.ChoiceTool:
		w.Name("tool_choice")
		w.Begin('{')
		w.Text("type", "function")
		w.Name("function")
		w.Begin('{')
		w.Text("name", c.Name)
		w.Close('}')
		w.Close('}')
	case c.Mode != wire.ChoiceUnset:
		w.Text("tool_choice", string(c.Mode))
	}
	if c.NoParallel {
		w.Bool("parallel_tool_calls", false)
	}
}

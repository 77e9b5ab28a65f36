package gemini

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

func decodeParts(c *rawjson.Cursor) []wire.Block {
	if c.Kind() == '{' { // a single part instead of a list
		return []wire.Block{decodePart(c.Value())}
	}
	var out []wire.Block
	for c.Array(); c.More(); {
		out = append(out, decodePart(c.Value()))
	}
	return out
}

// decodePart: the member that holds the data says what a part is. A
// thoughtSignature beside it stays in Extra, or in Raw.
func decodePart(v jsontext.Value) wire.Block {
	var b wire.Block
	var extra rawjson.Members
	thought := false
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "text":
			b.Kind, b.Text = wire.KindText, c.Text()
		case "thought":
			thought = c.Bool()
		case "functionCall":
			decodeCall(&c, &b, &extra)
		case "functionResponse":
			decodeResult(&c, &b, &extra)
		default:
			extra.AddSet([]byte(name), c.Value())
		}
	}
	switch {
	case b.Kind == "":
		return wire.Block{Kind: wire.KindOpaque, Raw: v}
	case thought && b.Kind == wire.KindText:
		return wire.Block{Kind: wire.KindReasoning, Text: b.Text, Raw: v}
	case thought:
		extra.Add([]byte("thought"), jsontext.Value("true"))
	}
	b.Extra = extra.Value()
	return b
}

// decodeCall: absent args are no arguments; protocol buffers leave out what is
// empty. Members that no field holds are Extra below the part's own name.
func decodeCall(c *rawjson.Cursor, b *wire.Block, extra *rawjson.Members) {
	b.Kind, b.Args = wire.KindToolCall, jsontext.Value("{}")
	var inner rawjson.Members
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "id":
			b.ID = c.Text()
		case "name":
			b.Name = c.Text()
		case "args":
			if v := c.Value(); !rawjson.IsNull(v) {
				b.Args, b.ArgsText = decodeArgs(v)
			}
		default:
			inner.AddSet([]byte(name), c.Value())
		}
	}
	if v := inner.Value(); v != nil {
		extra.Add([]byte("functionCall"), v)
	}
}

// decodeArgs: a string is what a client stores of arguments that are no JSON.
func decodeArgs(v jsontext.Value) (jsontext.Value, string) {
	if text, ok := rawjson.Text(v); ok {
		return nil, text
	}
	return v, ""
}

func decodeResult(c *rawjson.Cursor, b *wire.Block, extra *rawjson.Members) {
	b.Kind = wire.KindToolResult
	var inner rawjson.Members
	var parts []wire.Block
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "id":
			b.ID = c.Text()
		case "name":
			b.Name = c.Text()
		case "response":
			if v := c.Value(); !rawjson.IsNull(v) {
				var text string
				text, b.IsError = resultText(v)
				b.Result = []wire.Block{{Kind: wire.KindText, Text: text}}
			}
		case "parts":
			for c.Array(); c.More(); {
				parts = append(parts, wire.Block{Kind: wire.KindOpaque, Raw: c.Value()})
			}
		default:
			inner.AddSet([]byte(name), c.Value())
		}
	}
	b.Result = append(b.Result, parts...)
	if v := inner.Value(); v != nil {
		extra.Add([]byte("functionResponse"), v)
	}
}

// A response is an object. A result that is a JSON object is that object; any
// other text is {"output": text}, an error is {"error": …}. A result that only
// looks like one of these wrappers is wrapped itself, so that it comes back.

func resultText(v jsontext.Value) (text string, isError bool) {
	switch key, inner := wrapped(v); key {
	case "output":
		text, _ = rawjson.Text(inner)
		return text, false
	case "error":
		if text, ok := rawjson.Text(inner); ok {
			return text, true
		}
		return string(inner), true
	}
	return string(v), false
}

// wrapped tells which wrapper an object is: {"output": string}, or {"error":
// string or object}; "" for neither.
func wrapped(v jsontext.Value) (key string, inner jsontext.Value) {
	if len(v) == 0 || v[0] != '{' {
		return "", nil
	}
	c := rawjson.New(v)
	n := 0
	for c.Object(); c.More(); n++ {
		key = string(c.Name())
		inner = c.Value()
	}
	if n == 1 && (key == "output" && inner[0] == '"' || key == "error" && (inner[0] == '"' || inner[0] == '{')) {
		return key, inner
	}
	return "", nil
}

func appendResult(dst []byte, text string, isError bool) []byte {
	object := strings.HasPrefix(text, "{") && rawjson.Valid([]byte(text)) && strings.HasSuffix(text, "}")
	if isError {
		dst = append(dst, `{"error":`...)
		if object {
			return append(append(dst, text...), '}')
		}
		return append(rawjson.Quote(dst, text), '}')
	}
	if object {
		if key, _ := wrapped(jsontext.Value(text)); key == "" {
			return append(dst, text...)
		}
	}
	return append(rawjson.Quote(append(dst, `{"output":`...), text), '}')
}

func appendPart(dst []byte, b *wire.Block) []byte {
	if b.Raw != nil {
		return append(dst, b.Raw...)
	}
	switch b.Kind {
	case wire.KindToolCall:
		return appendCall(dst, b)
	case wire.KindToolResult:
		return appendResponse(dst, b)
	case wire.KindReasoning:
		dst = rawjson.Quote(append(dst, `{"text":`...), b.Text)
		dst = append(dst, `,"thought":true`...)
	default:
		dst = rawjson.Quote(append(dst, `{"text":`...), b.Text)
	}
	return append(rawjson.Splice(dst, b.Extra), '}')
}

func appendCall(dst []byte, b *wire.Block) []byte {
	dst = append(dst, `{"functionCall":{`...)
	dst = appendIDName(dst, b)
	dst = append(dst, `,"args":`...)
	if b.Args != nil {
		dst = append(dst, b.Args...)
	} else {
		dst = rawjson.Quote(dst, b.ArgsText)
	}
	return appendExtras(dst, b.Extra, "functionCall")
}

func appendResponse(dst []byte, b *wire.Block) []byte {
	dst = append(dst, `{"functionResponse":{`...)
	dst = appendIDName(dst, b)
	if text, ok := joined(b.Result); ok {
		dst = appendResult(append(dst, `,"response":`...), text, b.IsError)
	}
	n := 0
	for i := range b.Result {
		if b.Result[i].Raw == nil {
			continue
		}
		if n++; n == 1 {
			dst = append(dst, `,"parts":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, b.Result[i].Raw...)
	}
	if n > 0 {
		dst = append(dst, ']')
	}
	return appendExtras(dst, b.Extra, "functionResponse")
}

func appendIDName(dst []byte, b *wire.Block) []byte {
	if b.ID != "" {
		dst = append(rawjson.Quote(append(dst, `"id":`...), b.ID), ',')
	}
	return rawjson.Quote(append(dst, `"name":`...), b.Name)
}

// appendExtras closes the inner object and the part around it, each with the
// members that are its own.
func appendExtras(dst []byte, extra jsontext.Value, inner string) []byte {
	dst = append(rawjson.Splice(dst, rawjson.Get(extra, inner)), '}')
	return append(rawjson.Splice(dst, rawjson.Without(extra, inner)), '}')
}

// joined is the text of a result, if it has any; several texts are lines.
func joined(blocks []wire.Block) (string, bool) {
	var texts []string
	for i := range blocks {
		if blocks[i].Raw == nil {
			texts = append(texts, blocks[i].Text)
		}
	}
	return strings.Join(texts, "\n"), len(texts) > 0
}

package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// requestCall reads an element of tool_calls that a request repeats: what is
// unusual about it is kept by keeping it whole.
func requestCall(c *rawjson.Cursor) wire.Block {
	start := c.Mark()
	b, text, plain := readCall(c, false)
	setArgs(&b, text)
	if !plain {
		b.Raw = c.Since(start)
	}
	return b
}

// setArgs is for calls of the past: nobody asks for their defects any more.
func setArgs(b *wire.Block, text callText) {
	switch {
	case text.object != nil:
		b.Args = text.object
	case text.custom:
		b.ArgsText = string(text.text)
	default:
		openai.SetArgs(b, text.text, false)
	}
}

// callText is what a call was given.
type callText struct {
	text   []byte
	object jsontext.Value // the arguments were JSON, not text
	custom bool           // a custom tool's input: free text, not JSON
}

// readCall reads an element of tool_calls, without its arguments' judgement.
// plain says that its fields and Extra hold all there is. positional drops the
// index, which says nothing where the calls are in a list.
func readCall(c *rawjson.Cursor, positional bool) (b wire.Block, text callText, plain bool) {
	b.Kind, plain = wire.KindToolCall, c.Kind() == '{'
	var extra openai.Extra
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "id":
			plain = plain && c.Kind() == '"'
			b.ID = rawjson.TextOf(c.Value())
		case "type":
			plain = string(c.Value()) == `"function"` && plain
		case "function":
			plain = readFunction(c, &b, &text) && plain
		case "custom":
			custom := c.Value()
			text.custom, plain = true, false
			b.Name = rawjson.TextOf(rawjson.Get(custom, "name"))
			text.text, _ = rawjson.TextBytes(rawjson.Get(custom, "input"))
		default:
			if v := c.Value(); !positional || string(name) != "index" {
				extra.Add(string(name), v)
			}
		}
	}
	b.Extra = extra.Object()
	return b, text, plain
}

// readFunction reads {"name":…,"arguments":"…"}; false when it is not just that.
func readFunction(c *rawjson.Cursor, b *wire.Block, text *callText) (plain bool) {
	plain = c.Kind() == '{'
	for c.Object(); c.More(); {
		name, value := c.Member()
		switch string(name) {
		case "name":
			b.Name = rawjson.TextOf(value)
			plain = plain && openai.IsString(value)
		case "arguments":
			var isText bool
			text.text, isText = rawjson.TextBytes(value)
			if openai.IsObject(value) {
				text.object = value
			}
			plain = plain && isText
		default:
			plain = false
		}
	}
	return plain
}

// legacyCall reads the function_call of a message.
func legacyCall(v jsontext.Value) wire.Block {
	b, text := readLegacy(v)
	setArgs(&b, text)
	return b
}

// readLegacy reads it without its arguments' judgement.
func readLegacy(v jsontext.Value) (b wire.Block, text callText) {
	b = wire.Block{Kind: wire.KindToolCall, Raw: legacyRaw(v)}
	c := rawjson.New(v)
	readFunction(&c, &b, &text)
	return b, text
}

func legacyRaw(call jsontext.Value) jsontext.Value {
	var e openai.Extra
	e.Add("function_call", call)
	return e.Object()
}

// isLegacy tells a legacy call by its Raw.
func isLegacy(b *wire.Block) bool { return rawjson.Get(b.Raw, "function_call") != nil }

// isReasoning tells whether a message's member is a server's reasoning:
// DeepSeek, xAI, Z.ai, Alibaba, vLLM (reasoning_content), Groq (reasoning),
// OpenRouter (reasoning and reasoning_details), GitHub Copilot (reasoning_text,
// reasoning_opaque), LiteLLM (thinking_blocks).
func isReasoning(name []byte) bool {
	switch string(name) {
	case "reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "reasoning_opaque", "thinking_blocks":
		return true
	}
	return false
}

// thought adds the readable text of a reasoning member to what others said:
// servers that send several repeat the same text.
func thought(before string, v jsontext.Value) string {
	if before != "" {
		return before
	}
	if s, ok := rawjson.Text(v); ok {
		return s
	}
	var out []byte
	for a := rawjson.InArray(v); a.More(); {
		part := a.Value()
		for _, name := range [...]string{"text", "summary", "thinking"} {
			out = append(out, rawjson.TextOf(rawjson.Get(part, name))...)
		}
	}
	return string(out)
}

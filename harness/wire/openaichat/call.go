package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// requestCall reads an element of tool_calls that a request repeats: what is
// unusual about it is kept by keeping it whole.
func requestCall(v jsontext.Value) wire.Block {
	b, text, plain := readCall(v, false)
	setArgs(&b, text)
	if !plain {
		b.Raw = v
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
func readCall(v jsontext.Value, positional bool) (b wire.Block, text callText, plain bool) {
	b.Kind, plain = wire.KindToolCall, openai.IsObject(v)
	var extra openai.Extra
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch string(name) {
		case "id":
			b.ID = rawjson.TextOf(value)
			plain = plain && openai.IsString(value)
		case "type":
			plain = plain && string(value) == `"function"`
		case "function":
			plain = readFunction(&b, &text, value) && plain
		case "custom":
			text.custom, plain = true, false
			b.Name = rawjson.TextOf(rawjson.Get(value, "name"))
			text.text, _ = rawjson.TextBytes(rawjson.Get(value, "input"))
		case "index":
			if positional {
				continue
			}
			extra.Add("index", value)
		default:
			extra.Add(string(name), value)
		}
	}
	b.Extra = extra.Object()
	return b, text, plain
}

// readFunction reads {"name":…,"arguments":"…"}; false when it is not just that.
func readFunction(b *wire.Block, text *callText, v jsontext.Value) (plain bool) {
	plain = openai.IsObject(v)
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
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
	b := wire.Block{Kind: wire.KindToolCall}
	var text callText
	readFunction(&b, &text, v)
	setArgs(&b, text)
	b.Raw = legacyRaw(v)
	return b
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

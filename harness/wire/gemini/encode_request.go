package gemini

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// EncodeRequest implements wire.Codec. Model and streaming mode are in the Path.
func (Codec) EncodeRequest(dst []byte, r *wire.Request) ([]byte, error) {
	if r.ToolChoice.NoParallel {
		return dst, failure.Errorf(failure.ScenarioInvalid, "%s: encoding tool_choice: the API cannot forbid parallel calls; leave that out", wire.GeminiGenerate)
	}
	dst = append(dst, `{"contents":[`...)
	for i := range r.Messages {
		dst = appendMessage(comma(dst, i), &r.Messages[i])
	}
	dst = append(dst, ']')
	if r.System != nil {
		dst = appendParts(append(dst, `,"systemInstruction":{"parts":`...), r.System)
		dst = append(dst, '}')
	}
	dst = appendTools(dst, r.Tools)
	dst = appendToolConfig(dst, r)
	dst = appendGenerationConfig(dst, r)
	for _, p := range r.Params {
		if p.Name != "toolConfig" && p.Name != "generationConfig" {
			dst = append(rawjson.Quote(append(dst, ','), p.Name), ':')
			dst = append(dst, p.Value...)
		}
	}
	return append(dst, '}'), nil
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendMessage(dst []byte, m *wire.Message) []byte {
	role := m.Role
	if role == wire.RoleAssistant {
		role = "model"
	}
	dst = rawjson.Quote(append(dst, `{"role":`...), role)
	dst = appendParts(append(dst, `,"parts":`...), m.Blocks)
	return append(rawjson.Splice(dst, m.Extra), '}')
}

func appendParts(dst []byte, blocks []wire.Block) []byte {
	dst = append(dst, '[')
	for i := range blocks {
		dst = appendPart(comma(dst, i), &blocks[i])
	}
	return append(dst, ']')
}

// appendTools puts functions that follow each other into one entry.
func appendTools(dst []byte, tools []wire.Tool) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i := range tools {
		open := i > 0 && tools[i-1].Raw == nil // an entry with functions
		switch t := &tools[i]; {
		case t.Raw == nil && open:
			dst = appendTool(append(dst, ','), t)
		case t.Raw == nil:
			dst = appendTool(append(comma(dst, i), `{"functionDeclarations":[`...), t)
		default:
			if open {
				dst = append(dst, "]}"...)
			}
			dst = append(comma(dst, i), t.Raw...)
		}
	}
	if tools[len(tools)-1].Raw == nil {
		dst = append(dst, "]}"...)
	}
	return append(dst, ']')
}

func appendTool(dst []byte, t *wire.Tool) []byte {
	dst = rawjson.Quote(append(dst, `{"name":`...), t.Name)
	if t.Description != "" {
		dst = rawjson.Quote(append(dst, `,"description":`...), t.Description)
	}
	if t.Schema != nil {
		member := `,"parametersJsonSchema":`
		if ownDialect(t) {
			member = `,"parameters":`
		}
		dst = append(append(dst, member...), t.Schema...)
	}
	return append(rawjson.Splice(dst, t.Extra), '}')
}

// ownDialect tells whether a schema is written in the API's own dialect, which
// has types in capitals and knows less; JSON Schema has its own member.
func ownDialect(t *wire.Tool) bool {
	kind, _ := rawjson.Text(rawjson.Get(t.Schema, "type"))
	return kind != "" && strings.ToUpper(kind) == kind || rawjson.Get(t.Extra, "parametersJsonSchema") != nil
}

func appendToolConfig(dst []byte, r *wire.Request) []byte {
	c, rest := &r.ToolChoice, param(r, "toolConfig")
	chosen := c.Mode != wire.ChoiceUnset || c.Name != "" || c.Extra != nil
	if !chosen {
		if rest != nil {
			dst = append(append(dst, `,"toolConfig":`...), rest...)
		}
		return dst
	}
	dst = append(dst, `,"toolConfig":{"functionCallingConfig":{`...)
	begun := len(dst)
	if c.Mode != wire.ChoiceUnset {
		dst = rawjson.Quote(append(dst, `"mode":`...), rawMode(c.Mode))
	}
	if c.Name != "" {
		dst = append(comma(dst, len(dst)-begun), `"allowedFunctionNames":[`...)
		dst = append(rawjson.Quote(dst, c.Name), ']')
	}
	dst = spliceFirst(dst, begun, c.Extra)
	return append(rawjson.Splice(append(dst, '}'), rest), '}')
}

// spliceFirst is Splice where there may be no member yet.
func spliceFirst(dst []byte, begun int, v jsontext.Value) []byte {
	at := len(dst)
	dst = rawjson.Splice(dst, v)
	if at == begun && len(dst) > at {
		dst = append(dst[:at], dst[at+1:]...)
	}
	return dst
}

func rawMode(mode wire.ChoiceMode) string {
	if mode == wire.ChoiceTool {
		return "ANY"
	}
	for _, m := range modes {
		if m.mode == mode {
			return m.raw
		}
	}
	return string(mode)
}

func appendGenerationConfig(dst []byte, r *wire.Request) []byte {
	rest := param(r, "generationConfig")
	if r.MaxTokens == 0 {
		if rest != nil {
			dst = append(append(dst, `,"generationConfig":`...), rest...)
		}
		return dst
	}
	dst = strconv.AppendInt(append(dst, `,"generationConfig":{"maxOutputTokens":`...), int64(r.MaxTokens), 10)
	return append(rawjson.Splice(dst, rest), '}')
}

func param(r *wire.Request, name string) jsontext.Value {
	for _, p := range r.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

package anthropic

import (
	"strconv"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// EncodeRequest implements wire.Codec.
func (Codec) EncodeRequest(dst []byte, r *wire.Request) ([]byte, error) {
	dst = rawjson.Quote(append(dst, `{"model":`...), r.Model)
	if r.MaxTokens > 0 {
		dst = strconv.AppendInt(append(dst, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	}
	if r.System != nil {
		dst = appendContent(append(dst, `,"system":`...), r.System)
	}
	dst = append(dst, `,"messages":[`...)
	for i := range r.Messages {
		dst = appendMessage(comma(dst, i), &r.Messages[i])
	}
	dst = appendTools(append(dst, ']'), r.Tools)
	dst = appendChoice(dst, &r.ToolChoice)
	if r.Stream {
		dst = append(dst, `,"stream":true`...)
	}
	for _, p := range r.Params {
		dst = rawjson.Quote(append(dst, ','), p.Name)
		dst = append(append(dst, ':'), p.Value...)
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
	if role == wire.RoleDeveloper {
		role = wire.RoleSystem
	}
	dst = rawjson.Quote(append(dst, `{"role":`...), role)
	dst = appendContent(append(dst, `,"content":`...), m.Blocks)
	return append(rawjson.Splice(dst, m.Extra), '}')
}

// appendContent writes a lone text as a string, anything else as blocks.
func appendContent(dst []byte, blocks []wire.Block) []byte {
	if len(blocks) == 1 && blocks[0].Kind == wire.KindText && blocks[0].Extra == nil && blocks[0].Raw == nil {
		return rawjson.Quote(dst, blocks[0].Text)
	}
	return appendBlocks(dst, blocks)
}

func appendBlocks(dst []byte, blocks []wire.Block) []byte {
	dst = append(dst, '[')
	for i := range blocks {
		dst = appendBlock(comma(dst, i), &blocks[i])
	}
	return append(dst, ']')
}

func appendBlock(dst []byte, b *wire.Block) []byte {
	if b.Raw != nil {
		return append(dst, b.Raw...)
	}
	switch b.Kind {
	case wire.KindToolCall:
		dst = rawjson.Quote(append(dst, `{"type":"tool_use","id":`...), b.ID)
		dst = rawjson.Quote(append(dst, `,"name":`...), b.Name)
		dst = appendInput(append(dst, `,"input":`...), b)
	case wire.KindToolResult:
		dst = rawjson.Quote(append(dst, `{"type":"tool_result","tool_use_id":`...), b.ID)
		if b.Result != nil {
			dst = appendContent(append(dst, `,"content":`...), b.Result)
		}
		if b.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
	case wire.KindReasoning:
		dst = rawjson.Quote(append(dst, `{"type":"thinking","thinking":`...), b.Text)
		dst = append(dst, `,"signature":""`...)
	default:
		dst = rawjson.Quote(append(dst, `{"type":"text","text":`...), b.Text)
	}
	return append(rawjson.Splice(dst, b.Extra), '}')
}

// appendInput writes arguments that are no JSON as a string: decodeInput reads
// them back, and the provider says what is wrong.
func appendInput(dst []byte, b *wire.Block) []byte {
	if b.Args != nil {
		return append(dst, b.Args...)
	}
	return rawjson.Quote(dst, b.ArgsText)
}

func appendTools(dst []byte, tools []wire.Tool) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i := range tools {
		dst = appendTool(comma(dst, i), &tools[i])
	}
	return append(dst, ']')
}

func appendTool(dst []byte, t *wire.Tool) []byte {
	if t.Raw != nil {
		return append(dst, t.Raw...)
	}
	dst = rawjson.Quote(append(dst, `{"name":`...), t.Name)
	if t.Description != "" {
		dst = rawjson.Quote(append(dst, `,"description":`...), t.Description)
	}
	if t.Schema != nil {
		dst = append(append(dst, `,"input_schema":`...), t.Schema...)
	}
	return append(rawjson.Splice(dst, t.Extra), '}')
}

func appendChoice(dst []byte, c *wire.ToolChoice) []byte {
	mode := c.Mode
	if mode == wire.ChoiceUnset {
		if !c.NoParallel && c.Extra == nil {
			return dst
		}
		mode = wire.ChoiceAuto
	}
	dst = rawjson.Quote(append(dst, `,"tool_choice":{"type":`...), mode)
	if c.Name != "" {
		dst = rawjson.Quote(append(dst, `,"name":`...), c.Name)
	}
	if c.NoParallel {
		dst = append(dst, `,"disable_parallel_tool_use":true`...)
	}
	return append(rawjson.Splice(dst, c.Extra), '}')
}

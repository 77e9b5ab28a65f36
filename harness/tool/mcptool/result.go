package mcptool

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// ResultOf makes a tool's result of a server's answer.
func ResultOf(res *mcp.CallToolResult) tool.Result {
	if res.NeedsInput() {
		return tool.Result{Err: &tool.Error{
			Code: tool.CodeUpstream, Message: "the tool cannot go on", Class: failure.ToolUnavailable,
			Detail: "the server asks for input of a person, which is not offered",
		}}
	}
	content := contentOf(res)
	e, reported := tool.Reported([]byte(content), res.IsError)
	switch {
	case !res.IsError && !reported:
		return tool.Result{Content: content}
	case !res.IsError:
		e.Detail = "isError is false, and the answer says ok: false; the two should agree"
	case !reported:
		e = &tool.Error{Code: tool.CodeToolError, Message: content, Class: failure.ToolFailed}
		if saysOK(content) {
			e.Detail = "isError is true, and the answer says ok: true; the two should agree"
		}
		if content == "" {
			e.Message = "the tool failed"
		}
	}
	return tool.Result{Err: e}
}

// Refused makes a tool's result of an error of the protocol that came instead of an
// answer.
func Refused(rpc *jsonrpc.Error) tool.Result { return tool.Result{Err: ofRPC(rpc)} }

func saysOK(content string) bool {
	var said struct {
		OK *bool `json:"ok"`
	}
	return json.Unmarshal([]byte(content), &said) == nil && said.OK != nil && *said.OK
}

// contentOf is the structured content as JSON, else the texts. A text that says
// the same as the structured content is preferred: its numbers are as the server
// wrote them.
func contentOf(res *mcp.CallToolResult) string {
	text := texts(res.Content)
	if res.StructuredContent == nil || same(text, res.StructuredContent) {
		return text
	}
	structured, err := json.Marshal(res.StructuredContent, json.Deterministic(true))
	if err != nil {
		return text
	}
	return string(structured)
}

func same(text string, structured any) bool {
	var v any
	return jsontext.Value(text).IsValid() && json.Unmarshal([]byte(text), &v) == nil && reflect.DeepEqual(v, structured)
}

// texts joins the parts; one that is no text is named.
func texts(parts []mcp.Content) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case *mcp.TextContent:
			out[i] = p.Text
		case *mcp.ImageContent:
			out[i] = fmt.Sprintf("[image, %s, %d bytes]", p.MIMEType, len(p.Data))
		case *mcp.AudioContent:
			out[i] = fmt.Sprintf("[audio, %s, %d bytes]", p.MIMEType, len(p.Data))
		case *mcp.ResourceLink:
			out[i] = "[link to " + p.URI + "]"
		case *mcp.EmbeddedResource:
			out[i] = embedded(p)
		default:
			out[i] = "[content of a kind that is not known here]"
		}
	}
	return strings.Join(out, "\n")
}

func embedded(p *mcp.EmbeddedResource) string {
	if p.Resource == nil {
		return "[resource]"
	}
	if p.Resource.Text != "" {
		return p.Resource.Text
	}
	return fmt.Sprintf("[resource %s, %s, %d bytes]", p.Resource.URI, p.Resource.MIMEType, len(p.Resource.Blob))
}

package mcpproxy

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// resultOf is what an answer of a server means to a run.
func resultOf(r *jsonrpc.Response) tool.Result {
	if rpc := new(jsonrpc.Error); errors.As(r.Error, &rpc) {
		return mcptool.Refused(rpc)
	}
	var res mcp.CallToolResult
	if err := res.UnmarshalJSON(r.Result); err != nil {
		return tool.Result{Err: &tool.Error{
			Code: tool.CodeBadOutput, Message: "the tool's answer cannot be read", Class: failure.ToolBadOutput, Detail: err.Error(),
		}}
	}
	return mcptool.ResultOf(&res)
}

// wording is how a recording keeps the answer of a server word for word, beside
// what it means.
type wording struct {
	MCP struct {
		Result jsontext.Value `json:"result,omitzero"`
		Error  jsontext.Value `json:"error,omitzero"`
	} `json:"mcp"`
}

// wordsOf is the wording of an answer, for cassette.Notes.Unknown.
func wordsOf(r *jsonrpc.Response) jsontext.Value {
	var w wording
	if rpc := new(jsonrpc.Error); errors.As(r.Error, &rpc) {
		w.MCP.Error = jsontext.Value(must(json.Marshal(wireError{rpc.Code, rpc.Message, jsontext.Value(rpc.Data)})))
	} else {
		w.MCP.Result = jsontext.Value(r.Result)
	}
	text, err := json.Marshal(w)
	if err == nil {
		text, err = jsondoc.Canonical(nil, text)
	}
	if err != nil {
		return nil // a result that is no JSON cannot be kept, and will be made anew
	}
	return text
}

type wireError struct {
	Code    int64          `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// spoken is the answer that a recording has kept; nil when it kept none.
func spoken(notes *cassette.Notes) *jsonrpc.Response {
	var w wording
	if notes == nil || len(notes.Unknown) == 0 || json.Unmarshal(notes.Unknown, &w) != nil {
		return nil
	}
	var e wireError
	switch {
	case w.MCP.Result != nil:
		return &jsonrpc.Response{Result: []byte(w.MCP.Result)}
	case w.MCP.Error != nil && json.Unmarshal(w.MCP.Error, &e) == nil:
		return &jsonrpc.Response{Error: &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: []byte(e.Data)}}
	}
	return nil
}

// answerOf words a result that no server has worded: of a fault, or of a recording
// that was made otherwise.
func answerOf(r tool.Result, d *tool.Decl) *jsonrpc.Response {
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var out struct {
		Content    []text         `json:"content"`
		Structured jsontext.Value `json:"structuredContent,omitzero"`
		IsError    bool           `json:"isError,omitzero"`
	}
	content := r.Content
	if r.Err != nil {
		content, out.IsError = tool.ErrorText(r.Err), true
	} else if v := jsontext.Value(content); d.Output != nil && v.Kind() == '{' && v.IsValid() {
		out.Structured = v
	}
	out.Content = []text{{"text", content}}
	return &jsonrpc.Response{Result: must(json.Marshal(out, jsontext.AllowInvalidUTF8(true)))}
}

// must is for values that have a JSON spelling.
func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

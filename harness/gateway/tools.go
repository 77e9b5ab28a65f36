package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/tool"
)

// toolServer serves the run's tools by MCP (streamable HTTP, without sessions). Each
// call goes through the box, so that checks, guard, approval, faults, the ledger and
// the recording hold as for the reference loop. It is nil where there are none.
func toolServer(life context.Context, box *tool.Box) http.Handler {
	if box == nil {
		return nil
	}
	var order []string
	server := mcp.NewServer(&mcp.Implementation{Name: "retake", Version: "1"}, &mcp.ServerOptions{PageSize: len(box.Decls()) + 1})
	for _, d := range box.Decls() {
		if d.Provider == nil {
			server.AddTool(declared(&d), called(life, box, &d))
			order = append(order, d.Name)
		}
	}
	if order == nil {
		return nil
	}
	server.AddReceivingMiddleware(listedIn(order))
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
	})
}

// listedIn has the tools listed in the scenario's order, where the library sorts
// them by name: an agent passes them on to its model as they come, and another order
// is another request.
func listedIn(order []string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok && list != nil {
				slices.SortFunc(list.Tools, func(a, b *mcp.Tool) int {
					return cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name))
				})
			}
			return result, err
		}
	}
}

// declared is a tool as MCP lists it.
func declared(d *tool.Decl) *mcp.Tool {
	t := &mcp.Tool{
		Name: d.Name, Description: d.Description, InputSchema: objectSchema(d.Input),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !d.Writes(), IdempotentHint: d.Key != nil},
	}
	if h := d.Hints; h != nil {
		t.Annotations.DestructiveHint, t.Annotations.OpenWorldHint = h.Destructive, h.OpenWorld
	}
	if d.Output != nil {
		t.OutputSchema = d.Output
	}
	return t
}

// objectSchema is a schema of arguments as MCP wants it: of an object, and with the
// types of JSON Schema where they are written in Gemini's dialect.
func objectSchema(schema jsontext.Value) any {
	none := jsontext.Value(`{"type":"object"}`)
	if schema == nil {
		return none
	}
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return none
	}
	switch s["type"] {
	case "object":
		return schema
	case "OBJECT":
		lowerTypes(s)
		return s
	default:
		s["type"] = "object"
		return s
	}
}

func lowerTypes(v any) {
	switch v := v.(type) {
	case map[string]any:
		if t, ok := v["type"].(string); ok {
			v["type"] = strings.ToLower(t)
		}
		for _, member := range v {
			lowerTypes(member)
		}
	case []any:
		for _, element := range v {
			lowerTypes(element)
		}
	}
}

// called runs the calls of a tool. life has the run's clock, which the contexts of
// the MCP server have not.
func called(life context.Context, box *tool.Box, d *tool.Decl) mcp.ToolHandler {
	name, structured := d.Name, d.Output != nil
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		own, cancel := context.WithCancel(life)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		args := string(req.Params.Arguments)
		if args == "" || args == "null" {
			args = "{}"
		}
		answer, err := box.Call(own, name, "", args)
		if err != nil { // it ends the run; what the program makes of it does not count
			return failed("retake: " + err.Error()), nil
		}
		if answer.IsError {
			return failed(answer.Text), nil
		}
		out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Text}}}
		if v := jsontext.Value(answer.Text); structured && v.Kind() == '{' && v.IsValid() {
			out.StructuredContent = v
		}
		return out, nil
	}
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

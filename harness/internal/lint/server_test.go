package lint_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// specimen is a server in this process.
type specimen struct {
	tools  []served
	widget *mcp.Resource
	html   string
	// contents has what the widget says of itself when it is read, besides its page.
	contents mcp.ResourceContents
}

// served is a tool with what answers.
type served struct {
	decl   string // as a server lists it
	answer mcp.ToolHandler
}

func (s *specimen) server(tb testing.TB) *mcp.Server {
	tb.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "specimen", Version: "1"}, nil)
	for _, t := range s.tools {
		var d said
		if err := json.Unmarshal([]byte(t.decl), &d); err != nil {
			tb.Fatalf("%v in %s", err, t.decl)
		}
		listed := &mcp.Tool{Name: d.Name, Description: d.Description, InputSchema: d.Input}
		if d.Output != nil {
			listed.OutputSchema = d.Output
		}
		if d.Meta != nil {
			if err := json.Unmarshal(d.Meta, &listed.Meta); err != nil {
				tb.Fatal(err)
			}
		}
		if a := d.Annotations; a != nil {
			listed.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: a.ReadOnly != nil && *a.ReadOnly, DestructiveHint: a.Destructive, OpenWorldHint: a.OpenWorld, IdempotentHint: a.Idempotent != nil && *a.Idempotent}
		}
		answer := t.answer
		if answer == nil {
			answer = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return text(`{"ok":true}`), nil
			}
		}
		server.AddTool(listed, answer)
	}
	if s.widget != nil {
		server.AddResource(s.widget, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := s.contents
			c.URI, c.Text = s.widget.URI, s.html
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		})
	}
	return server
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// connect begins a session that ends with the test.
func connect(tb testing.TB, server *mcp.Server) *mcptool.Session {
	tb.Helper()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(tb.Context(), there, nil); err != nil {
		tb.Fatal(err)
	}
	session, err := mcptool.Connect(tb.Context(), mcptool.Server{Name: "shop", Transport: here}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(session.Close)
	return session
}

func readSet(tb testing.TB, s *specimen) *lint.Set {
	tb.Helper()
	set, err := lint.Read(tb.Context(), connect(tb, s.server(tb)), "shop", lint.Place{})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// merged is a JSON object with the members of change in the place of its own; null
// drops one.
func merged(tb testing.TB, object, change string) string {
	tb.Helper()
	members := map[string]jsontext.Value{}
	for _, part := range []string{object, change} {
		if part == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part), &members); err != nil {
			tb.Fatalf("%v in %s", err, part)
		}
	}
	for name, v := range members {
		if string(v) == "null" {
			delete(members, name)
		}
	}
	out, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

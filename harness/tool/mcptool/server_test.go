package mcptool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

// The test's own binary plays the servers.
func TestMain(m *testing.M) {
	serve := func(before func()) func() {
		return func() {
			before()
			if err := newServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	processtest.Main(m, map[string]func(){
		"server": serve(func() {}),
		"noisy": serve(func() {
			fmt.Fprint(os.Stderr, strings.Repeat("noise ", 200_000))
		}),
		"family": serve(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = processtest.Env("sleeps")
			_ = cmd.Start()
		}),
		// It neither ends with its input nor listens to a signal's polite form.
		"stays":   func() { serve(func() {})(); time.Sleep(time.Hour) },
		"sleeps":  func() { time.Sleep(time.Hour) },
		"chatter": func() { fmt.Println("Server is starting…"); time.Sleep(time.Hour) },
		"refuses": func() { fmt.Fprintln(os.Stderr, "no database at", os.Getenv("DB")); os.Exit(2) },
		"silent":  func() { _, _ = io.Copy(io.Discard, os.Stdin) },
	})
}

type terms struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Total int `json:"total"`
}

// newServer has a tool for each way to answer. Its list comes in pages of two.
func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	yes, no := true, false
	s.AddTool(&mcp.Tool{
		Name: "look", Description: "Looks, and changes nothing.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"q":{"type":"string"},"max":{"type":"number","default":1.50}}}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, _ := json.Marshal(map[string]any{"args": jsontext.Value(r.Params.Arguments), "task": r.Params.Meta["io.github.retake-harness/task_id"], "attempt": r.Params.Meta["io.github.retake-harness/attempt_id"]}, json.Deterministic(true))
		return said(string(text)), nil
	})
	raw := func(name string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: jsontext.Value(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}}, h)
	}
	raw("say", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args struct {
			Text  string `json:"text"`
			Error bool   `json:"error"`
		}
		err := json.Unmarshal(r.Params.Arguments, &args)
		out := said(args.Text)
		out.IsError = args.Error
		return out, err
	})
	raw("parts", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "two of them"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("1234")},
			&mcp.ResourceLink{URI: "file:///a", Name: "a"},
		}}, nil
	})
	raw("die", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "panic: out of memory")
		os.Exit(7)
		return nil, errors.ErrUnsupported
	})
	raw("hang", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		var args struct {
			Note string `json:"note"`
		}
		if json.Unmarshal(r.Params.Arguments, &args) == nil && args.Note != "" {
			_ = os.WriteFile(args.Note, []byte("cancelled"), 0o600)
		}
		return nil, ctx.Err()
	})
	raw("babble", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Println("DEBUG: order saved")
		return said("done"), nil
	})
	raw("long", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return said(strings.Repeat("x", 200_000)), nil
	})
	raw("broken", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("at /srv/app/db.go:12")
	})
	raw("precise", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		const text = `{"total":12345678901234567890,"price":3.50}`
		out := said(text)
		out.StructuredContent = jsontext.Value(text)
		return out, nil
	})
	raw("structured", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		out := said("There are two.")
		out.StructuredContent = jsontext.Value(`{"n":2,"gifts":[]}`)
		return out, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "sum", Description: "Adds."}, func(_ context.Context, _ *mcp.CallToolRequest, in terms) (*mcp.CallToolResult, sum, error) {
		return nil, sum{in.A + in.B}, nil
	})
	return s
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

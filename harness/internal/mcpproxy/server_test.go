package mcpproxy_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/internal/mcpproxy"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

// The test's own binary plays a server that is a program.
func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){
		"server": func() { _ = new(world).server().Run(context.Background(), &mcp.StdioTransport{}) },
		"noisy": func() {
			fmt.Println("Server is starting…")
			_ = new(world).server().Run(context.Background(), &mcp.StdioTransport{})
		},
		"refuses": func() { fmt.Fprintln(os.Stderr, "no database"); os.Exit(2) },
	})
}

// world is what a server works on.
type world struct {
	mu        sync.Mutex
	orders    int
	cancelled chan struct{} // closed by a call that is cancelled; nil: nobody listens
	begun     chan struct{} // gets a call that waits
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.orders
}

// server has a tool for each way to answer; its list comes in pages of two.
func (w *world) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "7"}, &mcp.ServerOptions{PageSize: 2, Instructions: "Be kind."})
	add := func(name, output string, h mcp.ToolHandler) {
		t := &mcp.Tool{Name: name, InputSchema: jsontext.Value(`{"type":"object"}`)}
		if output != "" {
			t.OutputSchema = jsontext.Value(output)
		}
		s.AddTool(t, h)
	}
	add("order", `{"type":"object"}`, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.orders++
		text := fmt.Sprintf(`{"order":"O-%d","args":%s}`, w.orders, r.Params.Arguments)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ordered"}}, StructuredContent: jsontext.Value(text)}, nil
	})
	add("picture", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: []byte("1234")}, &mcp.TextContent{Text: "a gift"}}}, nil
	})
	add("fail", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "sold out"}}}, nil
	})
	add("secret", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the key is sk-canary-4711"}}}, nil
	})
	add("count", "", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "counted"}}}, nil
	})
	add("ask", "", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		roots, err := r.Session.ListRoots(ctx, nil) //nolint:staticcheck // servers still ask
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: roots.Roots[0].URI}}}, nil
	})
	add("wait", "", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.begun <- struct{}{}
		<-ctx.Done()
		close(w.cancelled)
		return nil, ctx.Err()
	})
	add("die", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
		return nil, nil //nolint:nilnil // never
	})
	s.AddResource(&mcp.Resource{URI: "shop://terms", Name: "terms"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "shop://terms", Text: "No returns."}}}, nil
	})
	return s
}

// connect gives each client a session with the world's server.
func (w *world) connect(ctx context.Context) (mcp.Connection, error) {
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := w.server().Connect(ctx, theirs, nil); err != nil {
		return nil, err
	}
	return ours.Connect(ctx)
}

// client connects the official SDK's client to the proxy. leave closes it and waits
// until the proxy has done with it.
func client(tb testing.TB, p *mcpproxy.Proxy, o *mcp.ClientOptions) (session *mcp.ClientSession, leave func()) {
	tb.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	conn, err := theirs.Connect(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.Serve(tb.Context(), conn) }()
	c := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, o)
	session, err = c.Connect(tb.Context(), ours, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return session, func() {
		_ = session.Close()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	}
}

func proxy(tb testing.TB, o mcpproxy.Options) *mcpproxy.Proxy {
	tb.Helper()
	p, err := mcpproxy.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// call gives what a call comes to as JSON, or the error of the protocol.
func call(tb testing.TB, s *mcp.ClientSession, name, args string) string {
	tb.Helper()
	r, err := s.CallTool(tb.Context(), &mcp.CallToolParams{Name: name, Arguments: jsontext.Value(args)})
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

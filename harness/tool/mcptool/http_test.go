package mcptool_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// A tool may ask for an argument in a header, too. The server refuses a call
// without it, also the first one of a session that nobody asked for its tools.
func TestHeadersThatSchemasAskFor(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name:        "order",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return said("ordered"), nil })
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	var lists atomic.Int32
	var region atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Mcp-Method") {
		case "tools/list":
			lists.Add(1)
		case "tools/call":
			region.Store(r.Header.Get("Mcp-Param-Region"))
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	session := connect(t, mcptool.Server{Name: "test", URL: s.URL, Timeout: 20 * time.Second})
	for range 2 {
		if r := call(t, session, "order", `{"region":"us-west1"}`); r.Content != "ordered" {
			t.Errorf("%v: %s", r.Err, r.Err.Detail)
		}
		if got := region.Load(); got != "us-west1" {
			t.Errorf("the header Mcp-Param-Region is %q", got)
		}
	}
	if got := lists.Load(); got != 1 {
		t.Errorf("the tools were listed %d times, and once is enough", got)
	}
}

// polled is a server that ends the stream of a call before its answer. Asked for
// the rest it gives it, or, where it is told to, ends that, too.
type polled struct {
	rest         bool
	calls, polls atomic.Int32
	id           atomic.Value
}

func (p *polled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		p.polls.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		if p.rest && r.Header.Get("Last-Event-ID") == "first" {
			_, _ = fmt.Fprintf(w, "id: last\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n", p.id.Load())
		}
		return
	}
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	_ = json.UnmarshalRead(r.Body, &m)
	switch m.Method {
	case "initialize":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "s1")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"polled","version":"1"},"capabilities":{"tools":{}}}}`, m.ID)
	case "tools/call":
		p.calls.Add(1)
		p.id.Store(string(m.ID))
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "id: first\nretry: 1\ndata: \n\n")
	case "server/discover":
		w.WriteHeader(http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func TestRestOfAStream(t *testing.T) {
	for _, tc := range []struct {
		why   string
		rest  bool
		want  string
		class failure.Class
	}{
		{"a server may end a stream, and be asked for the rest", true, "done", ""},
		{"the rest is not there either: what came of the call is not known", false, "", failure.ToolUnavailable},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p := &polled{rest: tc.rest}
			s := httptest.NewServer(p)
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			session := connect(t, mcptool.Server{Name: "test", URL: s.URL, Timeout: 20 * time.Second})
			r := call(t, session, "order", `{}`)
			if r.Content != tc.want || (r.Err == nil) != (tc.class == "") || r.Err != nil && r.Err.Class != tc.class {
				t.Errorf("got %q, %v", r.Content, r.Err)
			}
			if p.calls.Load() != 1 {
				t.Errorf("the call was sent %d times: the second may have a second effect", p.calls.Load())
			}
			if p.polls.Load() == 0 {
				t.Error("the server was not asked for the rest")
			}
		})
	}
}

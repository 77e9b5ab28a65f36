package mcpproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/internal/mcpproxy"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/tool"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"raw","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// say gives the proxy the lines, and what it answers. The client closes its side
// behind them, and waits.
func say(tb testing.TB, p *mcpproxy.Proxy, lines string) string {
	tb.Helper()
	var out bytes.Buffer
	if err := p.Serve(tb.Context(), mcpproxy.Stdio(strings.NewReader(lines), &out)); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// A client may write anything: what is no message is answered, and the next one is
// served.
func TestBrokenLines(t *testing.T) {
	const pong = `{"jsonrpc":"2.0","id":9,"result":{}}`
	const parse = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`
	path := record(t, `order {"n":1}`)
	for _, tc := range []struct{ why, line, want string }{
		{"no JSON", `garbage`, parse},
		{"JSON that is cut", `{"jsonrpc":"2.0","id":1`, parse},
		{"JSON, but no message", `{"id":1}`, parse},
		{"a number", `7`, parse},
		{"bytes that are no text", "\xff\xfe\x00", parse},
		{"more than any line may have", strings.Repeat("x", 16<<20+5), parse},
		{"an empty line is nothing", "", ""},
		{"a list of messages", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, `"id":2,"result"`},
		{"an empty list", `[]`, parse},
		{"a list that is cut", `[{"jsonrpc":"2.0","id":1,"method":"ping"}`, parse},
		{"a call of no tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, `"error":`},
		{"a call without params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `"error":`},
		{"arguments that are none", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order","arguments":[1]}}`, `"id":1`},
		{"a method that there is not", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `"error":`},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":77,"result":{}}`, ""},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, ""},
		{"one id for two requests", `[{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"fail","arguments":{}}},{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `"id":5`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			for name, o := range map[string]mcpproxy.Options{"live": {Connect: program(t, "server")}, "replay": {Replay: open(t, path)}} {
				got := say(t, proxy(t, o), hello+tc.line+"\n"+`{"jsonrpc":"2.0","id":9,"method":"ping"}`+"\n")
				if !strings.Contains(got, pong) || !strings.Contains(got, tc.want) {
					t.Errorf("%s: got %.600s", name, got)
				}
			}
		})
	}
}

// program is the way to the test's own binary as a server.
func program(tb testing.TB, name string) func(context.Context) (mcp.Connection, error) {
	tb.Helper()
	return func(ctx context.Context) (mcp.Connection, error) {
		c := process.Command{Args: []string{processtest.Self(tb)}, Env: processtest.Env(name)}
		return mcpproxy.Program(ctx, c, func(string) {})
	}
}

// The server asks the client, and is answered.
func TestTheServerAsks(t *testing.T) {
	toProxy, lines := io.Pipe()
	answers, fromProxy := io.Pipe()
	done := make(chan error, 1)
	p := proxy(t, mcpproxy.Options{Connect: program(t, "server")})
	go func() {
		defer fromProxy.Close()
		done <- p.Serve(t.Context(), mcpproxy.Stdio(toProxy, fromProxy))
	}()
	said := new(strings.Builder)
	scan := bufio.NewScanner(answers)
	_, _ = io.WriteString(lines, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{}}}`+"\n")
	for scan.Scan() {
		said.WriteString(scan.Text() + "\n")
		var id int
		if n, _ := fmt.Sscanf(scan.Text(), `{"jsonrpc":"2.0","id":%d,"method":"roots/list"`, &id); n == 1 {
			_, _ = fmt.Fprintf(lines, `{"jsonrpc":"2.0","id":%d,"result":{"roots":[{"uri":"file:///home"}]}}`+"\n", id)
		}
		if strings.Contains(scan.Text(), `"id":1,"result"`) {
			_ = lines.Close()
		}
	}
	if err := <-done; err != nil || !strings.Contains(said.String(), `"text":"file:///home"`) {
		t.Errorf("%v, %s", err, said)
	}
}

// A server that ends answers nothing more, which the client is told, with its last
// words.
func TestTheServerDies(t *testing.T) {
	var mu sync.Mutex
	var warned []string
	warn := func(text string) { mu.Lock(); defer mu.Unlock(); warned = append(warned, text) }
	p := proxy(t, mcpproxy.Options{Connect: program(t, "server"), Warn: warn})
	s, leave := client(t, p, nil)
	got := call(t, s, "die", `{}`)
	if !strings.Contains(got, "exit status 7") || !strings.Contains(got, "out of memory") {
		t.Errorf("got %s", got)
	}
	if got := call(t, s, "order", `{}`); !strings.Contains(got, "exit status 7") {
		t.Errorf("afterwards: %s", got)
	}
	leave()
	mu.Lock()
	defer mu.Unlock()
	if len(warned) == 0 || !strings.Contains(warned[0], "exit status 7") {
		t.Errorf("warned of %q", warned)
	}
}

func TestServersThatDoNotServe(t *testing.T) {
	for _, tc := range []struct{ why, name, want string }{
		{"it ends at once", "refuses", "no database"},
		{"what it prints before is left out", "noisy", `"tools"`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p := proxy(t, mcpproxy.Options{Connect: program(t, tc.name)})
			if got := say(t, p, hello); !strings.Contains(got, tc.want) {
				t.Errorf("got %s", got)
			}
		})
	}
	p := proxy(t, mcpproxy.Options{Connect: func(ctx context.Context) (mcp.Connection, error) {
		return mcpproxy.Program(ctx, process.Command{Args: []string{"no-such-program"}}, nil)
	}})
	if err := p.Serve(t.Context(), mcpproxy.Stdio(strings.NewReader(hello), io.Discard)); err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("got %v", err)
	}
}

// A server that is reached by its address, and a proxy that is.
func TestOverHTTP(t *testing.T) {
	w := new(world)
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return w.server() }, nil))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	ctx, end := context.WithCancel(t.Context())
	p := proxy(t, mcpproxy.Options{Connect: func(ctx context.Context) (mcp.Connection, error) {
		return mcpproxy.HTTP(ctx, server.URL, http.Header{"X-Shop": {"7"}})
	}})
	h := p.Handler(ctx, "")
	front := httptest.NewServer(h)
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	var sessions []*mcp.ClientSession
	for range 3 { // at once
		s, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: front.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	for i, s := range sessions {
		if got := call(t, s, "order", `{"n":1}`); !strings.Contains(got, fmt.Sprintf("O-%d", i+1)) {
			t.Errorf("client %d is told %s", i, got)
		}
		if tools, err := s.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 2 || tools.NextCursor == "" {
			t.Errorf("the first page: %v, %v", tools, err)
		}
	}
	for _, s := range sessions {
		_ = s.Close()
	}
	end()
	h.Wait()
}

func TestWhoIsServed(t *testing.T) {
	first, _, _ := strings.Cut(hello, "\n")
	for _, tc := range []struct {
		why, token, host, origin, given, session, method, body string
		want                                                   int
	}{
		{"a client on this host", "", "127.0.0.1:80", "", "", "", "POST", first, 200},
		{"a page that has a name of its own for this host", "", "evil.example", "", "", "", "POST", first, 403},
		{"a page of elsewhere", "", "localhost:80", "https://evil.example", "", "", "POST", first, 403},
		{"a page of this host", "", "localhost:80", "http://localhost:3000", "", "", "POST", first, 200},
		{"no token", "t0ken", "127.0.0.1:80", "", "", "", "POST", first, 401},
		{"another token", "t0ken", "127.0.0.1:80", "", "Bearer t0kem", "", "POST", first, 401},
		{"the token, from anywhere", "t0ken", "box.example", "", "Bearer t0ken", "", "POST", first, 200},
		{"no session, and none opened", "", "[::1]:80", "", "", "", "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 400},
		{"no message", "", "[::1]:80", "", "", "", "POST", ``, 400},
		{"a session that there is not", "", "[::1]:80", "", "", "nosuch", "POST", first, 404},
		{"a look at nothing", "", "[::1]:80", "", "", "", "GET", ``, 405},
	} {
		t.Run(tc.why, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			h := proxy(t, mcpproxy.Options{Connect: new(world).connect}).Handler(ctx, tc.token)
			req := httptest.NewRequest(tc.method, "http://"+tc.host+"/mcp", strings.NewReader(tc.body))
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Content-Type", "application/json")
			for name, value := range map[string]string{"Origin": tc.origin, "Authorization": tc.given, "Mcp-Session-Id": tc.session} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != tc.want {
				t.Errorf("status %d, want %d: %s", w.Code, tc.want, w.Body)
			}
			end()
			h.Wait()
		})
	}
}

// Nothing that is read from a client or a recording brings the proxy down.
func FuzzLines(f *testing.F) {
	f.Add([]byte(hello + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order","arguments":{"n":1}}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":3}},7]`))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\",\"arguments\":{}}}\n\n["))
	path := record(f, `order {"n":1}`)
	file := open(f, path)
	f.Fuzz(func(t *testing.T, lines []byte) {
		var out bytes.Buffer
		p := proxy(t, mcpproxy.Options{Replay: file})
		if err := p.Serve(t.Context(), mcpproxy.Stdio(bytes.NewReader(lines), &out)); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0",`)) {
				t.Errorf("the protocol was left: %q", line)
			}
		}
	})
}

// Inside of a run the proxy is a bridge to the gateway, and so to the run's own tools.
func TestBridge(t *testing.T) {
	var called []string
	box := tool.NewBox([]tool.Spec{{
		Decl: tool.Decl{Name: "order", Description: "Orders.", Effect: tool.EffectRead},
		Exec: tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) {
			called = append(called, string(c.Args))
			return tool.Result{Content: `{"order":"O-1"}`}, nil
		}),
	}}, tool.Options{})
	g, err := gateway.Start(t.Context(), gateway.Options{Tools: box})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	p := proxy(t, mcpproxy.Options{Connect: func(ctx context.Context) (mcp.Connection, error) {
		return mcpproxy.HTTP(ctx, g.URL()+"/mcp", nil)
	}})
	got := say(t, p, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"order","arguments":{"n":1}}}
`)
	if !strings.Contains(got, `"Orders."`) || !strings.Contains(got, "O-1") || len(called) != 1 || called[0] != `{"n":1}` {
		t.Errorf("called with %q, and told %s", called, got)
	}
}

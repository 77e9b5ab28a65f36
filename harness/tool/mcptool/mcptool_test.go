package mcptool_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

func getenv(name string) string {
	return map[string]string{"TOKEN": "tok-1234567890", "DB_URL": "postgres://me:hunter2@db/shop"}[name]
}

func program(tb testing.TB, name string) mcptool.Server {
	tb.Helper()
	s := mcptool.Server{Name: "test", Command: []string{processtest.Self(tb)}, Timeout: 20 * time.Second}
	for _, e := range processtest.Env(name) {
		n, v, _ := strings.Cut(e, "=")
		s.Env = append(s.Env, tool.Setting{Name: n, Value: v})
	}
	return s
}

func connect(tb testing.TB, s mcptool.Server) *mcptool.Session {
	tb.Helper()
	out, err := mcptool.Connect(tb.Context(), s, getenv)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(out.Close)
	return out
}

// overHTTP is the test server at a loopback address that asks for a token.
func overHTTP(tb testing.TB) mcptool.Server {
	tb.Helper()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer() }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tok-1234567890" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	tb.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return mcptool.Server{Name: "test", URL: s.URL, Timeout: 20 * time.Second, Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer ", Env: "TOKEN"}}}
}

func inProcess(tb testing.TB) mcptool.Server {
	tb.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	ss, err := newServer().Connect(tb.Context(), theirs, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ss.Close() })
	return mcptool.Server{Name: "test", Transport: ours, Timeout: 20 * time.Second}
}

func overPipes(tb testing.TB) mcptool.Server {
	tb.Helper()
	return program(tb, "server")
}

// ways are the three ways to the same server.
var ways = map[string]func(testing.TB) mcptool.Server{
	"stdio":      overPipes,
	"http":       overHTTP,
	"in process": inProcess,
}

func call(tb testing.TB, s *mcptool.Session, name, args string) tool.Result {
	tb.Helper()
	r, err := s.Execute(tb.Context(), tool.Call{Tool: name, Args: jsontext.Value(args), TaskID: "t1", AttemptID: "t1-a1"})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestTools(t *testing.T) {
	for way, server := range ways {
		t.Run(way, func(t *testing.T) {
			decls, err := connect(t, server(t)).Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range decls {
				names = append(names, d.Name)
				switch d.Name {
				case "look":
					want := tool.Decl{
						Name: "look", Description: "Looks, and changes nothing.", Effect: tool.EffectRead,
						Input: jsontext.Value(`{"type":"object","properties":{"q":{"type":"string"},"max":{"type":"number","default":1.50}}}`),
						Hints: &tool.Hints{ReadOnly: new(true), Idempotent: new(false), OpenWorld: new(false)},
					}
					if diff := cmp.Diff(want, d); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				case "sum":
					if d.Effect != tool.EffectWrite || d.Hints != nil || d.Output == nil {
						t.Errorf("a tool without annotations is a write without hints; it has an output schema: %+v", d)
					}
				}
			}
			want := []string{"babble", "broken", "die", "hang", "long", "look", "parts", "precise", "say", "structured", "sum"}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("not all pages were read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	toolError := func(code, message string, class failure.Class) tool.Result {
		return tool.Result{Err: &tool.Error{Code: code, Message: message, Class: class}}
	}
	for way, server := range ways {
		t.Run(way, func(t *testing.T) {
			s := connect(t, server(t))
			for _, tc := range []struct {
				why, name, args string
				want            tool.Result
				detail          string
			}{
				{"arguments and ids arrive", "look", `{"q":"x"}`, tool.Result{Content: `{"args":{"q":"x"},"attempt":"t1-a1","task":"t1"}`}, ""},
				{"structured content", "sum", `{"a":1,"b":2}`, tool.Result{Content: `{"total":3}`}, ""},
				{"its numbers as they were written", "precise", `{}`, tool.Result{Content: `{"total":12345678901234567890,"price":3.50}`}, ""},
				{"it is preferred to a text that says it in words", "structured", `{}`, tool.Result{Content: `{"gifts":[],"n":2}`}, ""},
				{"what is no text is named", "parts", `{}`, tool.Result{Content: "two of them\n[image, image/png, 4 bytes]\n[link to file:///a]"}, ""},
				{"a text", "say", `{"text":"hello"}`, tool.Result{Content: "hello"}, ""},
				{"an error without a code", "say", `{"text":"no such gift","error":true}`, toolError("TOOL_ERROR", "no such gift", failure.ToolFailed), ""},
				{
					"an error in our form", "say", `{"text":"{\"ok\":false,\"error\":{\"code\":\"DAILY_LIMIT\",\"message\":\"no more\"}}","error":true}`,
					toolError("DAILY_LIMIT", "no more", failure.ToolFailed), "",
				},
				{
					"its inner form", "say", `{"text":"{\"code\":\"VALIDATION_ERROR\",\"message\":\"min is over max\"}","error":true}`,
					toolError("VALIDATION_ERROR", "min is over max", failure.ToolInvalidArguments), "",
				},
				{
					"ok: false that isError does not know of", "say", `{"text":"{\"ok\":false,\"error\":{\"code\":\"X\",\"message\":\"m\"}}"}`,
					toolError("X", "m", failure.ToolFailed), "isError is false, and the answer says ok: false",
				},
				{
					"ok: true that isError does not know of", "say", `{"text":"{\"ok\":true}","error":true}`,
					toolError("TOOL_ERROR", `{"ok":true}`, failure.ToolFailed), "isError is true, and the answer says ok: true",
				},
				{"a protocol error: no such tool", "nope", `{}`, toolError(tool.CodeValidation, "the tool does not accept this call", failure.ToolInvalidArguments), "JSON-RPC error"},
			} {
				got := call(t, s, tc.name, tc.args)
				if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(tool.Error{}, "Detail")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.why, diff)
				}
				if got.Err != nil && !strings.Contains(got.Err.Detail, tc.detail) {
					t.Errorf("%s: detail %q, want %q", tc.why, got.Err.Detail, tc.detail)
				}
			}
			if r := call(t, s, "broken", `{}`); r.Err == nil || r.Err.Class != failure.ToolUnavailable || strings.Contains(r.Err.Message, "/srv") {
				t.Errorf("a handler that fails: %v", r.Err)
			}
		})
	}
}

func TestAs(t *testing.T) {
	s := connect(t, inProcess(t))
	r, err := s.As("say").Execute(t.Context(), tool.Call{Tool: "tell", Args: jsontext.Value(`{"text":"hi"}`)})
	if err != nil || r.Content != "hi" {
		t.Errorf("%v, %v", r, err)
	}
}

// What a server does wrong in a call is named, for the log.
func TestServersThatFail(t *testing.T) {
	for _, tc := range []struct {
		why, name    string
		code         string
		detail, then string // of the call, and of the one after it
		max          int
		timeout      time.Duration
	}{
		{why: "it dies", name: "die", code: tool.CodeUpstream, detail: "the server has ended: exit status 7; standard error: panic: out of memory", then: "the server has ended: exit status 7"},
		{why: "it writes a log where messages belong", name: "babble", code: tool.CodeUpstream, detail: `what is no JSON message to its standard output, "DEBUG: order saved"`, then: "no JSON message"},
		{why: "its answer is too long", name: "long", code: tool.CodeUpstream, detail: "a line of more than 100000 bytes", max: 100_000, then: "more than 100000"},
	} {
		server := program(t, "server")
		server.MaxMessage = tc.max
		s := connect(t, server)
		if r := call(t, s, tc.name, `{}`); r.Err == nil || r.Err.Code != tc.code || r.Err.Class != failure.ToolUnavailable || !strings.Contains(r.Err.Detail, tc.detail) {
			t.Errorf("%s: %v, detail %q", tc.why, r.Err, detail(r))
		}
		if r := call(t, s, "say", `{}`); r.Err == nil || r.Err.Code != tool.CodeUnavailable || !strings.Contains(r.Err.Detail, tc.then) {
			t.Errorf("%s, and is called again: %v, detail %q", tc.why, r.Err, detail(r))
		}
		s.Close()
		processtest.Gone(t, s.Pid())
	}
}

func detail(r tool.Result) string {
	if r.Err == nil {
		return ""
	}
	return r.Err.Detail
}

func TestServerThatHangs(t *testing.T) {
	for _, way := range []string{"stdio", "http"} {
		server := ways[way](t)
		s := connect(t, server)
		note := t.TempDir() + "/note"
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		args, _ := jsontext.AppendQuote([]byte(`{"note":`), note)
		r, err := s.Execute(ctx, tool.Call{Tool: "hang", Args: jsontext.Value(string(args) + "}")})
		if err != nil || r.Err == nil || r.Err.Class != failure.ToolTimeout || !r.Err.Retryable {
			t.Errorf("%s: %v, %v", way, r.Err, err)
		}
		if !appears(note) {
			t.Errorf("%s: the server was not told that nobody waits any more", way)
		}
		if r := call(t, s, "say", `{"text":"still here"}`); r.Content != "still here" {
			t.Errorf("%s: after a call that hung: %v", way, r.Err)
		}
	}
}

func appears(file string) bool {
	for range 1500 {
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

func TestServerThatIsNoisy(t *testing.T) {
	s := connect(t, program(t, "noisy"))
	if r := call(t, s, "say", `{"text":"hello"}`); r.Content != "hello" {
		t.Errorf("a full standard error must not hold up the server: %v", r.Err)
	}
}

func TestConnectFails(t *testing.T) {
	db := program(t, "refuses")
	db.Env = append(db.Env, tool.Setting{Name: "DB", Env: "DB_URL"})
	slow := program(t, "silent")
	slow.Timeout = 300 * time.Millisecond
	noToken := overHTTP(t)
	noToken.Headers = nil
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, tc := range []struct {
		why    string
		server mcptool.Server
		class  failure.Class
		want   []string
	}{
		{"it ends at once, and says why", db, failure.World, []string{`MCP server "test": connecting: the server has ended: exit status 2; standard error: no database at [secret DB_URL]`}},
		{"it writes a log where messages belong", program(t, "chatter"), failure.World, []string{`"Server is starting…"`, "belongs on standard error"}},
		{"it says nothing", slow, failure.World, []string{"did not answer before the deadline"}},
		{"no token", noToken, failure.World, []string{"Unauthorized"}},
		{"nobody listens", mcptool.Server{Name: "test", URL: gone.URL}, failure.World, []string{"connection refused"}},
		{"no program", mcptool.Server{Name: "test", Command: []string{"retake-no-such-program"}}, failure.World, []string{"cannot be started"}},
		{"a variable that is not set", mcptool.Server{Name: "test", URL: gone.URL, Headers: []tool.Setting{{Name: "A", Env: "NOPE"}}}, failure.World, []string{"header A: the environment variable NOPE is not set"}},
		{"nothing said", mcptool.Server{Name: "test"}, failure.ScenarioInvalid, []string{"give its command or its url"}},
	} {
		_, err := mcptool.Connect(t.Context(), tc.server, getenv)
		if failure.Of(err) != tc.class {
			t.Errorf("%s: class %s: %v", tc.why, failure.Of(err), err)
		}
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s:\n got %v\nwant %s", tc.why, err, want)
			}
		}
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	for name, why := range map[string]string{
		"server": "a server that ends with its input",
		"family": "a server with a child that outlives it",
		"stays":  "a server that does not end by itself",
	} {
		s := connect(t, program(t, name))
		if len(processtest.Group(t, s.Pid())) == 0 {
			t.Errorf("%s: there is no process", why)
		}
		s.Close()
		processtest.Gone(t, s.Pid())

		ctx, cancel := context.WithCancel(t.Context())
		s, err := mcptool.Connect(ctx, program(t, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		processtest.Gone(t, s.Pid())
		s.Close()
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, way := range []string{"stdio", "http"} {
		s := connect(t, ways[way](t))
		call(t, s, "say", `{"text":"hello"}`)
		s.Close()
		s.Close()
	}
	const serving = 4 // of the loopback server, which is still there
	for range 1500 {
		if runtime.NumGoroutine() <= before+serving {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines more than before:\n%s", runtime.NumGoroutine()-before, buf[:runtime.Stack(buf, true)])
}

package mcpproxy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/mcpproxy"
	"github.com/retake-harness/retake/harness/redact"
)

// whole asks for all of the tools and for a call of each way to answer.
func whole(tb testing.TB, s *mcp.ClientSession) []string {
	tb.Helper()
	var out []string
	for t, err := range s.Tools(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, t.Name)
	}
	for _, name := range []string{"order", "picture", "fail", "order"} {
		out = append(out, call(tb, s, name, `{"n":1.50}`))
	}
	return append(out, call(tb, s, "nosuch", `{}`))
}

// The answers are those of the server word for word, through the proxy, recorded and
// replayed.
func TestNothingIsLost(t *testing.T) {
	direct := new(world)
	ours, err := direct.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &given{ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := whole(t, s)
	if len(want) != 8+5 {
		t.Fatalf("the server says %q", want)
	}

	path := filepath.Join(t.TempDir(), "shop", "tools.yaml")
	through := func(o mcpproxy.Options) *mcpproxy.Proxy {
		p := proxy(t, o)
		session, leave := client(t, p, nil)
		if d := cmp.Diff(want, whole(t, session)); d != "" {
			t.Errorf("the agent sees something else:\n%s", d)
		}
		if name := session.InitializeResult().ServerInfo.Name; name != "shop" || session.InitializeResult().Instructions != "Be kind." {
			t.Errorf("the server is called %q", name)
		}
		leave()
		if err := p.Finish(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	through(mcpproxy.Options{Connect: new(world).connect})
	through(mcpproxy.Options{Connect: new(world).connect, Record: &mcpproxy.Recording{Path: path}})
	r := through(mcpproxy.Options{Replay: open(t, path)}).Report()
	if len(r.Misses) != 0 || len(r.Unplayed) != 0 {
		t.Errorf("after a replay of all: %+v", r)
	}
}

// given is a connection that is there already.
type given struct{ conn mcp.Connection }

func (g *given) Connect(context.Context) (mcp.Connection, error) { return g.conn, nil }

func open(tb testing.TB, path string) *cassette.File {
	tb.Helper()
	f, err := cassette.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// What is no tool goes on, too: progress, the server's own questions, resources.
func TestTheRestGoesOn(t *testing.T) {
	progress := make(chan float64, 3)
	s, leave := client(t, proxy(t, mcpproxy.Options{Connect: new(world).connect}), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	params := &mcp.CallToolParams{Name: "count", Arguments: map[string]any{}}
	params.SetProgressToken("p")
	if _, err := s.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if got := []float64{<-progress, <-progress, <-progress}; !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("progress %v", got)
	}
	res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "shop://terms"})
	if err != nil || res.Contents[0].Text != "No returns." {
		t.Errorf("a resource: %v, %v", res, err)
	}
	if err := s.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	leave()
}

// A client that gives a call up is heard by the server.
func TestCancel(t *testing.T) {
	w := &world{cancelled: make(chan struct{}), begun: make(chan struct{}, 1)}
	s, leave := client(t, proxy(t, mcpproxy.Options{Connect: w.connect}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-w.begun; cancel() }()
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}); err == nil {
		t.Error("the call was not given up")
	}
	<-w.cancelled
	if got := call(t, s, "fail", `{}`); !strings.Contains(got, "sold out") {
		t.Errorf("afterwards: %s", got)
	}
	leave()
}

// record makes a recording of the calls, each NAME ARGS.
func record(tb testing.TB, calls ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "tools.yaml")
	p := proxy(tb, mcpproxy.Options{Connect: new(world).connect, Record: &mcpproxy.Recording{Path: path}})
	s, leave := client(tb, p, nil)
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		call(tb, s, name, args)
	}
	leave()
	if err := p.Finish(); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestReplayTellsWhatIsMissing(t *testing.T) {
	path := record(t, `order {"n":1}`, `order {"n":2}`)
	p := proxy(t, mcpproxy.Options{Replay: open(t, path)})
	s, leave := client(t, p, nil)
	if tools, err := s.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 8 || tools.NextCursor != "" {
		t.Errorf("the tools were not asked for while recording, and are listed all the same: %v, %v", tools, err)
	}
	call(t, s, "order", `{"n":1}`)
	got := call(t, s, "order", `{"n":3}`)
	for _, want := range []string{`"isError":true`, "NO_RECORDING", "nearest is #2", "/n", "retake mcp-proxy --record"} {
		if !strings.Contains(got, want) {
			t.Errorf("the miss does not say %s: %s", want, got)
		}
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "shop://terms"}); err == nil || !strings.Contains(err.Error(), "answers no resources/read") {
		t.Errorf("a resource in a replay of tools: %v", err)
	}
	leave()
	r := p.Report()
	if len(r.Misses) != 1 || len(r.Unplayed) != 1 || !strings.Contains(r.Unplayed[0], `call of order {"n":2}`) {
		t.Errorf("at the end: %+v", r)
	}
}

// A tools' cassette that was made otherwise has no list, and no server's words.
func TestReplayOfAScriptedCassette(t *testing.T) {
	path := record(t, `order {"n":1}`, `fail {}`)
	f := open(t, path)
	f.Notes.Unknown = nil
	for i := range f.Interactions {
		f.Interactions[i].Notes = nil
	}
	var warned []string
	s, leave := client(t, proxy(t, mcpproxy.Options{Replay: f, Warn: func(text string) { warned = append(warned, text) }}), nil)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "fail" || len(warned) != 1 {
		t.Errorf("listed %v, %v, warned of %q", tools, err, warned)
	}
	if got := call(t, s, "order", `{"n":1}`); !strings.Contains(got, `O-1`) || strings.Contains(got, "isError") {
		t.Errorf("a result: %s", got)
	}
	if got := call(t, s, "fail", `{}`); !strings.Contains(got, "TOOL_ERROR") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("an error: %s", got)
	}
	leave()
}

func specs(tb testing.TB, texts ...string) (out []fault.Spec) {
	tb.Helper()
	for _, text := range texts {
		s, err := fault.ParseSpec(text)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestFaults(t *testing.T) {
	path := record(t, `order {"n":1}`)
	for _, tc := range []struct {
		why, fault string
		want       string
		orders     int
	}{
		{"the order is made, and nobody hears of it", "tool.lost_ack@tool=order", `"isError":true`, 1},
		{"the order arrives twice", "tool.duplicate_delivery@tool=order", "O-2", 2},
		{"the order never arrives", "tool.unavailable@tool=order", "UPSTREAM_UNAVAILABLE", 0},
		{"the tool breaks down", "tool.panic@tool=order", "the tool broke down", 0},
		{"the second call is another one", "tool.unavailable@tool=order,call=2", "O-1", 1},
	} {
		t.Run(tc.why, func(t *testing.T) {
			w := new(world)
			p := proxy(t, mcpproxy.Options{Connect: w.connect, Faults: specs(t, tc.fault), RealWaitCap: time.Millisecond})
			s, leave := client(t, p, nil)
			if got := call(t, s, "order", `{"n":1}`); !strings.Contains(got, tc.want) || w.count() != tc.orders {
				t.Errorf("%d orders, the agent is told %s", w.count(), got)
			}
			leave()
			if idle := len(p.Report().Idle); (idle == 1) != strings.Contains(tc.fault, "call=2") {
				t.Errorf("%d faults never struck", idle)
			}
			replay := proxy(t, mcpproxy.Options{Replay: open(t, path), Faults: specs(t, tc.fault), RealWaitCap: time.Millisecond})
			s, leave = client(t, replay, nil)
			want := strings.Replace(tc.want, "O-2", "O-1", 1) // a recording has one answer
			if got := call(t, s, "order", `{"n":1}`); !strings.Contains(got, want) {
				t.Errorf("in replay the agent is told %s", got)
			}
			leave()
		})
	}
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	for _, tc := range []struct {
		why, fault, want string
		record           bool
	}{
		{"models do not pass here", "model.overloaded", "does not pass here", false},
		{"a fault would be recorded as the tool's own", "tool.empty", "record without faults", true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			o := mcpproxy.Options{Connect: new(world).connect, Faults: specs(t, tc.fault)}
			if tc.record {
				o.Record = &mcpproxy.Recording{Path: filepath.Join(t.TempDir(), "x.yaml")}
			}
			if _, err := mcpproxy.New(o); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A secret that a tool says does not reach the disk; what else was recorded is kept
// for the next session.
func TestSecretsAreNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.yaml")
	p := proxy(t, mcpproxy.Options{Connect: new(world).connect, Record: &mcpproxy.Recording{
		Path: path, Secrets: redact.New(redact.Secret{Name: "SHOP_KEY", Value: "sk-canary-4711"}),
	}})
	s, leave := client(t, p, nil)
	call(t, s, "order", `{"n":1}`)
	if got := call(t, s, "secret", `{}`); !strings.Contains(got, "sk-canary-4711") {
		t.Errorf("the agent is told what the tool says, not %s", got)
	}
	leave()
	if err := p.Finish(); err == nil || failure.Of(err) != failure.World || !strings.Contains(err.Error(), "SHOP_KEY") {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) == 0 {
		t.Fatalf("nothing is kept: %v", err)
	}
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if e.Name() == "tools.yaml" || strings.Contains(string(text), "canary") {
			t.Errorf("%s was written: %.200s", e.Name(), text)
		}
	}
}

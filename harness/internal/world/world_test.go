package world_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

type gift struct {
	ID string `json:"id"`
}

// The test's own binary plays the server and the command.
func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){
		"shop": func() {
			_ = os.WriteFile(os.Getenv("PID_FILE"), []byte(strconv.Itoa(os.Getpid())), 0o600)
			n := 0
			s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
			mcp.AddTool(s, &mcp.Tool{Name: "find_gift", Description: "Finds a gift.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, _ *mcp.CallToolRequest, in gift) (*mcp.CallToolResult, gift, error) {
				return nil, in, nil
			})
			mcp.AddTool(s, &mcp.Tool{Name: "order_gift", Description: "Orders it."}, func(_ context.Context, _ *mcp.CallToolRequest, in gift) (*mcp.CallToolResult, any, error) {
				n++
				return nil, map[string]int{"orders": n}, nil
			})
			mcp.AddTool(s, &mcp.Tool{Name: "die"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
				os.Exit(7)
				return nil, nil, nil
			})
			_ = s.Run(context.Background(), &mcp.StdioTransport{})
		},
		"web-shop": webShop, "slow-to-serve": slowToServe, "mute": mute,
		"weigh": func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"fails": func() { fmt.Fprintln(os.Stderr, "no database"); os.Exit(2) },
	})
}

const head = "why: w\nowner: o\ntask: t\nmodel: m\napi: anthropic-messages\n"

// servers says how the test's own binary is the server, which writes its number.
func servers(tb testing.TB, pidFile, name string) string {
	tb.Helper()
	return fmt.Sprintf("servers:\n  shop: {command: [%s], env: [%s, PID_FILE=%s]}\n", processtest.Self(tb), strings.Join(processtest.Env(name), ", "), pidFile)
}

func parse(tb testing.TB, text string) *scenario.Scenario {
	tb.Helper()
	s, err := scenario.Parse("scenarios/gifts.yaml", []byte(text), scenario.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s.Name = "gifts"
	return s
}

func options() world.Options {
	secrets := map[string]string{"TOKEN": "tok-1234567890"}
	return world.Options{
		Getenv: func(name string) string { return secrets[name] }, Config: "scenarios/retake.yaml",
		Secret: func(name string) bool { _, ok := secrets[name]; return ok },
	}
}

func open(ctx context.Context, s *scenario.Scenario) (*harness.Tools, error) {
	return world.Open(ctx, s, options())
}

func TestToolsOfAServer(t *testing.T) {
	for _, tc := range []struct {
		why, tools string
		want       []string // name effect key
	}{
		{"all that it has", "tools: {from: shop}\n", []string{"die write", "find_gift read", "order_gift write"}},
		{"narrowed by names, in their order", "tools: {from: shop, names: [order_gift, find_gift]}\n", []string{"order_gift write", "find_gift read"}},
		{
			"with more said of one of them, and a further one", "tools: {from: shop, names: [order_gift], with: [{name: order_gift, key: {field: id, from: model}}, {name: recall, run: {cassette: true}}]}\n",
			[]string{"order_gift write key id", "recall "},
		},
		{"in a list, under another name", "tools: [{name: search, effect: write, run: {mcp: shop, tool: find_gift}}]\n", []string{"search write"}},
	} {
		got, err := open(t.Context(), parse(t, head+servers(t, "", "shop")+tc.tools))
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
			continue
		}
		got.Close()
		var names []string
		for _, d := range got.Scenario.Tools {
			name := d.Name + " " + string(d.Effect)
			if d.Key != nil {
				name += " key " + d.Key.Field
			}
			names = append(names, name)
			if runs := got.Executors[d.Name] != nil; runs != (d.Input != nil) {
				t.Errorf("%s: %s: runs for real: %v, and has the schema %s", tc.why, d.Name, runs, d.Input)
			}
		}
		if diff := cmp.Diff(tc.want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestOpenFails(t *testing.T) {
	shop := servers(t, "", "shop")
	for _, tc := range []struct {
		why, text string
		class     failure.Class
		want      string
	}{
		{"a tool that the server has not", shop + "tools:\n  - {name: find_gfit, run: {mcp: shop}}\n", failure.ScenarioInvalid, `9:34: the MCP server "shop" has no tool "find_gfit" (did you mean "find_gift"?)`},
		{"an expectation of a tool that is not there", shop + "tools: {from: shop}\nexpect: {effects: {order_gfit: 1}}\n", failure.ScenarioInvalid, `unknown tool "order_gfit" (did you mean "order_gift"?)`},
		{"a fault that no tool can have", shop + "tools: {from: shop}\nfaults: [{id: x, fault: tool.lying_hint, at: {tool: order_gift}}]\n", failure.ScenarioInvalid, `cannot strike "order_gift": the tool does not say that it only reads`},
		{"a server that does not start", servers(t, "", "fails") + "tools: {from: shop}\n", failure.World, `scenarios/gifts.yaml: MCP server "shop": connecting: the server has ended: exit status 2; standard error: no database`},
		{"a secret that nobody owns", "tools: [{name: a, run: {http: {url: 'http://h/', headers: {X: {env: NOPE}}}}}]\n", failure.ScenarioInvalid, `the environment variable NOPE, which is not declared as a secret; write its owner into scenarios/retake.yaml, under secrets`},
	} {
		_, err := open(t.Context(), parse(t, head+tc.text))
		if failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) || strings.Count(err.Error(), "gifts.yaml") > 1 {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
	}
}

// exec runs an agent that makes the calls, one after the other, and answers with
// what it was told.
func exec(t *testing.T, text string, calls ...[2]string) *harness.Result {
	t.Helper()
	return execAs(t, head+text, harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
		var told []string
		for i, c := range calls {
			a, err := env.Tools.Call(ctx, c[0], "c"+strconv.Itoa(i), c[1])
			if err != nil {
				return "", err
			}
			told = append(told, a.Text)
		}
		return strings.Join(told, "\n"), nil
	}))
}

func execAs(t *testing.T, text string, agent harness.Agent) *harness.Result {
	t.Helper()
	dir := t.TempDir()
	cassette := harness.ModelCassette(dir, "gifts", "m")
	if err := os.MkdirAll(filepath.Dir(cassette), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cassette, []byte("version: 2\ninteractions: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return harness.Exec(t.Context(), harness.Params{
		Scenario: parse(t, text), Model: "m", API: wire.AnthropicMessages, CassetteDir: dir, GoldenDir: dir, RunID: "r",
		Clock: clock.ModeReal, OpenTools: open, Agent: agent,
	})
}

func TestRun(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"path":%q,"auth":%q,"task":%v}`, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Retake-Task-Id") != "")
	}))
	defer s.Close()
	note := t.TempDir() + "/pid"
	text := servers(t, note, "shop") + fmt.Sprintf(`tools:
  from: shop
  names: [find_gift, order_gift]
  with:
    - {name: stock, effect: read, run: {http: {method: GET, url: '%s/stock/{id}', headers: {Authorization: {env: TOKEN, prefix: 'Bearer '}}}}}
    - {name: weigh, effect: read, run: {command: [%s], env: [%s]}}
expect: {golden: false, breaches: [W4], effects: {order_gift: 2, find_gift: 0}}
`, s.URL, processtest.Self(t), strings.Join(processtest.Env("weigh"), ", "))
	for range 2 { // the second run finds nothing of the first
		r := exec(t, text, [2]string{"find_gift", `{"id":"g1"}`}, [2]string{"order_gift", `{"id":"g1"}`}, [2]string{"order_gift", `{"id":"g2"}`},
			[2]string{"stock", `{"id":"g1"}`}, [2]string{"weigh", `{"kg":1.50}`}, [2]string{"find_gift", `{}`})
		want := `{"id":"g1"}
{"orders":1}
{"orders":2}
{"path":"/stock/g1","auth":"Bearer tok-1234567890","task":true}
{"kg":1.50}
{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"/id: is required","retryable":false}}`
		if diff := cmp.Diff(want, r.Outcome.Answer); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, f := range r.Failures {
			t.Errorf("%s: %s", f.Class, f.What)
		}
		pid, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(string(pid))
		processtest.Gone(t, n)
	}
}

func TestServerThatDiesInARun(t *testing.T) {
	r := exec(t, servers(t, "", "shop")+"tools: {from: shop}\nexpect: {golden: false, breaches: [W4]}\n", [2]string{"die", `{}`}, [2]string{"find_gift", `{"id":"g1"}`})
	want := `{"ok":false,"error":{"code":"UPSTREAM_ERROR","message":"the tool broke off; it is not known whether the call took effect, so check before you repeat it","retryable":false}}
{"ok":false,"error":{"code":"UPSTREAM_UNAVAILABLE","message":"the tool is not available","retryable":false}}`
	if diff := cmp.Diff(want, r.Outcome.Answer); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.Attempts) != 2 || !strings.Contains(r.Attempts[0].Detail, "the server has ended: exit status 7") || r.Attempts[0].Class != failure.ToolUnavailable {
		t.Errorf("the log does not say what happened: %+v", r.Attempts)
	}
}

func TestServerThatDoesNotStart(t *testing.T) {
	r := exec(t, servers(t, "", "fails")+"tools: {from: shop}\nexpect: {golden: false}\n")
	if r.Verdict != harness.Broken || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].What, "no database") {
		t.Errorf("%s: %v", r.Verdict, r.Failures)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := harness.Exec(ctx, harness.Params{
		Scenario: parse(t, head+servers(t, "", "shop")+"tools: {from: shop}\n"), Model: "m", API: wire.AnthropicMessages, Clock: clock.ModeReal, OpenTools: open,
		Agent: harness.Func(func(context.Context, *harness.Env) (string, error) { return "", nil }),
	})
	if r.Verdict != harness.NotRun {
		t.Errorf("%s: %v", r.Verdict, r.Failures)
	}
}

// The tools of a caller go before those of the scenario.
func TestExecutorsGoFirst(t *testing.T) {
	r := harness.Exec(t.Context(), harness.Params{
		Scenario: parse(t, head+"tools: [{name: a, run: {command: [retake-no-such-program]}}]\nexpect: {golden: false}\n"),
		Model:    "m", API: wire.AnthropicMessages, Clock: clock.ModeReal, OpenTools: open, Transport: http.NewFileTransport(nil),
		Executors: map[string]tool.Executor{"a": tool.Func(func(context.Context, []byte) (string, error) { return "mine", nil })},
		Agent: harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
			a, err := env.Tools.Call(ctx, "a", "c1", `{}`)
			return a.Text, err
		}),
	})
	if r.Outcome.Answer != "mine" {
		t.Errorf("%q %v", r.Outcome.Answer, r.Failures)
	}
}

func TestHungServerIsGivenUp(t *testing.T) {
	text := strings.Replace(servers(t, "", "weigh"), "env:", "timeout: 300ms, env:", 1)
	start := time.Now()
	_, err := open(t.Context(), parse(t, head+text+"tools: {from: shop}\n"))
	if failure.Of(err) != failure.World || time.Since(start) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

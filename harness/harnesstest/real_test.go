package harnesstest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/script"
)

type order struct {
	Gift string `json:"gift"`
}

// The test's own binary plays a server, which counts its orders.
func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){"greeter": greeter, "shop": func() {
		n := 0
		s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "order", Description: "Orders a gift."}, func(_ context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
			n++
			return nil, map[string]any{"gift": in.Gift, "orders": n}, nil
		})
		_ = s.Run(context.Background(), &mcp.StdioTransport{})
	}})
}

// shopProject is a project with a server in its configuration, and a scenario whose tools are
// that server's.
func shopProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"retake.yaml": "models: {m-1: {api: anthropic-messages}}\ndefault_models: m-1\nreal_wait_cap: 10ms\nservers:\n  shop: {command: [" + processtest.Self(t) + "], env: [" + strings.Join(processtest.Env("shop"), ", ") + "]}\n",
		"order.yaml": `why: The order is made once, whatever becomes of its answer.
owner: shop-team
task: Order g1.
tools:
  from: shop
  with: [{name: order, approval: true}]
approvals: [{tool: order, decision: approve}]
expect: {calls: [order], effects: {order: 1}}
faults:
  - {id: cut, fault: tool.lost_ack, at: {tool: order}, with: {delay: 5ms}, expect: {effects: {order: 1}, told: [not known]}, on_divergence: script, script: [{text: I do not know whether it is ordered.}]}
`,
	} {
		path := filepath.Join(dir, "scenarios", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The model is replayed and the tools are real: a server of its own for each run,
// faults at the same seam, a golden transcript.
func TestToolsThatRun(t *testing.T) {
	p := harnesstest.Params{Dir: shopProject(t)}
	t.Setenv("GOLDIE_UPDATE", "")
	t.Setenv("RETAKE_UPDATE", "1")
	rec := harnesstest.Recording{Turns: []script.Turn{
		{Calls: []script.Call{{Name: "order", Args: `{"gift":"g1"}`}}},
		{Text: "Ordered."},
	}}
	if said := told(t, func(tb testing.TB) { tb.Helper(); harnesstest.Scripted(tb, p, "order", rec) }).said(); said != "" {
		t.Fatalf("recording: %s", said)
	}
	harnesstest.Run(t, p) // accepts the golden
	if _, err := os.Stat(filepath.Join(p.Dir, "cassettes", "order", "tools.yaml")); err == nil {
		t.Error("a tool that runs for real was recorded")
	}
	t.Setenv("RETAKE_UPDATE", "")
	cases, err := harnesstest.Cases(p)
	if err != nil || len(cases) != 2 {
		t.Fatal(cases, err)
	}
	for _, c := range cases {
		r := c.Exec(t)
		harnesstest.Check(t, r)
		if r.Clock != clock.ModeReal {
			t.Errorf("the clock is %s", r.Clock)
		}
		if c.Variant == "" && !strings.Contains(string(r.Transcript), `{"gift":"g1","orders":1}`) {
			t.Errorf("the answer is not the server's:\n%s", r.Transcript)
		}
	}
}

// An agent of the user's own runs outside the bubble then, whose fake time a server
// does not share.
func TestOwnAgentWithToolsThatRun(t *testing.T) {
	p := harnesstest.Params{Dir: shopProject(t), NoGolden: true, Agent: harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
		a, err := env.Tools.Call(ctx, "order", "c1", `{"gift":"g2"}`)
		return a.Text, err
	})}
	path := filepath.Join(p.Dir, "cassettes", "order", "m-1.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("version: 2\ninteractions: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases, err := harnesstest.Cases(p)
	if err != nil {
		t.Fatal(err)
	}
	if r := cases[0].Exec(t); r.Outcome.Answer != `{"gift":"g2","orders":1}` || r.Clock != clock.ModeReal {
		t.Errorf("%s, %q: %v", r.Clock, r.Outcome.Answer, r.Failures)
	}
}

// A host that died begins the task again. When the tool then answers otherwise, the
// model's recording does not fit, and the agent has done nothing wrong.
func TestAToolThatAnswersARepeatOtherwise(t *testing.T) {
	p := harnesstest.Params{Dir: shopProject(t)}
	t.Setenv("GOLDIE_UPDATE", "")
	t.Setenv("RETAKE_UPDATE", "1")
	path := filepath.Join(p.Dir, "scenarios", "order.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "  - {id: crash, fault: host.crash_after_effect, at: {tool: order}}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	harnesstest.Scripted(t, p, "order", harnesstest.Recording{Turns: []script.Turn{
		{Calls: []script.Call{{Name: "order", Args: `{"gift":"g1"}`}}},
		{Text: "Ordered."},
	}})
	cases, err := harnesstest.Cases(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Variant != "crash" {
			continue
		}
		r := c.Exec(t)
		// What it did twice comes first, the miss follows from it; both are the tool's.
		if n := len(r.Failures); n != 2 || r.Failures[0].Part != failure.PartTool || !strings.Contains(r.Failures[0].What, "W6: order: 2 effects") ||
			r.Failures[1].Part != failure.PartTool || !strings.Contains(r.Failures[1].What, "the tool answers otherwise than when it was recorded") {
			t.Errorf("%+v", r.Failures)
		}
		return
	}
	t.Fatal("there is no such run")
}

package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/tool"
)

// project is a folder that retake runs: scenarios, cassettes and goldens.
type project struct {
	root  string
	suite *suite.Suite
}

const projectConfig = `models:
  claude-opus-4-8:
    api: anthropic-messages
    base_url: https://api.anthropic.com
    price: {input: 5, output: 25, cache_read: 0.5, cache_write: 6.25, as_of: 2026-11-01}
`

// newProject writes a project of the stories and records them.
func newProject(tb testing.TB, root string, stories []story) *project {
	tb.Helper()
	write(tb, filepath.Join(root, "scenarios", "retake.yaml"), projectConfig)
	write(tb, filepath.Join(root, "scenarios", "shop", "tools.yaml"), toolsFile())
	for _, s := range stories {
		write(tb, filepath.Join(root, "scenarios", "shop", s.id+".yaml"), scenarioFile(s))
	}
	p := openProject(tb, root)
	for _, s := range stories {
		p.record(tb, s)
	}
	return p
}

func openProject(tb testing.TB, root string) *project {
	tb.Helper()
	s, err := suite.Open(suite.Dirs{Root: root}, func(string) string { return "" })
	if err != nil {
		tb.Fatal(err)
	}
	return &project{root, s}
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func toolsFile() string {
	var b strings.Builder
	b.WriteString("tools:\n")
	for _, t := range shopTools() {
		effect := "read"
		if t.Write {
			effect = "write"
		}
		fmt.Fprintf(&b, "  - name: %s\n    description: %q\n    input: %s\n    effect: %s\n    timeout: 10s\n", t.Name, t.Description, t.Schema, effect)
	}
	return b.String()
}

func scenarioFile(s story) string {
	return fmt.Sprintf(`why: What came broken is paid back once, after the order and the rule were looked up.
owner: support-team
labels: [shop, refund]
rollback: Set default_models in scenarios/retake.yaml to the model before.
system: %q
task: %q
model: %s
max_tokens: 1024
limits: {iterations: 5, tool_calls: 6, tokens: 20000, time: 60s}
give_up: {repeated_calls: 2, tool_errors: 3}
expect:
  stop: done
  iterations: 3
  calls:
    - {tool: lookup_order, args: {order_id: %q}, args_match: superset}
    - {tool: search_kb, args: {query: {contains: broken}}, args_match: superset}
    - {tool: issue_refund, args: {order_id: %q, reason: {contains: broken}}, args_match: superset}
  effects: {issue_refund: 1}
  answer: {contains: [%q]}
  tokens: {max: 8000}
  cost: {max: 0.1}
  latency: {max: 20s}
`, system, s.prompt, model, s.order, s.order, s.order)
}

// record runs the story against its canned answers and the shop's real tools,
// and writes the cassettes and the golden.
func (p *project) record(tb testing.TB, s story) {
	tb.Helper()
	name := "shop/" + s.id
	api := &canned{answers: s.answers}
	var calls []cassette.Interaction
	sc, err := p.suite.Load(name)
	if err != nil {
		tb.Fatal(err)
	}
	sc.Expect.Golden = false
	hp, err := p.suite.Params(sc, model, suite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	hp.Transport, hp.Executors = api, map[string]tool.Executor{}
	for _, t := range shopTools() {
		hp.Executors[t.Name] = recordingTool(&calls)
	}
	r := harness.Exec(tb.Context(), hp)
	if r.Verdict != harness.Pass {
		tb.Fatalf("recording: %s", report.Explain(r, 0))
	}
	write(tb, harness.Golden(p.suite.Dirs.Golden, name, model), string(r.Transcript))
	asked := make([]cassette.Interaction, len(api.asked))
	for i, x := range api.asked {
		asked[i] = interaction(x)
	}
	p.save(tb, harness.ModelCassette(p.suite.Dirs.Cassettes, name, model), asked)
	p.save(tb, harness.ToolCassette(p.suite.Dirs.Cassettes, name), calls)
}

func recordingTool(kept *[]cassette.Interaction) tool.Executor {
	return tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) {
		out, err := runTool(c.Tool, c.Args)
		if err != nil {
			return tool.Result{}, err
		}
		result := tool.Result{Content: out}
		i, err := cassette.ToolInteraction(c, result, 0)
		*kept = append(*kept, i)
		return result, err
	})
}

func interaction(x exchange) cassette.Interaction {
	return cassette.Interaction{
		Request: cassette.Request{
			Method: x.request.Method, URL: x.request.URL.String(), Host: x.request.URL.Host, Header: cassette.HeaderOf(x.request.Header),
			Body: x.body, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(x.body)),
		},
		Response: cassette.Response{
			Code: x.response.StatusCode, Status: x.response.Status, Header: cassette.HeaderOf(x.response.Header),
			Body: x.answer, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(x.answer)),
		},
	}
}

// save writes without waiting for the disk: nobody keeps these files.
func (p *project) save(tb testing.TB, path string, made []cassette.Interaction) {
	tb.Helper()
	data, err := cassette.Encode(nil, &cassette.File{Name: path, Version: 2, Notes: cassette.FileNotes{Source: cassette.Scripted, Model: model}, Interactions: made})
	if err != nil {
		tb.Fatal(err)
	}
	write(tb, path, string(data))
}

// reporter begins the n-th report below dir.
func reporter(tb testing.TB, dir string, n int) *report.Writer {
	tb.Helper()
	w, err := report.New(report.Options{Dir: dir, ID: report.NewID(clock.Wallclock(), uint32(n)), Tool: "bench"})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// run replays scenarios with everything on.
func (p *project) run(tb testing.TB, w *report.Writer, names ...string) {
	tb.Helper()
	err := p.suite.Run(tb.Context(), names, suite.Options{RunID: "bench", Parallel: 1}, func(r *harness.Result) error {
		if r.Verdict != harness.Pass {
			return fmt.Errorf("%s: %s", r.Name, report.Explain(r, 0))
		}
		return w.Add(r)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

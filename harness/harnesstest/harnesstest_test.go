package harnesstest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/script"
)

const project = "../internal/cli/testdata/project"

// fakeTB notes what a test is told.
type fakeTB struct {
	testing.TB // for what is not noted, of the test itself
	errors     []string
	logs       []string
}

func (f *fakeTB) Helper()                   {}
func (f *fakeTB) Error(args ...any)         { f.errors = append(f.errors, fmt.Sprint(args...)) }
func (f *fakeTB) Errorf(s string, a ...any) { f.errors = append(f.errors, fmt.Sprintf(s, a...)) }
func (f *fakeTB) Logf(s string, a ...any)   { f.logs = append(f.logs, fmt.Sprintf(s, a...)) }
func (f *fakeTB) Fatal(args ...any)         { f.Error(args...); runtime.Goexit() }
func (f *fakeTB) Fatalf(s string, a ...any) { f.Errorf(s, a...); runtime.Goexit() }
func (f *fakeTB) said() string              { return strings.Join(f.errors, "\n") }
func (f *fakeTB) run(test func(testing.TB)) {
	done := make(chan bool)
	go func() { defer close(done); test(f) }()
	<-done
}

func told(t *testing.T, test func(testing.TB)) *fakeTB {
	t.Helper()
	f := &fakeTB{TB: t}
	f.run(test)
	return f
}

func hello(agent harness.Agent) harnesstest.Params {
	return harnesstest.Params{Dir: project, Scenarios: []string{"hello"}, Agent: agent, NoGolden: true}
}

// A test that fails shows its own message, and the others go on: run as users
// run it.
func TestFailuresAreShown(t *testing.T) {
	for dir, want := range map[string][]string{
		"failing": {
			"--- FAIL: TestError/hello/m-1", "what   no idea what to do", "agent: agent (owner: greeters)",
			"--- FAIL: TestHang/hello/m-1", "what   the agent hung, or left a goroutine behind that does: deadlock: all goroutines in bubble are blocked",
			"--- FAIL: TestLeak/hello/m-1", "deadlock: main bubble goroutine has exited but blocked goroutines remain",
			"--- PASS: TestAfterwards",
		},
		"failingspec": {
			"agents [It] fails", "what   no idea what to do",
			"agents [It] hangs", "what   the agent hung, or left a goroutine behind that does: deadlock",
			"1 Passed | 2 Failed",
		},
		"oneinvalid": {
			"--- FAIL: TestRun/typo", `unknown field "tsk" (did you mean "task"?)`,
			"--- PASS: TestRun/hello/m-1",
			"replay [It] typo", "1 Passed | 1 Failed",
		},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "./testdata/"+dir)
		cmd.Env = append(os.Environ(), "NO_COLOR=1", "GINKGO_CLI_COLOR=never", "GINKGO_NO_COLOR=TRUE")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s: passed", dir)
		}
		for _, part := range want {
			if !strings.Contains(string(out), part) {
				t.Errorf("%s: %q is not in:\n%s", dir, part, out)
			}
		}
		if strings.Contains(string(out), "panic:") {
			t.Errorf("%s: panicked:\n%s", dir, out)
		}
	}
}

// The reference loop, and an agent of one's own on each clock, pass alike.
func TestClocks(t *testing.T) {
	wait := func(sleep func(ctx context.Context) error) harness.Agent {
		return harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
			if err := sleep(ctx); err != nil {
				return "", err
			}
			_, err := env.Tools.Call(ctx, "get_weather", "", `{"city":"London"}`)
			return "It rains.", err
		})
	}
	for _, tc := range []struct {
		why    string
		params harnesstest.Params
		clock  clock.Mode
	}{
		{"package time, in a bubble", harnesstest.Params{Agent: wait(func(context.Context) error { time.Sleep(3 * time.Hour / 4); return nil })}, clock.ModeBubble},
		{"package clock, without one", harnesstest.Params{Virtual: true, Agent: wait(func(ctx context.Context) error { return clock.Sleep(ctx, 3*time.Hour/4) })}, clock.ModeVirtual},
	} {
		tc.params.Dir, tc.params.Scenarios, tc.params.NoGolden = project, []string{"weather"}, true
		cases, err := harnesstest.Cases(tc.params)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		r := cases[0].Exec(t)
		if r.Clock != tc.clock || r.Latency != 3*time.Hour/4+200*time.Millisecond {
			t.Errorf("%s: %v on the clock %s: %+v", tc.why, r.Latency, r.Clock, r.Failures)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v of real time", tc.why, took)
		}
	}
	harnesstest.Run(t, hello(nil))
}

func TestCases(t *testing.T) {
	for _, tc := range []struct {
		why    string
		params harnesstest.Params
		want   string // names, or the error
	}{
		{"all of them", harnesstest.Params{}, "hello weather"},
		{"one", harnesstest.Params{Scenarios: []string{"hello"}}, "hello"},
		{"by label", harnesstest.Params{Labels: []string{"tools"}}, "weather"},
		{"a typo", harnesstest.Params{Scenarios: []string{"helo"}}, `no scenario "helo" below ` + filepath.Join(project, "scenarios") + ` (did you mean "hello"?)`},
		{"nothing has both", harnesstest.Params{Scenarios: []string{"hello"}, Labels: []string{"tools"}}, filepath.Join(project, "scenarios") + `: no scenario has the labels ["tools"] and models [] that are asked for`},
	} {
		tc.params.Dir = project
		cases, err := harnesstest.Cases(tc.params)
		var got []string
		for _, c := range cases {
			got = append(got, c.Name)
		}
		if err != nil {
			got = []string{err.Error()}
			if failure.Of(err) != failure.ScenarioInvalid {
				t.Errorf("%s: of class %s", tc.why, failure.Of(err))
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %q, want %q", tc.why, got, tc.want)
		}
	}
}

// Runs under faults are cases of their own, after the one without.
func TestCasesUnderFaults(t *testing.T) {
	const name = "travel/outage"
	cases, err := harnesstest.Cases(harnesstest.Params{Dir: "../..", Scenarios: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, c.String())
		if r := c.Exec(t); r.Verdict != harness.Pass || r.Variant != c.Variant {
			t.Errorf("%s: %s", c, harnesstest.Explain(r))
		}
	}
	want := []string{
		name + " with claude-opus-4-8", name + " with claude-opus-4-8 under for-a-moment", name + " with claude-opus-4-8 under for-long",
		name + " with claude-opus-4-8 under tool.leaky_error", name + " with claude-opus-4-8 under schema-violation",
		name + " with claude-opus-4-8 under as-recorded",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunTells(t *testing.T) {
	wrong := harness.Func(func(context.Context, *harness.Env) (string, error) { return "Bye!", nil })
	for _, tc := range []struct {
		why    string
		params harnesstest.Params
		want   string
	}{
		{"a pass says nothing", hello(nil), ""},
		{"what cannot begin", harnesstest.Params{Dir: project, Scenarios: []string{"helo"}}, `retake: no scenario "helo"`},
		{"an agent needs a bubble, and a bubble a *testing.T", hello(wrong), "retake: an agent of your own runs in a testing/synctest bubble, which needs a *testing.T: set Params.T"},
		{"a failure, with its reasons", func() harnesstest.Params { p := hello(wrong); p.T = t; return p }(), `the answer does not contain "Hello": "Bye!"`},
	} {
		f := told(t, func(tb testing.TB) { tb.Helper(); harnesstest.Run(tb, tc.params) })
		if tc.want == "" && len(f.errors) > 0 || !strings.Contains(f.said(), tc.want) {
			t.Errorf("%s: said %q", tc.why, f.said())
		}
	}
	f := told(t, func(tb testing.TB) {
		tb.Helper()
		harnesstest.Check(tb, &harness.Result{Name: "x", Verdict: harness.Pass, Accepted: true, Warnings: []string{"odd"}})
	})
	if got := strings.Join(f.logs, "; "); got != "warning: odd; golden accepted: x" || len(f.errors) > 0 {
		t.Errorf("said %q, %q", got, f.errors)
	}
}

// A script becomes a cassette when that is asked for; later it must make the
// same one.
func TestScripted(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "scenarios"), os.DirFS(project+"/scenarios")); err != nil {
		t.Fatal(err)
	}
	p := harnesstest.Params{Dir: dir}
	rec := harnesstest.Recording{
		Turns: []script.Turn{{Calls: []script.Call{{Name: "get_weather", Args: `{"city":"London"}`}}}, {Text: "It rains."}},
		Tools: map[string][]script.Answer{"get_weather": {{Content: `{"rain":true}`}}},
	}
	scripted := func(rec harnesstest.Recording) string {
		return told(t, func(tb testing.TB) { tb.Helper(); harnesstest.Scripted(tb, p, "weather", rec) }).said()
	}
	t.Setenv("RETAKE_UPDATE", "")
	t.Setenv("GOLDIE_UPDATE", "")
	if said := scripted(rec); !strings.Contains(said, "is not what its script makes") || !strings.Contains(said, "RETAKE_UPDATE=1 go test") {
		t.Errorf("without files: %q", said)
	}
	t.Setenv("RETAKE_UPDATE", "1")
	if said := scripted(rec); said != "" {
		t.Errorf("writing: %q", said)
	}
	t.Setenv("RETAKE_UPDATE", "0")
	if said := scripted(rec); said != "" {
		t.Errorf("with its own files: %q", said)
	}
	rec.Turns[1].Text = "It snows."
	if said := scripted(rec); !strings.Contains(said, filepath.Join(dir, "cassettes", "weather", "m-1.yaml")+" is not what its script makes") {
		t.Errorf("another script: %q", said)
	}
	rec.Turns = append(rec.Turns, script.Turn{Text: "And more."})
	if said := scripted(rec); !strings.Contains(said, "weather: 2 of 3 turns of the script were asked for") {
		t.Errorf("a turn too many: %q", said)
	}
}

// What cannot be run is a result, as on the command line, and a script for it
// stops there.
func TestUnusable(t *testing.T) {
	for _, tc := range []struct {
		why, text, want string
		labels          []string
	}{
		{"a scenario with a typo, whatever labels are asked for", "why: x\nowner: us\ntsk: Go.\nmodel: m-9\n", `unknown field "tsk"`, []string{"smoke"}},
		{"a model that nobody describes", "why: x\nowner: us\ntask: Go.\nmodel: m-9\n", `model "m-9": its API is not known`, nil},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "scenarios"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "scenarios", "x.yaml"), []byte(tc.text), 0o644); err != nil {
			t.Fatal(err)
		}
		p := harnesstest.Params{Dir: dir, Labels: tc.labels}
		cases, err := harnesstest.Cases(p)
		if err != nil || len(cases) != 1 {
			t.Fatalf("%s: %v, %v", tc.why, cases, err)
		}
		if r := cases[0].Exec(t); r.Verdict != harness.Invalid || !strings.Contains(harnesstest.Explain(r), tc.want) {
			t.Errorf("%s: %s", tc.why, harnesstest.Explain(r))
		}
		said := told(t, func(tb testing.TB) { tb.Helper(); harnesstest.Scripted(tb, p, "x", harnesstest.Recording{}) }).errors
		if len(said) != 1 || !strings.Contains(said[0], tc.want) {
			t.Errorf("%s: a script for it says %q", tc.why, said)
		}
	}
}

package harness_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// project is a folder with the scenarios hello (a question, an answer) and
// weather (one tool call), their cassettes and goldens.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T) project {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("internal/cli/testdata/project")); err != nil {
		t.Fatal(err)
	}
	p := project{t, dir}
	for _, name := range []string{"hello", "weather"} {
		if r := p.exec(name, func(p *harness.Params) { p.Update = true }); r.Verdict != harness.Pass {
			t.Fatalf("%s: %+v", name, r.Failures)
		}
	}
	return p
}

func (p project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p project) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p project) edit(name, from, to string) {
	p.t.Helper()
	text, err := os.ReadFile(p.path(name))
	if err != nil || !bytes.Contains(text, []byte(from)) {
		p.t.Fatalf("%s has no %q (%v)", name, from, err)
	}
	p.write(name, strings.ReplaceAll(string(text), from, to))
}

// exec runs a scenario; edit changes its Params.
func (p project) exec(name string, edit func(*harness.Params)) *harness.Result {
	p.t.Helper()
	return p.execContext(p.t.Context(), name, edit)
}

func (p project) execContext(ctx context.Context, name string, edit func(*harness.Params)) *harness.Result {
	p.t.Helper()
	s, err := suite.Open(suite.Dirs{Root: p.dir}, func(string) string { return "" })
	if err != nil {
		p.t.Fatal(err)
	}
	sc, err := s.Load(name)
	if err != nil {
		p.t.Fatal(err)
	}
	params, err := s.Params(sc, "m-1", suite.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	edit(&params)
	return harness.Exec(ctx, params)
}

// wants holds the first failure of a result against what it must say.
func wants(t *testing.T, why string, r *harness.Result, verdict harness.Verdict, class failure.Class, part failure.Part, what string) {
	t.Helper()
	if r.Verdict != verdict || len(r.Failures) == 0 {
		t.Errorf("%s: verdict %s with %+v, want %s", why, r.Verdict, r.Failures, verdict)
		return
	}
	f := r.Failures[0]
	if f.Class != class || f.Part != part || !strings.Contains(f.What, what) {
		t.Errorf("%s: the %s is to blame for %s: %s; want the %s for %s: …%s…", why, f.Part, f.Class, f.What, part, class, what)
	}
	for _, f := range r.Failures {
		if f.What == "" || f.Where == "" || f.Why == "" || f.Next == "" {
			t.Errorf("%s: what, where, why or next is not said: %+v", why, f)
		}
	}
	if r.Part() != r.Failures[0].Part {
		t.Errorf("%s: %s is the responsible part", why, r.Part())
	}
}

func asking(f func(ctx context.Context, env *harness.Env) (string, error)) func(*harness.Params) {
	return func(p *harness.Params) { p.Agent = harness.Func(f) }
}

// ask sends a body to the model and returns the answer's.
func ask(ctx context.Context, env *harness.Env, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, env.BaseURL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return env.HTTP.Do(req)
}

const hello = `{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Say hello."}]}`

func TestAPass(t *testing.T) {
	p := newProject(t)
	r := p.exec("weather", func(*harness.Params) {})
	if r.Verdict != harness.Pass || len(r.Failures) != 0 || r.Part() != "" {
		t.Fatalf("%s: %+v", r.Verdict, r.Failures)
	}
	if r.Latency != 2200*time.Millisecond || r.Tokens.Total() != 59 || r.Cost == nil || *r.Cost < 0.000139 || *r.Cost > 0.000141 {
		t.Errorf("latency %v, %d tokens, cost %v", r.Latency, r.Tokens.Total(), r.Cost)
	}
	if len(r.Models) != 2 || len(r.Calls) != 1 || len(r.Attempts) != 1 || r.Outcome.Iterations != 2 || r.Clock != clock.ModeVirtual {
		t.Errorf("%d model and %d tool calls in %d iterations on the clock %s", len(r.Models), len(r.Calls), r.Outcome.Iterations, r.Clock)
	}
}

func TestCassettesThatCannotBeUsed(t *testing.T) {
	for _, tc := range []struct {
		why  string
		edit func(p project)
		v    harness.Verdict
		c    failure.Class
		what string
	}{
		{"broken", func(p project) { p.edit("cassettes/hello/m-1.yaml", "interactions:", "interactions: [") }, harness.Invalid, failure.CassetteInvalid, "m-1.yaml:"},
		{"empty", func(p project) { p.write("cassettes/hello/m-1.yaml", "") }, harness.Invalid, failure.CassetteInvalid, "m-1.yaml"},
		{"binary", func(p project) { p.write("cassettes/hello/m-1.yaml", "\x7fELF\x00\x01\x02") }, harness.Invalid, failure.CassetteInvalid, "m-1.yaml"},
		{"missing", func(p project) { _ = os.Remove(p.path("cassettes/hello/m-1.yaml")) }, harness.Broken, failure.World, "m-1.yaml"},
	} {
		p := newProject(t)
		tc.edit(p)
		wants(t, tc.why, p.exec("hello", func(*harness.Params) {}), tc.v, tc.c, failure.PartCassette, tc.what)
	}
}

// A cassette that cannot be read is opened at the place where it cannot.
func TestAnInvalidCassetteIsNamedAsThePlace(t *testing.T) {
	for name, file := range map[string]string{"hello": "cassettes/hello/m-1.yaml", "weather": "cassettes/weather/tools.yaml"} {
		p := newProject(t)
		p.edit(file, "interactions:\n", "interactions:\n  - 17\n")
		f := p.exec(name, func(*harness.Params) {}).Failures[0]
		if want := p.path(file) + ":3:"; f.Class != failure.CassetteInvalid || !strings.HasPrefix(f.Where, want) || f.Line != 3 {
			t.Errorf("%s: %s at %s, line %d, want %s", name, f.What, f.Where, f.Line, want)
		}
	}
}

// What nobody asked for is told of both files, each with its place.
func TestRecordingsThatNobodyAskedFor(t *testing.T) {
	const model, call = "2 recordings were not asked for: #1 POST /v1/messages, model m-1", `1 recording was not asked for: #1 call of get_weather {"city":"London"}`
	for _, tc := range []struct {
		why  string
		ask  []string // bodies of requests
		call bool
		want map[string]string // how it is told, by file
	}{
		{"everything is", weatherBodies(t), true, nil},
		{"the tool's are not", weatherBodies(t), false, map[string]string{"tools.yaml": call}},
		{"nothing is", nil, false, map[string]string{"m-1.yaml": model, "tools.yaml": call}},
	} {
		p := newProject(t)
		r := p.exec("weather", asking(func(ctx context.Context, env *harness.Env) (string, error) {
			for _, body := range tc.ask {
				resp, err := ask(ctx, env, body)
				if err != nil {
					return "", err
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			if tc.call {
				_, err := env.Tools.Call(ctx, "get_weather", "a", `{"city":"London"}`)
				return "It rains.", err
			}
			return "It rains.", nil
		}))
		got := map[string]string{}
		for _, f := range r.Failures {
			if f.Class == failure.CassetteUnplayed {
				got[filepath.Base(f.Where)], _, _ = strings.Cut(f.What, ", 1 messages")
				if f.Line == 0 {
					t.Errorf("%s: no line for %s", tc.why, f.Where)
				}
			}
		}
		if d := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, d)
		}
	}
}

// weatherBodies are the recorded requests of the scenario weather.
func weatherBodies(t *testing.T) []string {
	t.Helper()
	f, err := cassette.Open("internal/cli/testdata/project/cassettes/weather/m-1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range f.Interactions {
		out = append(out, string(f.Interactions[i].Request.Body))
	}
	return out
}

// Whatever the agent makes of it, what went wrong is told, and blamed on one
// part.
func TestAgents(t *testing.T) {
	p := newProject(t)
	for _, tc := range []struct {
		why      string
		scenario string
		agent    func(ctx context.Context, env *harness.Env) (string, error)
		verdict  harness.Verdict
		class    failure.Class
		part     failure.Part
		what     string
	}{
		{"a miss that is swallowed", "hello", func(ctx context.Context, env *harness.Env) (string, error) {
			_, _ = ask(ctx, env, `{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Say hallo."}]}`)
			return "Hello!", nil
		}, harness.Fail, failure.CassetteMiss, failure.PartScenario, "no recorded reply for model request #1; nearest is #1, differs in prompt"},
		{"a call that was never recorded, swallowed", "weather", func(ctx context.Context, env *harness.Env) (string, error) {
			_, _ = env.Tools.Call(ctx, "get_weather", "a", `{"city":"Paris"}`)
			return "It rains.", nil
		}, harness.Fail, failure.Contract, failure.PartAgent, `W4: get_weather ran and no turn of the model asked for it`},
		{
			"nothing asked at all", "hello", func(context.Context, *harness.Env) (string, error) { return "Hello!", nil },
			harness.Fail, failure.CassetteUnplayed, failure.PartAgent, "1 recording was not asked for: #1 POST /v1/messages, model m-1",
		},
		{
			"a panic", "hello", func(context.Context, *harness.Env) (string, error) { panic("index out of range") },
			harness.Fail, failure.Agent, failure.PartAgent, "the agent panicked: index out of range",
		},
		{
			"an error of its own", "hello", func(context.Context, *harness.Env) (string, error) { return "", errors.New("no idea") },
			harness.Fail, failure.Agent, failure.PartAgent, "no idea",
		},
		{"an error with a class", "hello", func(context.Context, *harness.Env) (string, error) {
			return "", failure.Errorf(failure.RateLimited, "asked to wait for days")
		}, harness.Fail, failure.RateLimited, failure.PartModel, "asked to wait for days"},
		{
			"it waits until the run's time is up", "hello", func(ctx context.Context, _ *harness.Env) (string, error) { return "", clock.Block(ctx) },
			harness.Fail, failure.TimeBudget, failure.PartAgent, "the run ended as time_budget, expected completed: the run's time is up",
		},
	} {
		wants(t, tc.why, p.exec(tc.scenario, asking(tc.agent)), tc.verdict, tc.class, tc.part, tc.what)
	}
}

// The answer counts however the agent treats its body.
func TestBodiesThatAreNotReadToTheEnd(t *testing.T) {
	p := newProject(t)
	for _, tc := range []struct {
		why  string
		read func(resp *http.Response)
		hung bool
	}{
		{"read and closed", func(r *http.Response) { _, _ = io.ReadAll(r.Body); _ = r.Body.Close() }, false},
		{"read and never closed", func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, false},
		{"closed at once", func(r *http.Response) { _ = r.Body.Close() }, true},
		{"left alone", func(*http.Response) {}, true},
	} {
		r := p.exec("hello", asking(func(ctx context.Context, env *harness.Env) (string, error) {
			resp, err := ask(ctx, env, hello)
			if err != nil {
				return "", err
			}
			tc.read(resp)
			return "Hello!", nil
		}))
		if len(r.Models) != 1 || r.Models[0].Hung != tc.hung {
			t.Errorf("%s: %d model calls, %+v", tc.why, len(r.Models), r.Models)
		}
		if !tc.hung && r.Verdict != harness.Pass {
			t.Errorf("%s: %+v", tc.why, r.Failures)
		}
	}
}

// A body that some goroutine of the agent goes on reading when the run is over is
// judged by what was read until then.
func TestABodyThatIsStillReadAtTheEnd(t *testing.T) {
	p, read := newProject(t), make(chan struct{})
	r := p.exec("hello", asking(func(ctx context.Context, env *harness.Env) (string, error) {
		resp, err := ask(ctx, env, hello)
		if err != nil {
			return "", err
		}
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, iotest.OneByteReader(resp.Body))
		}()
		return "Hello!", nil
	}))
	<-read
	if len(r.Models) != 1 {
		t.Errorf("%d model calls, %s", len(r.Models), r.Transcript)
	}
}

// A person who stops the run is no failure of anybody, and beats every other
// reason.
func TestInterruption(t *testing.T) {
	p := newProject(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := p.execContext(ctx, "hello", asking(func(ctx context.Context, env *harness.Env) (string, error) {
		cancel()
		_, err := ask(ctx, env, "{}")
		return "", err
	}))
	wants(t, "cancelled in mid-run", r, harness.NotRun, failure.Interrupted, failure.PartHarness, "interrupted")
}

func TestGoldens(t *testing.T) {
	const golden = "golden/hello/m-1.golden"
	accept := func(p *harness.Params) { p.Update = true }
	for _, tc := range []struct {
		why     string
		edit    func(p project)
		params  func(*harness.Params)
		verdict harness.Verdict
		class   failure.Class
		what    string
		kept    bool // the file is as it was
	}{
		{"equal", func(project) {}, nil, harness.Pass, "", "", true},
		{"equal, and accepted all the same", func(project) {}, accept, harness.Pass, "", "", true},
		{"missing", func(p project) { _ = os.Remove(p.path(golden)) }, nil, harness.Fail, failure.Golden, "there is no golden transcript yet", true},
		{"missing, accepted", func(p project) { _ = os.RemoveAll(p.path("golden")) }, accept, harness.Pass, "", "", false},
		{"different", func(p project) { p.edit(golden, "Hello!", "Bye!") }, nil, harness.Fail, failure.Golden, "the transcript is not the golden one", true},
		{"different, at the same length", func(p project) { p.edit(golden, "Hello!", "Hallo!") }, nil, harness.Fail, failure.Golden, "the transcript is not the golden one", true},
		{"different, accepted", func(p project) { p.edit(golden, "Hello!", "Bye!") }, accept, harness.Pass, "", "", false},
		{"CRLF", func(p project) { p.edit(golden, "\n", "\r\n") }, nil, harness.Invalid, failure.GoldenInvalid, "CRLF", true},
		{"not even its last line end", func(p project) { p.edit(golden, "completed\n", "completed") }, nil, harness.Fail, failure.Golden, "the transcript is not the golden one", true},
		{"other failures are accepted by nobody", func(p project) {
			p.edit(golden, "Hello!", "Bye!")
			p.edit("scenarios/hello.yaml", "[Hello]", "[Bye]")
		}, accept, harness.Fail, failure.Expectation, "the answer does not contain", true},
		{"a folder in its place", func(p project) {
			_ = os.Remove(p.path(golden))
			_ = os.Mkdir(p.path(golden), 0o755)
		}, nil, harness.Broken, failure.World, "reading the golden", true},
	} {
		p := newProject(t)
		tc.edit(p)
		before, _ := os.ReadFile(p.path(golden))
		edit := tc.params
		if edit == nil {
			edit = func(*harness.Params) {}
		}
		r := p.exec("hello", edit)
		after, _ := os.ReadFile(p.path(golden))
		if tc.kept != bytes.Equal(before, after) || r.Accepted == tc.kept {
			t.Errorf("%s: written: %v, said so: %v", tc.why, !bytes.Equal(before, after), r.Accepted)
		}
		if tc.verdict == harness.Pass {
			if r.Verdict != harness.Pass || !tc.kept && !bytes.Equal(after, r.Transcript) {
				t.Errorf("%s: %s, %+v", tc.why, r.Verdict, r.Failures)
			}
			continue
		}
		part := failure.PartModel
		switch {
		case tc.class == failure.GoldenInvalid || tc.class == failure.World:
			part = failure.PartHarness
		case tc.why == "missing":
			part = failure.PartScenario
		case tc.why == "not even its last line end":
			part = failure.PartAgent
		}
		wants(t, tc.why, r, tc.verdict, tc.class, part, tc.what)
	}
}

// What a scenario expects, and how a run that is otherwise says so.
func TestExpectations(t *testing.T) {
	for _, tc := range []struct {
		why, expect, what string
		class             failure.Class
	}{
		{"the stop", "{stop: truncated}", `the last stop is "done", expected "truncated"`, failure.Expectation},
		{"the provider's word", "{stop_raw: stop_sequence}", `the last stop reason is "end_turn", expected "stop_sequence"`, failure.Expectation},
		{"iterations", "{iterations: 3}", "2 iterations, expected 3", failure.Expectation},
		{"tool calls", "{tool_calls: {min: 2}}", "1 tool call, expected at least 2", failure.Expectation},
		{"calls", "{calls: [{tool: get_weather, args: {city: Paris}}]}", `the tool calls differ: call 1: get_weather: argument "city": want "Paris", got "London"`, failure.Expectation},
		{"the answer", "{answer: {equals: It snows.}}", `the answer is "It rains.", expected "It snows."`, failure.Expectation},
		{"a part of it", "{answer: {contains: [snow]}}", `the answer does not contain "snow": "It rains."`, failure.Expectation},
		{"its form", `{answer: {regexp: "^No"}}`, `the answer does not match "^No": "It rains."`, failure.Expectation},
		{"its schema", "{answer: {schema: {type: object}}}", "the answer does not fit its schema: ", failure.Expectation},
		{"tokens", "{tokens: {max: 58}}", "59 tokens, at most 58 expected", failure.Budget},
		{"cost", "{cost: {max: 0.0001}}", "$0.000140, at most $0.000100 expected", failure.Budget},
		{"latency", "{latency: {max: 2s}}", "2.2s on the run's clock, at most 2s expected", failure.Budget},
		{"another end", "{outcome: iteration_cap}", "the run ended as completed, expected iteration_cap", failure.Expectation},
	} {
		p := newProject(t)
		p.edit("scenarios/weather.yaml", "expect:\n  calls: [{tool: get_weather, args: {city: London}}]", "expect: "+tc.expect)
		r := p.exec("weather", func(*harness.Params) {})
		part := failure.PartModel // what it says is read from its recording
		if tc.why == "another end" {
			part = failure.PartAgent
		}
		wants(t, tc.why, r, harness.Fail, tc.class, part, tc.what)
		if f := r.Failures[0]; f.Line != 12 || !strings.Contains(f.Where, "weather.yaml:12:") {
			t.Errorf("%s: the place is %s, line %d", tc.why, f.Where, f.Line)
		}
	}
}

// A breach of the contract fails the run and names the part that has to act.
func TestBreaches(t *testing.T) {
	p := newProject(t)
	model := &script.Model{API: wire.AnthropicMessages, Name: "m-1", Turns: []script.Turn{
		{Calls: []script.Call{{Name: "get_weather", Args: `{"city":"London"}`}}}, {Text: "It rains."},
	}}
	leaky := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Err: &tool.Error{Code: "X", Message: "open /etc/passwd: no", Class: failure.ToolFailed}}, nil
	})
	r := p.exec("weather", func(p *harness.Params) {
		p.Transport, p.Executors = model, map[string]tool.Executor{"get_weather": leaky}
	})
	wants(t, "a tool that leaks", r, harness.Fail, failure.Contract, failure.PartTool, `W8: the error of get_weather would have shown the model an absolute path: " /etc/passwd"; it was kept from it`)
}

// Answers that take no time are in the order in which they came.
func TestARunWithoutAnyTime(t *testing.T) {
	p := newProject(t)
	duration := regexp.MustCompile(`(?m)^ +duration: .*\n`)
	for _, file := range []string{"cassettes/weather/m-1.yaml", "cassettes/weather/tools.yaml"} {
		text, err := os.ReadFile(p.path(file))
		if err != nil {
			t.Fatal(err)
		}
		p.write(file, duration.ReplaceAllString(string(text), ""))
	}
	r := p.exec("weather", func(*harness.Params) {})
	if r.Verdict != harness.Pass || r.Latency != 0 {
		t.Errorf("%s after %v: %+v", r.Verdict, r.Latency, r.Failures)
	}
}

// A key that the host makes differs from run to run; nothing that is compared
// or reported does.
func TestHostKeysLeaveNoTrace(t *testing.T) {
	p := newProject(t)
	p.edit("scenarios/weather.yaml", "effect: read", "effect: write\n    key: {field: key, from: host}")
	p.edit("scenarios/weather.yaml", ", additionalProperties: false", "")
	p.edit("cassettes/weather/m-1.yaml", `,"additionalProperties":false`, "")
	var args []string
	for _, run := range []string{"one", "two"} {
		r := p.exec("weather", func(p *harness.Params) { p.RunID = run })
		if r.Verdict != harness.Pass || r.Effects["get_weather"] != 1 {
			t.Fatalf("%s: %+v, effects %v", r.Verdict, r.Failures, r.Effects)
		}
		args = append(args, string(r.Calls[0].Args), string(r.Attempts[0].Args))
	}
	if diff := cmp.Diff([]string{`{"city":"London"}`, `{"city":"London"}`, `{"city":"London"}`, `{"city":"London"}`}, args); diff != "" {
		t.Errorf("written down (-want +got):\n%s", diff)
	}
}

// An agent that asks for ever and looks at nothing is stopped, on either clock.
func TestAnAgentThatRunsAway(t *testing.T) {
	p := newProject(t)
	for _, mode := range []clock.Mode{clock.ModeVirtual, clock.ModeReal} {
		r := p.exec("hello", func(hp *harness.Params) {
			hp.Clock = mode
			asking(func(_ context.Context, env *harness.Env) (string, error) {
				for {
					if resp, err := ask(context.WithoutCancel(t.Context()), env, hello); err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
					}
				}
			})(hp)
			if mode == clock.ModeVirtual {
				asking(func(ctx context.Context, env *harness.Env) (string, error) {
					for {
						_, _ = ask(ctx, env, hello)
					}
				})(hp)
			}
			hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "model.overloaded", Times: fault.Every}}}
		})
		wants(t, string(mode), r, harness.Fail, failure.Agent, failure.PartAgent, "the agent asked more than 1000 times for just the same, and was stopped")
	}
}

// An agent may end its goroutine, as testing.T.FailNow does; that is its failure.
func TestAnAgentThatEndsItsGoroutine(t *testing.T) {
	r := newProject(t).exec("hello", func(hp *harness.Params) {
		hp.Clock = clock.ModeReal
		asking(func(context.Context, *harness.Env) (string, error) { runtime.Goexit(); return "", nil })(hp)
	})
	wants(t, "it ended", r, harness.Fail, failure.Agent, failure.PartAgent, "the agent ended its goroutine instead of returning")
}

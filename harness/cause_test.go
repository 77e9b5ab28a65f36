package harness_test

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// Who changed what decides whom a failure is blamed on.
func TestTheCauseIsBlamed(t *testing.T) {
	const model, tools = "cassettes/weather/m-1.yaml", "cassettes/weather/tools.yaml"
	for _, tc := range []struct {
		why   string
		edit  func(p project)
		run   func(*harness.Params)
		class failure.Class
		part  failure.Part
		what  string
	}{
		{"a word of the task", func(p project) { p.edit("scenarios/weather.yaml", "Does it rain?", "Does it snow?") }, nil, failure.CassetteMiss, failure.PartScenario, "prompt"},
		{"a tool's description", func(p project) { p.edit("scenarios/weather.yaml", "of now", "of today") }, nil, failure.CassetteMiss, failure.PartScenario, "tools"},
		{"a recorded tool result", func(p project) { p.edit(tools, `rain`, `snow`) }, nil, failure.CassetteMiss, failure.PartCassette, "history"},
		{"a tool that runs for real and answers otherwise", func(project) {}, func(p *harness.Params) {
			p.Executors = map[string]tool.Executor{"get_weather": tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Content: "sun"}, nil
			})}
		}, failure.CassetteMiss, failure.PartTool, "history"},
		{"a recorded argument", func(p project) {
			p.edit(model, `"id":"a","name":"get_weather","input":{"city":"London"}}],"stop`, `"id":"a","name":"get_weather","input":{"city":"Leeds"}}],"stop`)
		}, nil, failure.CassetteMiss, failure.PartCassette, "arguments"},
		{"a guard that was not there", func(p project) {
			p.edit("scenarios/weather.yaml", "expect:", "guard: [{tool: get_weather, reason: no}]\nexpect:")
		}, nil, failure.CassetteMiss, failure.PartScenario, "nearest is #2, differs in history"},
		{"the recorded answer", func(p project) { p.edit(model, "It rains.", "It pours.") }, nil, failure.Golden, failure.PartModel, "golden"},
	} {
		p := newProject(t)
		tc.edit(p)
		run := tc.run
		if run == nil {
			run = func(*harness.Params) {}
		}
		wants(t, tc.why, p.exec("weather", run), harness.Fail, tc.class, tc.part, tc.what)
	}
}

// A miss that follows from a broken rule is told after the rule, and does not
// advise to ignore the id of a call.
func TestABrokenRuleComesBeforeItsMiss(t *testing.T) {
	p := newProject(t)
	r := p.exec("weather", asking(func(ctx context.Context, env *harness.Env) (string, error) {
		const tools = `"tools":[{"name":"get_weather","description":"The weather of now.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}}]`
		first := `{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Does it rain?"}],` + tools + `}`
		resp, err := ask(ctx, env, first)
		if err != nil {
			return "", err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		a, err := env.Tools.Call(ctx, "get_weather", "a", `{"city":"London"}`)
		if err != nil {
			return "", err
		}
		_, err = ask(ctx, env, `{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Does it rain?"},`+
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"get_weather","input":{"city":"London"}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b7","content":`+strconv.Quote(a.Text)+`}]}],`+tools+`}`)
		return "", err
	}))
	wants(t, "a result under a foreign id", r, harness.Fail, failure.Contract, failure.PartAgent, "W1: request 2")
	for _, f := range r.Failures {
		if strings.Contains(f.What, "ignore: [") {
			t.Errorf("advises to ignore the id: %s", f.What)
		}
	}
}

// Limits are held against figures that were reported, or the run is no pass.
func TestUsageThatIsMissingOrNonsense(t *testing.T) {
	for _, tc := range []struct {
		why, usage, expect string
		verdict            harness.Verdict
		class              failure.Class
		what               string
	}{
		{"none, and a limit", `"x":1`, "{tokens: {max: 1000}}", harness.Fail, failure.Budget, "the tokens cannot be told: answer #1 reports no usage"},
		{"none, and a limit on cost", `"x":1`, "{cost: {max: 1}}", harness.Fail, failure.Budget, "the tokens cannot be told: answer #1"},
		{"none, and no limit", `"x":1`, "{stop: done}", harness.Pass, "", ""},
		{"a negative figure", `"usage":{"input_tokens":-20,"output_tokens":5}`, "{stop: done}", harness.Fail, failure.Protocol, "a negative number of tokens"},
		{"a figure that is no whole number", `"usage":{"input_tokens":"20","output_tokens":5}`, "{tokens: {max: 1000}}", harness.Fail, failure.Budget, "the tokens cannot be told"},
	} {
		p := newProject(t)
		p.edit("cassettes/weather/m-1.yaml", `"usage":{"input_tokens":20,"output_tokens":5}`, tc.usage)
		p.edit("scenarios/weather.yaml", "expect:\n  calls: [{tool: get_weather, args: {city: London}}]", "expect: "+tc.expect)
		r := p.exec("weather", func(*harness.Params) {})
		if tc.verdict == harness.Pass {
			if r.Verdict != harness.Pass {
				t.Errorf("%s: %+v", tc.why, r.Failures)
			}
			continue
		}
		wants(t, tc.why, r, tc.verdict, tc.class, failure.PartModel, tc.what)
	}
}

// An agent that returns something else than the model said does not pass its
// golden, and one that does not do what the scenario says is warned of.
func TestAnAgentWithAWillOfItsOwn(t *testing.T) {
	p := newProject(t)
	r := p.exec("hello", asking(func(ctx context.Context, env *harness.Env) (string, error) {
		resp, err := ask(ctx, env, hello)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return "Hello! I promise you the moon.", err
	}))
	wants(t, "another answer", r, harness.Fail, failure.Golden, failure.PartAgent, "golden")
	p.edit("scenarios/hello.yaml", "max_tokens: 64", "max_tokens: 64\nsystem: Be brief.\ntool_choice: none\nparams: {temperature: 0}\nstream: true")
	r = p.exec("hello", asking(func(ctx context.Context, env *harness.Env) (string, error) {
		resp, err := ask(ctx, env, hello)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return "Hello!", err
	}))
	said := strings.Join(r.Warnings, "\n")
	for _, field := range []string{"system", "tool_choice", "params.temperature", "stream"} {
		if !strings.Contains(said, "the scenario says under "+field) {
			t.Errorf("no warning of %s in %q", field, said)
		}
	}
	if strings.Contains(said, "max_tokens") {
		t.Errorf("a warning of what the agent does: %s", said)
	}
}

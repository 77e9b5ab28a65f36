package harness_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/transcript"
)

// under runs the scenario weather under faults, in the lines of the command line.
// What its expectations are, the variant takes over.
func (p project) under(t *testing.T, edit func(*scenario.Variant), specs ...string) *harness.Result {
	t.Helper()
	return p.exec("weather", func(hp *harness.Params) {
		v := &scenario.Variant{ID: "v", OnDivergence: scenario.DivergeStop, Expect: hp.Scenario.Expect}
		v.Expect.Golden = false
		for _, text := range specs {
			s, err := fault.ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			v.Faults = append(v.Faults, s)
		}
		edit(v)
		hp.Variant = v
	})
}

func asItIs(*scenario.Variant) {}

// What the model does not see goes on with the same recording.
func TestBelowTheModelsSight(t *testing.T) {
	p := newProject(t)
	plain := p.exec("weather", func(*harness.Params) {})
	for _, spec := range []string{"model.overloaded", "model.reset@call=2", "model.rate_limit@call=1,retry_after=30s", "model.timeout", "host.regenerate"} {
		r := p.under(t, asItIs, spec)
		if r.Verdict != harness.Pass || len(r.Faults) != 1 || r.Faults[0].Times != 1 || r.Variant != "v" {
			t.Errorf("%s: %s %+v %+v", spec, r.Verdict, r.Failures, r.Faults)
		}
		if r.Outcome.Answer != plain.Outcome.Answer || r.Latency <= plain.Latency {
			t.Errorf("%s: answer %q after %v, without faults %q after %v", spec, r.Outcome.Answer, r.Latency, plain.Outcome.Answer, plain.Latency)
		}
	}
}

// What the model sees ends the recording: what was not checked is named, and is
// never a pass by itself.
func TestADivergence(t *testing.T) {
	p := newProject(t)
	for _, tc := range []struct {
		why     string
		edit    func(*scenario.Variant)
		verdict harness.Verdict
		what    string // of the first failure, or of a warning
	}{
		{"the expectations of the scenario are not checked", asItIs, harness.Diverged, "the recording ends where the model sees tool.unavailable at get_weather call 1"},
		{"accepted with a reason", func(v *scenario.Variant) { v.Accept = "the outage is what it is about" }, harness.Pass, "accepted: the outage is what it is about"},
		{"how the run ends is always expected", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{Told: []string{"UPSTREAM_UNAVAILABLE"}}
		}, harness.Diverged, "not checked: expect.outcome"},
		{"more calls than expected were made already", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{ToolCalls: &scenario.Range{}}
			v.Accept = "the outage is what it is about"
		}, harness.Fail, "1 tool call already, expected at most 0"},
		{"more turns, too", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{Iterations: &scenario.Range{}}
			v.Accept = "the outage is what it is about"
		}, harness.Fail, "1 iteration already, expected at most 0"},
		{"other calls than expected were made already", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{Calls: &transcript.Match{Calls: []transcript.ExpectedCall{{Tool: "get_time"}, {Tool: "get_weather"}}}}
			v.Accept = "the outage is what it is about"
		}, harness.Fail, "the tool calls differ"},
		{"calls that are not among those expected in any order", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{Calls: &transcript.Match{Mode: transcript.Unordered, Calls: []transcript.ExpectedCall{{Tool: "get_time"}}}}
			v.Accept = "the outage is what it is about"
		}, harness.Fail, "the tool calls differ"},
		{"what is missing of those expected may still come", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{Calls: &transcript.Match{Mode: transcript.Superset, Calls: []transcript.ExpectedCall{{Tool: "get_time"}}}}
			v.Accept = "the outage is what it is about"
		}, harness.Pass, "accepted"},
		{"what is expected until there does not hold", func(v *scenario.Variant) {
			v.Expect = scenario.Expect{Told: []string{"sunny"}}
		}, harness.Fail, `the model was not told "sunny"`},
	} {
		r := p.under(t, tc.edit, "tool.unavailable@times=every")
		said := strings.Join(r.Warnings, "\n")
		for _, f := range r.Failures {
			said += f.What
		}
		if r.Verdict != tc.verdict || !strings.Contains(said, tc.what) {
			t.Errorf("%s: %s: %s", tc.why, r.Verdict, said)
		}
		if r.Outcome.Class != failure.Diverged || !strings.Contains(string(r.Transcript), "fault     tool.unavailable get_weather call 1 attempt 1") {
			t.Errorf("%s: outcome %q\n%s", tc.why, r.Outcome.Class, r.Transcript)
		}
	}
}

// A breach stays a breach where the recording ends.
func TestABreachInADivergence(t *testing.T) {
	p := newProject(t)
	for _, only := range []bool{false, true} {
		r := p.exec("weather", func(hp *harness.Params) {
			hp.ContractOnly = only
			hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "tool.panic"}}, Accept: "of no interest"}
			asking(func(ctx context.Context, env *harness.Env) (string, error) {
				const q = `{"model":"m-1","max_tokens":64,"tools":[{"name":"get_weather","description":"The weather of now.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}}],"messages":[{"role":"user","content":"Does it rain?"}`
				resp, err := ask(ctx, env, q+`]}`)
				if err != nil {
					return "", err
				}
				var said struct {
					Content []struct {
						ID string `json:"id"`
					} `json:"content"`
				}
				text, err := io.ReadAll(resp.Body)
				if err != nil {
					return "", err
				}
				if err := json.Unmarshal(text, &said); err != nil {
					return "", err
				}
				call := said.Content[len(said.Content)-1]
				if _, err := env.Tools.Call(ctx, "get_weather", call.ID, `{"city":"London"}`); err != nil {
					return "", err
				}
				_, err = ask(ctx, env, q+`,{"role":"assistant","content":[{"type":"tool_use","id":"`+call.ID+`","name":"get_weather","input":{"city":"London"}}]},{"role":"user","content":"never mind"}]}`)
				return "", err
			})(hp)
		})
		if r.Verdict != harness.Fail || len(r.Breaches) == 0 || r.Breaches[0].Rule != "W1" {
			t.Errorf("contract only %v: %s %+v", only, r.Verdict, r.Failures)
		}
	}
}

// A script goes on where the recording ends; a turn that is never said fails.
func TestAScriptGoesOn(t *testing.T) {
	p := newProject(t)
	sorry := scenario.Said{When: scenario.When{Code: "UPSTREAM_UNAVAILABLE"}, Text: "The weather service is down."}
	good := scenario.Said{When: scenario.When{Code: "ok"}, Text: "Fine."}
	for _, tc := range []struct {
		why    string
		script []scenario.Said
		fault  string
		want   harness.Verdict
		what   string
	}{
		{"the turn that fits", []scenario.Said{sorry}, "tool.unavailable@times=every", harness.Pass, ""},
		{"one turn too many", []scenario.Said{sorry, good}, "tool.unavailable@times=every", harness.Fail, "1 turn of the script was never said: [2]"},
		{"no turn fits", []scenario.Said{good}, "tool.unavailable@times=every", harness.Invalid, "UPSTREAM_UNAVAILABLE"},
		{"the run never leaves its recording", []scenario.Said{sorry}, "model.overloaded", harness.Fail, "the run never left its recording"},
	} {
		r := p.under(t, func(v *scenario.Variant) {
			v.OnDivergence, v.Script, v.Expect = scenario.DivergeScript, tc.script, scenario.Expect{}
		}, tc.fault)
		said := ""
		for _, f := range r.Failures {
			said += f.What
		}
		if r.Verdict != tc.want || !strings.Contains(said, tc.what) {
			t.Errorf("%s: %s: %s\n%s", tc.why, r.Verdict, said, r.Transcript)
		}
		if tc.want == harness.Pass && r.Outcome.Answer != "The weather service is down." {
			t.Errorf("%s: answer %q", tc.why, r.Outcome.Answer)
		}
	}
}

// In mode sequence the recordings would answer whatever the model was shown: there,
// too, they end where it sees a fault.
func TestADivergenceInModeSequence(t *testing.T) {
	p := newProject(t)
	p.edit("scenarios/weather.yaml", "model: m-1", "model: m-1\nreplay: {match: sequence}")
	if r := p.under(t, asItIs, "model.overloaded"); r.Verdict != harness.Pass {
		t.Errorf("not seen: %s %+v", r.Verdict, r.Failures)
	}
	wants(t, "seen", p.under(t, asItIs, "tool.panic"), harness.Diverged, failure.Diverged, failure.PartScenario, "the recording ends where the model sees tool.panic")
}

// A recording that was made under the fault is replayed as a whole.
func TestARecordingUnderTheFault(t *testing.T) {
	p := newProject(t)
	recorded := func(v *scenario.Variant) { v.OnDivergence = scenario.DivergeRecorded }
	r := p.under(t, recorded, "model.overloaded")
	wants(t, "without the recording", r, harness.Broken, failure.World, failure.PartCassette, filepath.Join("weather", "m-1", "v.yaml"))
	text, err := os.ReadFile(p.path("cassettes/weather/m-1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.path("cassettes/weather/m-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("cassettes/weather/m-1/v.yaml", strings.ReplaceAll(string(text), "sunny", "hot"))
	r = p.under(t, recorded, "tool.unavailable@times=every")
	if r.Verdict != harness.Diverged {
		t.Errorf("a recording that does not know what the model is shown: %s %+v", r.Verdict, r.Failures)
	}
	_, one, _ := strings.Cut(string(text), "interactions:\n")
	p.write("cassettes/weather/m-1/v.yaml", string(text)+one)
	wants(t, "more than is asked for", p.under(t, recorded, "model.overloaded"), harness.Fail, failure.CassetteUnplayed, failure.PartAgent, "2 recordings were not asked for")
	p.write("cassettes/weather/m-1/v.yaml", strings.ReplaceAll(string(text), "sunny", "hot"))
	if r = p.under(t, recorded, "model.overloaded"); r.Models == nil || r.Verdict == harness.Broken {
		t.Errorf("with it: %s %+v", r.Verdict, r.Failures)
	}
}

// An agent that changes what it asks when it tries again is told from one that
// tries again.
func TestAnAgentThatChangesItsMindAtARetry(t *testing.T) {
	p := newProject(t)
	r := p.exec("hello", func(hp *harness.Params) {
		hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "model.overloaded"}}}
		asking(func(ctx context.Context, env *harness.Env) (string, error) {
			resp, err := ask(ctx, env, hello)
			if err == nil {
				_ = resp.Body.Close()
				more := strings.Replace(hello, `"Say hello."}`, `"Say hello."},{"role":"user","content":"Please go on."}`, 1)
				_, err = ask(ctx, env, more)
			}
			return "", err
		})(hp)
	})
	wants(t, "another message", r, harness.Fail, failure.CassetteMiss, failure.PartAgent, "which the model was not shown, the agent asks for something else")
}

// An agent that swallows a miss of its own making has missed all the same.
func TestASwallowedMissUnderAFault(t *testing.T) {
	p := newProject(t)
	r := p.exec("hello", func(hp *harness.Params) {
		hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "model.overloaded"}}}
		asking(func(ctx context.Context, env *harness.Env) (string, error) {
			for _, body := range []string{hello, strings.ReplaceAll(hello, "hello", "goodbye"), hello} {
				if resp, err := ask(ctx, env, body); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
				}
			}
			return "Hello!", nil
		})(hp)
	})
	if r.Verdict != harness.Fail || r.Failures[0].Class != failure.CassetteMiss {
		t.Errorf("%s: %+v", r.Verdict, r.Failures)
	}
}

// The first run of a task that is run again has to ask for what was recorded, too.
func TestALazyRunBeforeTheNext(t *testing.T) {
	p := newProject(t)
	runs := 0
	r := p.exec("hello", func(hp *harness.Params) {
		hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "host.regenerate"}}}
		asking(func(ctx context.Context, env *harness.Env) (string, error) {
			if runs++; runs == 1 {
				return "Hello!", nil
			}
			resp, err := ask(ctx, env, hello)
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			return "Hello!", err
		})(hp)
	})
	if r.Verdict != harness.Fail || r.Failures[0].Class != failure.CassetteUnplayed {
		t.Errorf("%s: %+v", r.Verdict, r.Failures)
	}
}

// What cannot be: a fault while recording, a place that the recording has not, a
// fault that never strikes.
func TestFaultsThatCannotBe(t *testing.T) {
	p := newProject(t)
	for _, tc := range []struct{ why, spec, what string }{
		{"a later model call", "model.reset@call=3", "model.reset strikes call 3: the recording has 2 model calls"},
		{"a later tool call", "tool.panic@tool=get_weather,call=2", "tool.panic strikes get_weather call 2: the recording has 1 call of get_weather"},
		{"an event of no stream", "model.reset@call=1,event=4", "the recorded answer has 0 events"},
	} {
		wants(t, tc.why, p.under(t, asItIs, tc.spec), harness.Invalid, failure.ScenarioInvalid, failure.PartScenario, tc.what)
	}
	r := p.exec("weather", func(hp *harness.Params) {
		hp.Recording, hp.Variant = true, &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "model.reset"}}}
	})
	wants(t, "recording", r, harness.Invalid, failure.ScenarioInvalid, failure.PartScenario, "faults are refused while recording")
}

// What a further attempt has made good the model has not seen: it excuses neither
// a miss nor a recording that was not asked for.
func TestAFaultThatWasMadeGood(t *testing.T) {
	p := newProject(t)
	p.edit("scenarios/weather.yaml", "effect: read", "effect: read\n    retry: {attempts: 2}")
	if r := p.under(t, asItIs, "tool.unavailable"); r.Verdict != harness.Pass || len(r.Attempts) != 2 {
		t.Errorf("made good: %s %+v", r.Verdict, r.Failures)
	}
	restart := asking(func(ctx context.Context, env *harness.Env) (string, error) {
		if _, err := env.Tools.Call(ctx, "get_weather", "id", `{"city":"London"}`); err != nil {
			return "", err
		}
		_, err := ask(ctx, env, hello)
		return "", err
	})
	r := p.exec("weather", func(hp *harness.Params) {
		hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "tool.unavailable"}}}
		restart(hp)
	})
	if r.Verdict != harness.Fail || r.Failures[len(r.Failures)-1].Class != failure.CassetteMiss {
		t.Errorf("another question: %s %+v", r.Verdict, r.Failures)
	}
	text, err := os.ReadFile(p.path("cassettes/weather/m-1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, one, _ := strings.Cut(string(text), "interactions:\n")
	p.write("cassettes/weather/m-1.yaml", string(text)+strings.ReplaceAll(one, "Does it rain?", "Does it snow?"))
	for _, spec := range []string{"tool.unavailable", "tool.duplicate_delivery", "model.overloaded"} {
		wants(t, "spare recordings, "+spec, p.under(t, asItIs, spec), harness.Fail, failure.CassetteUnplayed, failure.PartAgent, "2 recordings were not asked for")
	}
}

// A fault takes the place of a recorded attempt of its tool: what is left over then
// is nothing that the agent did not ask for.
func TestAStruckToolLeavesRecordings(t *testing.T) {
	p := newProject(t)
	p.edit("scenarios/weather.yaml", "effect: read", "effect: read\n    retry: {attempts: 2}")
	text, err := os.ReadFile(p.path("cassettes/weather/tools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, one, _ := strings.Cut(string(text), "interactions:\n")
	p.write("cassettes/weather/tools.yaml", string(text)+one)
	if r := p.under(t, asItIs, "tool.unavailable"); r.Verdict != harness.Pass {
		t.Errorf("%s: %+v", r.Verdict, r.Failures)
	}
	wants(t, "without a fault at a tool", p.under(t, asItIs, "model.overloaded"), harness.Fail, failure.CassetteUnplayed, failure.PartAgent, "1 recording was not asked for")
}

// A script whose turn calls what the tools' cassette does not know is told as that.
func TestAScriptThatCallsTheUnknown(t *testing.T) {
	p := newProject(t)
	r := p.under(t, func(v *scenario.Variant) {
		v.OnDivergence, v.Expect = scenario.DivergeScript, scenario.Expect{}
		v.Script = []scenario.Said{{Calls: []scenario.SaidCall{{Tool: "get_weather", Args: []byte(`{"city":"Rome"}`)}}}, {Text: "Done."}}
	}, "tool.unavailable@times=every")
	if r.Verdict != harness.Fail || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].What, "the script's turns call what the tools' cassette has no answer to") {
		t.Errorf("%s: %+v", r.Verdict, r.Failures)
	}
}

// A miss that no fault has led to stays one, also in a run under faults.
func TestAMissUnderAFaultThatNobodySees(t *testing.T) {
	p := newProject(t)
	r := p.exec("weather", func(hp *harness.Params) {
		hp.Variant = &scenario.Variant{ID: "v", Faults: []fault.Spec{{Name: "model.overloaded"}}}
		asking(func(ctx context.Context, env *harness.Env) (string, error) {
			resp, err := ask(ctx, env, hello)
			if err == nil {
				_ = resp.Body.Close()
				_, err = ask(ctx, env, strings.ReplaceAll(hello, "hello", "goodbye"))
			}
			return "", err
		})(hp)
	})
	wants(t, "another question", r, harness.Fail, failure.CassetteMiss, failure.PartScenario, "no recorded reply")
}

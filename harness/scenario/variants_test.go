package scenario_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

// shop is a scenario with a read and a write.
const shop = valid + "tools: [{name: find, effect: read}, {name: order}, {name: web, provider: {type: web_search}}]\n"

const everyFault = shop + `stream: true
seed: 7
expect: {effects: {order: 1}, answer: {contains: yes}, golden: false}
faults:
  - fault: tool.lost_ack
    id: lost-twice
    at: {tool: order, call: 2, attempt: 1}
    times: every
    chance: 0.25
    with: {delay: 2s}
    and:
      - fault: model.reset
        at: {call: every, event: 3}
        times: 2
    on_divergence: script
    script:
      - when: {code: UPSTREAM_TIMEOUT, tool: order, call: 3}
        text: I will look.
        calls:
          - tool: find
            args: {q: 12.50}
          - tool: find
        stop: tool_use
      - text: It is ordered.
    expect: {golden: true, attempts: {min: 4}, told: UPSTREAM_TIMEOUT, breaches: [W6]}
`

func TestFaults(t *testing.T) {
	s := load(t, everyFault, scenario.Options{})
	want := []scenario.Variant{{
		ID: "lost-twice", Part: "faults[0]", OnDivergence: scenario.DivergeScript,
		Faults: []fault.Spec{
			{
				Name: "tool.lost_ack", At: fault.Address{Tool: "order", Call: 2, Attempt: 1}, Times: fault.Every, Chance: 0.25,
				Params: fault.Params{Delay: 2 * time.Second},
			},
			{Name: "model.reset", At: fault.Address{Call: fault.Every, Event: 3}, Times: 2},
		},
		Script: []scenario.Said{
			{
				When: scenario.When{Code: "UPSTREAM_TIMEOUT", Tool: "order", Call: 3}, Text: "I will look.", Stop: "tool_use",
				Calls: []scenario.SaidCall{{Tool: "find", Args: jsontext.Value(`{"q":12.50}`)}, {Tool: "find", Args: jsontext.Value("{}")}},
			},
			{Text: "It is ordered."},
		},
		Expect: scenario.Expect{
			Outcome: "completed", Answer: scenario.Answer{Contains: []string{"yes"}}, Effects: map[string]int{"order": 1},
			Golden: true, Attempts: &scenario.Range{Min: 4, Max: math.MaxInt}, Told: []string{"UPSTREAM_TIMEOUT"}, Breaches: []string{"W6"},
		},
	}}
	if diff := cmp.Diff(want, s.Variants); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Seed != 7 {
		t.Errorf("the seed is %d", s.Seed)
	}
}

func TestFaultWithNothingElse(t *testing.T) {
	s := load(t, valid+"faults: [{fault: model.reset}]\n", scenario.Options{})
	want := []scenario.Variant{{
		ID: "model.reset", Faults: []fault.Spec{{Name: "model.reset"}}, OnDivergence: scenario.DivergeStop,
		Expect: scenario.Expect{Outcome: "completed"}, Part: "faults[0]",
	}}
	if diff := cmp.Diff(want, s.Variants); diff != "" || len(s.Warnings) > 0 {
		t.Errorf("(-want +got):\n%s\n%v", diff, s.Warnings)
	}
}

func TestExpectationsUnderFaults(t *testing.T) {
	const base = shop + "expect: {stop: done, iterations: 2, calls: [find], effects: {order: 1}, answer: {contains: yes}, tokens: {max: 9}, attempts: 2, told: x, breaches: [W6], golden: true}\n"
	full := scenario.Expect{
		Outcome: "completed", Stop: wire.StopDone, Iterations: &scenario.Range{Min: 2, Max: 2},
		Calls:  &transcript.Match{Mode: transcript.Strict, Calls: []transcript.ExpectedCall{{Tool: "find"}}},
		Answer: scenario.Answer{Contains: []string{"yes"}}, Effects: map[string]int{"order": 1}, Tokens: new(int64(9)),
		Told: []string{"x"}, Breaches: []string{"W6"},
	}
	edited := func(edit func(*scenario.Expect)) scenario.Expect {
		e := full
		edit(&e)
		return e
	}
	for _, tc := range []struct {
		why, expect string
		want        scenario.Expect
	}{
		{"what is not said is the scenario's, but for attempts and golden", "{}", full},
		{"what is said goes before", "{iterations: 3, calls: [find, find]}", edited(func(e *scenario.Expect) {
			e.Iterations = &scenario.Range{Min: 3, Max: 3}
			e.Calls = &transcript.Match{Mode: transcript.Strict, Calls: []transcript.ExpectedCall{{Tool: "find"}, {Tool: "find"}}}
		})},
		{"an empty list expects nothing", "{effects: {}, breaches: []}", edited(func(e *scenario.Expect) { e.Effects, e.Breaches = nil, []string{} })},
		{"another end keeps the effects and the bounds", "{outcome: transport}", scenario.Expect{
			Outcome: "transport", Effects: map[string]int{"order": 1}, Tokens: new(int64(9)),
		}},
	} {
		s := load(t, base+"faults: [{fault: model.reset, expect: "+tc.expect+"}]\n", scenario.Options{})
		if diff := cmp.Diff(tc.want, s.Variants[0].Expect); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestPlacesOfFaults(t *testing.T) {
	s := load(t, everyFault, scenario.Options{})
	for part, want := range map[string]string{
		"faults[0]":                       "10:5",
		"faults[0].on_divergence":         "20:5",
		"faults[0].expect.breaches":       "30:72",
		"faults[0].expect.outcome":        "30:5",
		"faults[0].script[1]":             "29:9",
		"faults[0].and[0].at.call":        "18:14",
		"faults[0].expect.answer.contain": "30:5",
	} {
		if got := s.Place(part).String(); !strings.HasSuffix(got, "s.yaml:"+want) {
			t.Errorf("%s is at %s, want %s", part, got, want)
		}
	}
}

// What a run under faults takes over is said where the scenario says it.
func TestPlacesOfWhatIsTakenOver(t *testing.T) {
	s := load(t, everyFault, scenario.Options{})
	for _, tc := range []struct{ why, part, want string }{
		{"its own", "expect.breaches", "30:72"},
		{"taken over", "expect.effects", "8:10"},
		{"said by neither", "expect.calls", "30:5"},
		{"the run itself", "", "10:5"},
		{"no expectation", "on_divergence", "20:5"},
	} {
		if got := s.PlaceUnder(&s.Variants[0], tc.part).String(); !strings.HasSuffix(got, "s.yaml:"+tc.want) {
			t.Errorf("%s: at %s, want %s", tc.why, got, tc.want)
		}
	}
	if got := s.PlaceUnder(nil, "expect.effects"); got != s.Place("expect.effects") {
		t.Errorf("without faults at %s", got)
	}
}

// invalidFaults go on with invalid: what is wrong with the runs under faults.
var invalidFaults = []invalidRow{
	{"a misspelled fault", valid + "faults: [{fault: model.rest}]\n", `5:18: unknown fault "model.rest" (did you mean "model.reset"?); see: retake faults`, true},
	{"an unlike fault", valid + "faults: [{fault: gremlins}]\n", `5:18: unknown fault "gremlins"; see: retake faults`, true},
	{"no fault", valid + "faults: [{id: a}]\n", "5:10: \"fault\" is missing: name the fault, as `retake faults` lists it", true},
	{"an id that is no file's name", valid + "faults: [{fault: model.reset, id: a/b}]\n", `5:35: must be a name of letters, digits and . _ -, for a file, is "a/b"`, true},
	{"the same fault twice", valid + "faults: [{fault: model.reset}, {fault: model.reset, at: {call: 2}}]\n", `5:32: two runs under faults are called "model.reset"; give one an id`, false},
	{"the same id twice, but for capitals", valid + "faults: [{fault: model.reset, id: a}, {fault: model.reset, id: A}]\n", `5:60: two runs under faults have the id "A"; give one another`, false},
	{"an empty place", valid + "faults: [{fault: model.reset, at: {}}]\n", `5:35: says no place; give one of call, attempt, event, tool, or drop the field`, true},
	{"call 0", valid + "faults: [{fault: model.reset, at: {call: 0}}]\n", `5:42: must be a whole number of at least 1, or every, is 0`, true},
	{"a word for a call", valid + "faults: [{fault: model.reset, at: {call: evry}}]\n", `5:42: must be a whole number of at least 1, or every, is "evry" (did you mean "every"?)`, true},
	{"a chance in per cent", valid + "faults: [{fault: model.reset, chance: 30}]\n", `5:39: must be a number of more than 0 and at most 1, is 30`, true},
	{"no chance at all", valid + "faults: [{fault: model.reset, chance: 0}]\n", `5:39: must be a number of more than 0 and at most 1, is 0`, true},
	{"a tool for a model's fault", shop + "faults: [{fault: model.reset, at: {tool: find}}]\n", `6:36: model.reset strikes the model's answers, not a tool; drop tool`, false},
	{"an event of what is no stream", valid + "stream: true\nfaults: [{fault: model.overloaded, at: {event: 2}}]\n", `6:41: model.overloaded strikes the answer as a whole, not inside a stream; drop event`, false},
	{"an event without a stream", valid + "faults: [{fault: model.reset, at: {event: 2}}]\n", `5:36: the scenario does not stream, so there are no events; say stream: true, or drop event`, false},
	{"a stream's fault without a stream", valid + "faults: [{fault: model.truncated_stream}]\n", `5:11: model.truncated_stream strikes inside a stream, and the scenario does not stream; say stream: true`, false},
	{"a call after the end", valid + "limits: {iterations: 3}\nfaults: [{fault: model.reset, at: {call: 4}}]\n", `6:36: there is no model call 4: limits.iterations ends the run after 3; name an earlier one, or raise the limit`, false},
	{"a tool call after the end", shop + "limits: {tool_calls: 3}\nfaults: [{fault: tool.lost_ack, at: {call: 4}}]\n", `7:38: there is no tool call 4: limits.tool_calls ends the run after 3; name an earlier one, or raise the limit`, false},
	{"no tools", valid + "faults: [{fault: tool.lost_ack}]\n", `5:11: tool.lost_ack strikes a tool call, and the scenario has no tools`, false},
	{"a tool that is not declared", shop + "faults: [{fault: tool.lost_ack, at: {tool: oder}}]\n", `6:38: unknown tool "oder" (did you mean "order"?); it strikes tools that are declared under tools`, false},
	{"a provider's tool", shop + "faults: [{fault: tool.lost_ack, at: {tool: web}}]\n", `6:38: the provider runs "web" itself, so its calls do not pass here; name a tool of the host`, false},
	{"a read's fault on a write", shop + "faults: [{fault: tool.lying_hint, at: {tool: order}}]\n", `6:40: tool.lying_hint cannot strike "order": the tool does not say that it only reads; name another tool`, false},
	{"a fault that no tool can have", shop + "faults: [{fault: tool.late_result}]\n", `6:11: tool.late_result cannot strike any of the scenario's tools: the tool has no timeout to be late for`, false},
	{"an unknown kind", valid + "faults: [{fault: model.bad_body, with: {kind: htlm}}]\n", `5:41: model.bad_body has no kind "htlm" (did you mean "html"?); it has html, json, empty`, false},
	{"a parameter that does not fit", shop + "faults: [{fault: tool.lost_ack, with: {status: 503}}]\n", `6:40: tool.lost_ack takes no status; it takes delay`, false},
	{"no parameters", valid + "faults: [{fault: model.reset, with: {}}]\n", `5:37: has no parameter; give one, or drop the field`, true},
	{"a time of nothing", shop + "faults: [{fault: tool.lost_ack, with: {delay: 0s}}]\n", `6:47: must be more than 0; left out, it is the fault's own`, false},
	{"a place of the host's fault", valid + "faults: [{fault: host.regenerate, at: {call: 1}}]\n", `5:40: host.regenerate strikes the run as a whole; drop tool, call, attempt and event`, false},
	{"the second fault of a run", shop + "faults: [{fault: model.reset, and: [{fault: tool.lost_ack, with: {text: a}}]}]\n", `6:67: tool.lost_ack takes no text; it takes delay`, false},
	{"an unknown way on", shop + "faults: [{fault: tool.lost_ack, on_divergence: go}]\n", `6:48: must be one of stop, script, recorded, is "go"`, true},
	{"a script that is not there", shop + "faults: [{fault: tool.lost_ack, on_divergence: script}]\n", `6:33: on_divergence: script needs the model's turns; write them under script, as in [{text: I could not find it.}]`, false},
	{"a script that is not asked for", shop + "faults: [{fault: tool.lost_ack, script: [{text: a}]}]\n", `6:33: a script is said only with on_divergence: script; write that, or drop the script`, false},
	{"a way on that is not needed", valid + "faults: [{fault: model.reset, on_divergence: script, script: [{text: a}]}]\n", `5:31: the model sees nothing of model.reset, so the recording does not end; drop on_divergence and script`, false},
	{"a turn without words", shop + scripted + "[{when: {call: 2}}]}]\n", `6:65: says nothing; give text or calls`, false},
	{"a turn without anything", shop + scripted + "[{}]}]\n", `6:65: says nothing; give text or calls`, true},
	{"a condition on nothing", shop + scripted + "[{text: a, when: {}}]}]\n", `6:81: asks for nothing; give one of code, tool, call, or drop the field`, true},
	{"ok in capitals", shop + scripted + "[{text: a, when: {code: OK}}]}]\n", `6:82: a result that is no error has the code ok, in small letters`, false},
	{"a scripted call of no tool", shop + scripted + "[{calls: [{tool: fnd}]}]}]\n", `6:75: unknown tool "fnd" (did you mean "find"?); a script calls what is declared under tools (a tool that is not there is the fault model.unknown_tool)`, false},
	{"a turn for a call after the end", shop + scripted + "[{text: a, when: {call: 11}}]}]\n", `6:82: there is no model call 11: limits.iterations ends the run after 10`, false},
	{"a turn behind one that ends the run", shop + scripted + "[{text: a}, {text: b}]}]\n", `6:76: is never said: turn 1 of the script answers every request and ends the run; put it last, or give it a condition`, false},
	{"two turns for one call", shop + scripted + "[{text: a, when: {call: 2}}, {text: b, when: {call: 2, code: ok}}]}]\n", `6:93: is never said: turn 1 of the script answers that model call already; give it another condition, or drop it`, false},
	{"an expectation of no rule", valid + "expect: {breaches: [W17]}\n", `5:21: must be one of W1, W2, `, true},
	{"an expectation that a fault does not strike", valid + "expect: {breaches: [W6, W10]}\n", `5:25: W10 cannot be expected: a fault that never strikes always fails its run; give the fault a place that the run comes to, or drop it`, true},
	{"the same of a run under faults", shop + "faults: [{fault: model.reset, expect: {breaches: [W10]}}]\n", `6:51: W10 cannot be expected: a fault that never strikes always fails its run; give the fault a place that the run comes to, or drop it`, true},
	{"a burst that never ends", shop + "faults: [{fault: model.parallel_burst, with: {count: 5000}}]\n", `6:47: count is at most 1,000, is 5000`, false},
	{"a place that no run has", valid + "faults: [{fault: model.reset, at: {attempt: 1000001}}]\n", `5:36: attempt is at most 1,000,000, is 1000001`, false},
	{"a status that passes by itself", valid + "faults: [{fault: model.client_error, with: {status: 408}}]\n", `5:45: status 408 may pass by itself, so a loop may try again; model.client_error needs one after which it must not, such as 400, 401, 403, 404 or 413`, false},
	{"a run under the name of another fault", shop + "faults: [{fault: model.reset, id: tool.panic}]\n", `6:31: is the name of another fault, which --fault tool.panic runs; give the run an id of its own`, false},
	{"one of two faults names the run", shop + "faults: [{fault: model.reset, id: Tool.Panic, and: [{fault: model.overloaded}]}]\n", `6:31: is the name of another fault, which --fault tool.panic runs; give the run an id of its own`, false},
}

const scripted = "faults: [{fault: tool.lost_ack, on_divergence: script, script: "

// The manual's example is one that loads.
func TestManualOfFaults(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "//\tseed: 7\n")
	if !found {
		t.Fatal("doc.go has no example of faults")
	}
	example, _, _ := strings.Cut(rest, "//\n")
	s := load(t, valid+"tools: [{name: get_weather, effect: read}]\n"+strings.ReplaceAll(example, "//\t", ""), scenario.Options{})
	if len(s.Variants) != 2 {
		t.Errorf("the example has %d runs", len(s.Variants))
	}
}

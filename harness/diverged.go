package harness

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/transcript"
)

// untilDivergence checks what a run that diverged still tells, and gives the
// expectations that it does not.
func (w *world) untilDivergence() (unchecked []string) {
	e := &w.env.Scenario.Expect
	w.expectTold()
	w.expectUsage()
	w.expectLimits()
	w.tooMuchAlready()
	for _, x := range []struct {
		field string
		set   bool
	}{
		{"outcome", true},
		{"stop", e.Stop != ""},
		{"stop_raw", e.StopRaw != ""},
		{"iterations", e.Iterations != nil},
		{"attempts", e.Attempts != nil && e.Attempts.Min > len(w.result.Models)},
		{"tool_calls", e.ToolCalls != nil},
		{"calls", e.Calls != nil},
		{"answer", e.Answer.Equals != nil || len(e.Answer.Contains) > 0 || e.Answer.Regexp != nil || e.Answer.Schema != nil},
		{"effects", w.fewerEffects()},
		{"judge", len(e.Judges) > 0},
	} {
		if x.set {
			unchecked = append(unchecked, "expect."+x.field)
		}
	}
	return unchecked
}

// tooMuchAlready checks what the rest of the run could not have made good: more
// than the most that is expected, and first calls other than the expected ones.
func (w *world) tooMuchAlready() {
	e := &w.env.Scenario.Expect
	w.expectAtMost(e.Iterations, w.result.Outcome.Iterations, "iteration", "iterations", "iterations")
	w.expectAtMost(e.ToolCalls, len(w.madeCalls()), "tool call", "tool calls", "tool_calls")
	w.expectAtMost(e.Attempts, len(w.result.Models), "attempt at the model", "attempts at the model", "attempts")
	m := e.Calls
	if m == nil {
		return
	}
	sofar := *m
	switch m.Mode {
	case transcript.Strict, "":
		sofar.Calls = m.Calls[:min(len(w.madeCalls()), len(m.Calls))]
	case transcript.Unordered, transcript.Subset:
		sofar.Mode = transcript.Subset // what is made must be among these, whatever comes
	case transcript.Superset:
		return // what is missing may still come
	}
	w.expectCalls(&sofar)
}

func (w *world) expectAtMost(r *scenario.Range, n int, one, many, field string) {
	if r != nil && n > r.Max {
		w.expected(fmt.Sprintf("%s already, expected at most %d", plural(n, one, many), r.Max), field)
	}
}

// fewerEffects tells that effects are still missing, which the rest of the run
// might have had.
func (w *world) fewerEffects() bool {
	for name, n := range w.env.Scenario.Expect.Effects {
		if w.result.Effects[name] < n {
			return true
		}
	}
	return false
}

// divergence says that the recording ended before everything was checked.
func (w *world) divergence(unchecked []string) {
	what := fmt.Sprintf("the recording ends where the model sees %s; not checked: %s", w.struckFaults(), strings.Join(unchecked, ", "))
	if v := w.params.Variant; v.Accept != "" {
		w.result.Warnings = append(w.result.Warnings, what+"; accepted: "+v.Accept)
		return
	}
	w.fail(Failure{
		Class: failure.Diverged, Part: failure.PartScenario, What: what,
		Why:  "a recorded model cannot answer what it never saw",
		Next: "say how the run goes on, under on_divergence: script with the model's turns, recorded with a cassette of this fault, or {accept: reason}",
	}, "on_divergence")
}

// struckFaults names the faults that have struck, and where; "" for none.
func (w *world) struckFaults() string {
	var out []string
	if w.injector == nil {
		return ""
	}
	for _, f := range w.injector.Fired() {
		if f.Times > 0 {
			out = append(out, strings.TrimSpace(f.Spec.Name+" at "+f.At.String()))
		}
	}
	return strings.Join(out, " and ")
}

// leftScript fails the run for scripted turns that were never said.
func (w *world) leftScript() {
	v := w.params.Variant
	if v == nil || v.OnDivergence != scenario.DivergeScript {
		return
	}
	left := w.divert.script.Left()
	if len(left) == 0 {
		return
	}
	what := fmt.Sprintf("%s never said: %v", plural(len(left), "turn of the script was", "turns of the script were"), left)
	if w.divert.diverged() == nil {
		what += "; the run never left its recording"
	}
	w.fail(Failure{
		Class: failure.Expectation, Part: failure.PartScenario, What: what,
		Why:  "a script that is not said checks nothing",
		Next: "drop the turn, or correct its conditions under when",
	}, "script")
}

package harness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

// expectations checks what the scenario says about the end of the run.
func (w *world) expectations() {
	e := &w.env.Scenario.Expect
	w.expectStop()
	w.expectCounts(e.Iterations, e.ToolCalls, e.Attempts)
	w.expectCalls(e.Calls)
	w.expectTold()
	w.expectAnswer()
	w.expectUsage()
	w.expectLimits()
}

// expectUsage makes sure that limits on tokens and cost are held against figures
// that were really reported.
func (w *world) expectUsage() {
	e := &w.env.Scenario.Expect
	for _, m := range w.result.Models {
		if m.Response == nil || m.Response.Err != nil {
			continue
		}
		u := m.Response.Usage
		switch {
		case negative(u):
			w.fail(Failure{
				Class: failure.Protocol, Part: failure.PartModel, What: fmt.Sprintf("answer #%d reports a negative number of tokens: %s", m.Ordinal, m.Response.RawUsage),
				Why: "every figure that is drawn from it is wrong", Next: "look at the recording: retake inspect shows its figures",
			}, "")
		case u.Input != nil && u.Output != nil:
		case e.Tokens != nil || e.Cost != nil:
			w.fail(Failure{
				Class: failure.Budget, Part: failure.PartModel, What: fmt.Sprintf("the tokens cannot be told: answer #%d reports no usage that can be read", m.Ordinal),
				Why: "a limit that is held against nothing always holds", Next: "record an answer with its usage (for a stream of OpenAI: stream_options.include_usage), or remove the limit",
			}, "expect")
		case w.env.Scenario.Limits.Tokens > 0:
			w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("answer #%d reports no usage: the token budget was held against the other answers only", m.Ordinal))
		}
	}
}

func negative(u wire.Usage) bool {
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n != nil && *n < 0 {
			return true
		}
	}
	return false
}

func (w *world) expected(what, part string) {
	w.fail(Failure{
		Class: failure.Expectation, Part: w.speaker(), What: what,
		Why:  "the scenario says so: " + w.env.Scenario.Why,
		Next: "mend the " + string(w.speaker()) + ", or change the expectation if this is right",
	}, "expect."+part)
}

// speaker is the part whose word the end of a run is: the model's, unless the
// agent returned something else.
func (w *world) speaker() failure.Part {
	for _, m := range slices.Backward(w.result.Models) {
		if m.Response == nil || m.Response.Err != nil {
			continue
		}
		if a := w.result.Outcome.Answer; a == "" || strings.TrimSpace(a) == strings.TrimSpace(m.Response.Text()) {
			return failure.PartModel
		}
		break
	}
	return failure.PartAgent
}

func (w *world) expectStop() {
	e := &w.env.Scenario.Expect
	if got := w.result.Outcome.Stop; e.Stop != "" && got != e.Stop {
		w.expected(fmt.Sprintf("the last stop is %q, expected %q", got, e.Stop), "stop")
	}
	if e.StopRaw == "" {
		return
	}
	var raw []string
	for _, m := range w.result.Models {
		if m.Response != nil && m.Response.Err == nil {
			raw = m.Response.RawStop
		}
	}
	if len(raw) == 0 || raw[0] != e.StopRaw {
		w.expected(fmt.Sprintf("the last stop reason is %q, expected %q", strings.Join(raw, ", "), e.StopRaw), "stop_raw")
	}
}

// expectCounts holds the turns, the tool calls and the attempts at the model
// against ranges; nil checks nothing.
func (w *world) expectCounts(iterations, toolCalls, attempts *scenario.Range) {
	for _, x := range []struct {
		want           *scenario.Range
		got            int
		one, many, end string
		field          string
	}{
		{iterations, w.result.Outcome.Iterations, "iteration", "iterations", "", "iterations"},
		{toolCalls, len(w.madeCalls()), "tool call", "tool calls", "", "tool_calls"},
		{attempts, len(w.result.Models), "attempt", "attempts", " at the model", "attempts"},
	} {
		if x.want != nil && !x.want.Has(x.got) {
			w.expected(fmt.Sprintf("%s%s, expected %s", plural(x.got, x.one, x.many), x.end, x.want), x.field)
		}
	}
}

// lastCalls are the tool calls of the task's last run.
func (w *world) lastCalls() []*journal.ToolCall {
	if n := len(w.runs); n > 0 {
		return w.runs[n-1].Calls
	}
	return w.result.Calls
}

// expectTold looks for each text in the results that the model was shown.
func (w *world) expectTold() {
	for _, text := range w.env.Scenario.Expect.Told {
		if !w.wasTold(text) {
			w.expected(fmt.Sprintf("the model was not told %q; it was told %s", text, quote(strings.Join(w.told(), " "))), "told")
		}
	}
}

func (w *world) wasTold(text string) bool {
	return slices.ContainsFunc(w.told(), func(s string) bool { return strings.Contains(s, text) })
}

// told are the tool results that the model was shown, in their order, each once.
func (w *world) told() []string {
	var out []string
	for _, m := range w.result.Models {
		if m.Request == nil {
			continue
		}
		for i := range m.Request.Messages {
			for _, text := range resultTexts(&m.Request.Messages[i]) {
				if !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// resultTexts are the texts of a message's tool results.
func resultTexts(m *wire.Message) []string {
	var out []string
	for i := range m.Blocks {
		for _, part := range m.Blocks[i].Result {
			if part.Text != "" {
				out = append(out, part.Text)
			}
		}
	}
	return out
}

func (w *world) expectCalls(m *transcript.Match) {
	if m == nil {
		return
	}
	last := w.madeCalls()
	made := make([]transcript.Call, len(last))
	for i, c := range last {
		made[i] = transcript.Call{Tool: c.Tool, Args: c.Args}
	}
	if bad := m.Check(made); len(bad) > 0 {
		w.expected("the tool calls differ: "+strings.Join(bad, "; "), "calls")
	}
}

func (w *world) expectAnswer() {
	a := &w.env.Scenario.Expect.Answer
	got := w.result.Outcome.Answer
	if a.Equals != nil && got != *a.Equals {
		w.expected(fmt.Sprintf("the answer is %s, expected %s", quote(got), quote(*a.Equals)), "answer.equals")
	}
	for _, part := range a.Contains {
		if !strings.Contains(got, part) {
			w.expected(fmt.Sprintf("the answer does not contain %q: %s", part, quote(got)), "answer.contains")
		}
	}
	if a.Regexp != nil && !a.Regexp.MatchString(got) {
		w.expected(fmt.Sprintf("the answer does not match %q: %s", a.Regexp, quote(got)), "answer.regexp")
	}
	if a.Schema == nil {
		return
	}
	s, err := compile(w.params.Schemas, a.Schema)
	if err != nil {
		w.expected(err.Error(), "answer.schema")
		return
	}
	for _, bad := range s.Check([]byte(got)) {
		w.expected("the answer does not fit its schema: "+bad.String(), "answer.schema")
	}
}

func (w *world) expectLimits() {
	e, r := &w.env.Scenario.Expect, w.result
	over := func(what, field string, part failure.Part) {
		w.fail(Failure{
			Class: failure.Budget, Part: part, What: what,
			Why:  "cost and waiting are part of the result",
			Next: "find the growth in the report, or raise the limit",
		}, "expect."+field)
	}
	if n := r.Tokens.Total(); e.Tokens != nil && n > *e.Tokens {
		over(fmt.Sprintf("%d tokens, at most %d expected", n, *e.Tokens), "tokens", failure.PartModel)
	}
	switch {
	case e.Cost == nil:
	case r.Cost == nil:
		over(fmt.Sprintf("the cost cannot be told: model %s has no price in retake.yaml", r.Model), "cost", failure.PartScenario)
	case *r.Cost > *e.Cost:
		over(fmt.Sprintf("$%.6f, at most $%.6f expected", *r.Cost, *e.Cost), "cost", failure.PartModel)
	}
	if e.Latency != nil && r.Latency > *e.Latency {
		over(fmt.Sprintf("%v on the run's clock, at most %v expected", r.Latency.Round(time.Millisecond), *e.Latency), "latency", w.slowest())
	}
}

// slowest is the part that took most of the run's time.
func (w *world) slowest() failure.Part {
	var models, tools time.Duration
	for _, m := range w.result.Models {
		models += m.Latency
	}
	for _, c := range w.result.Calls {
		tools += c.Latency
	}
	if tools > models {
		return failure.PartTool
	}
	return failure.PartModel
}

// quote shortens an answer for a message.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
	}
	return fmt.Sprintf("%q", s)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

package compare_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/internal/stats"
	"github.com/retake-harness/retake/harness/report"
)

// made is a report in the making.
type made struct {
	live    bool
	rubric  string
	entries []report.Entry
	texts   []string
}

// entry is a run that passed: a recording of its own, 1,000 output tokens, one
// effect.
func entry(name, model string, trial int) report.Entry {
	e := report.Entry{
		Name: name, Model: model, Trial: trial, API: "anthropic-messages", File: "scenarios/" + name + ".yaml", Verdict: "pass", Clock: "virtual",
		Reasons: []report.Reason{}, Outcome: report.Outcome{Class: "completed"},
		Figures: report.Figures{
			Iterations: 2, ModelAttempts: 2, ToolCalls: 1, Latency: 2_000_000, Cost: new(0.03),
			Tokens: report.Tokens{Input: new(int64(1000)), Output: new(int64(1000)), Total: 2000},
		},
		Tools:   []report.Tool{{Ordinal: 1, Tool: "pay", Outcome: "ok", Write: true}},
		Effects: []report.Effect{{Tool: "pay", Count: 1}},
		Hashes:  report.Hashes{Scenario: "s-" + name, Prompt: "p", Tools: "t", Cassette: fmt.Sprintf("%s of %s, %d", name, model, trial)},
	}
	for _, rule := range contract.Rules() {
		e.Contract = append(e.Contract, report.Rule{Rule: string(rule), State: "held"})
	}
	return e
}

// fail makes the entry one that did not do what it should.
func fail(e *report.Entry) {
	e.Verdict, e.Part = "fail", "model"
	e.Reasons = []report.Reason{{Class: "expectation", Part: "model", What: "the answer is another"}}
}

// disturb makes the entry one that the provider has ended.
func disturb(e *report.Entry) {
	e.Verdict, e.Part = "fail", "model"
	e.Outcome.Class = "overloaded"
	e.Reasons = []report.Reason{{Class: "overloaded", Part: "model", What: "the run ended as overloaded"}}
}

// breach makes the entry one that breaks a rule of the contract.
func breach(e *report.Entry, rule, what string) {
	e.Verdict, e.Part = "fail", "agent"
	e.Reasons = append(e.Reasons, report.Reason{Class: "contract", Part: "agent", What: rule + ": " + what})
	for i := range e.Contract {
		if e.Contract[i].Rule == rule {
			e.Contract[i].State, e.Contract[i].Breaches = "breached", []string{rule + ": " + what}
		}
	}
}

func tokensOut(e *report.Entry, n int64) {
	e.Figures.Tokens.Output, e.Figures.Tokens.Total = &n, 1000+n
	e.Figures.Cost = new(0.005 + 25e-6*float64(n))
}

func (m *made) add(e report.Entry) *report.Entry {
	m.entries = append(m.entries, e)
	return &m.entries[len(m.entries)-1]
}

// write puts the report on disk and gives its folder.
func (m *made) write(tb testing.TB) string {
	tb.Helper()
	w, err := report.New(report.Options{Dir: tb.TempDir(), ID: report.NewID(time.Unix(0, 0), 1), Tool: "retake 1", Live: m.live, Rubric: m.rubric})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range m.entries {
		text := "scenario  x\noutcome   completed\n"
		if i < len(m.texts) {
			text = m.texts[i]
		}
		if err := w.AddEntry(&m.entries[i], report.Stamp{TaskID: "t", AttemptIDs: []string{}}, []byte(text)); err != nil {
			tb.Fatal(err)
		}
	}
	dir, err := w.Close(false)
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

func compared(tb testing.TB, old, now *made, o compare.Options) *compare.Comparison {
	tb.Helper()
	c, err := compare.Reports(compare.Side{Report: old.write(tb)}, compare.Side{Report: now.write(tb)}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func answerTo(tb testing.TB, c *compare.Comparison, id string) *compare.Answer {
	tb.Helper()
	for i := range c.Answers {
		if c.Answers[i].ID == id {
			return &c.Answers[i]
		}
	}
	tb.Fatalf("no question %q", id)
	return nil
}

// suite makes a report of scenarios with trials, each entry changed by f.
func suite(model string, scenarios, trials int, f func(scenario, trial int, e *report.Entry)) *made {
	m := &made{live: true}
	for s := range scenarios {
		for t := range trials {
			e := entry(fmt.Sprintf("shop/scenario-%03d", s), model, t+1)
			if f != nil {
				f(s, t, &e)
			}
			m.add(e)
		}
	}
	return m
}

// noise is chance from a seed: between 0 and 1.
type noise struct{ stats.Random }

func (n *noise) float() float64 { return float64(n.Next()>>11) / (1 << 53) }

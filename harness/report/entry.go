package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
)

// EntryOf is the report's view of a result.
func EntryOf(r *harness.Result) Entry {
	e := Entry{
		Name: r.Name, Model: r.Model, Fault: r.Variant, Trial: r.Trial, API: string(r.API), Verdict: string(r.Verdict), Part: string(r.Part()),
		Clock: string(r.Clock), Warnings: r.Warnings,
		Outcome: Outcome{Class: "completed", Detail: r.Outcome.Detail, Stop: string(r.Outcome.Stop), Answer: r.Outcome.Answer},
		Figures: FiguresOf(r), Audit: auditOf(r), Models: modelsOf(r), Tools: toolsOf(r), Contract: rulesOf(r.Findings),
		Effects: effectsOf(r.Effects, r.Probed), Faults: faultsOf(r.Faults), Judges: judgesOf(r.Judged), Hashes: Hashes(r.Hashes),
	}
	if r.Outcome.Class != failure.None {
		e.Outcome.Class = string(r.Outcome.Class)
	}
	if len(r.Models) == 0 && len(r.Failures) > 0 {
		e.Outcome.Class = string(r.Failures[0].Class)
	}
	if s := r.Scenario; s != nil {
		e.File, e.Owner, e.Why, e.Rollback, e.Labels = s.File, s.Owner, s.Why, s.Rollback, s.Labels
	}
	e.Reasons = reasonsOf(r)
	return e
}

func reasonsOf(r *harness.Result) []Reason {
	var out []Reason
	for _, f := range r.Failures {
		out = append(out, Reason{
			Class: string(f.Class), Layer: string(failure.About(f.Class).Layer), Part: string(f.Part), What: f.What, Where: f.Where, Line: f.Line, Diff: f.Diff, Why: f.Why, Next: f.Next,
		})
	}
	return out
}

// FiguresOf are the sums of one run.
func FiguresOf(r *harness.Result) Figures {
	return Figures{
		Iterations: r.Outcome.Iterations, ModelAttempts: len(r.Models), ToolCalls: len(r.Calls), ToolAttempts: len(r.Attempts),
		Tokens: tokensOf(r.Tokens), Cost: round(r.Cost), ToolCost: round(r.ToolCost), Latency: micros(r.Latency),
	}
}

// round keeps a sum of prices free of the noise of binary fractions: a
// millionth of a cent.
func round(cost *float64) *float64 {
	if cost == nil {
		return nil
	}
	return dollars(inUnits(*cost))
}

// unit is the part of a dollar in which costs are added up, so that a sum does not
// depend on the order.
const unit = 1e-8

func inUnits(cost float64) int64 { return int64(math.Round(cost / unit)) }

func dollars(units int64) *float64 {
	n := float64(units) / (1 / unit)
	return &n
}

func micros(d time.Duration) int64 { return d.Microseconds() }

func tokensOf(u wire.Usage) Tokens {
	return Tokens{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, Total: u.Total(),
	}
}

func auditOf(r *harness.Result) Audit {
	a := Audit{Wire: r.Tokens.Total(), Agent: r.Outcome.Tokens}
	if a.Agent != nil {
		same := *a.Agent == a.Wire
		a.Agree = &same
	}
	return a
}

func modelsOf(r *harness.Result) []Model {
	out := make([]Model, len(r.Models))
	attempt := 0
	for i, m := range r.Models {
		attempt++
		out[i] = modelOf(m, r.Price)
		out[i].AttemptID, out[i].Attempt = i+1, attempt
		if m.Response != nil && m.Response.Err == nil {
			attempt = 0
		}
	}
	return out
}

func modelOf(m *journal.ModelAttempt, price *harness.Price) Model {
	e := Model{Ordinal: m.Ordinal, At: micros(m.At), Latency: micros(m.Latency), Status: m.Status, Class: string(m.Class)}
	if m.Err != nil {
		e.Error = m.Err.Error()
	}
	resp := m.Response
	if resp == nil {
		return e
	}
	if resp.Err != nil {
		e.Error = resp.Err.Error()
	}
	e.Model, e.Stop, e.RawStop, e.Stream, e.RawUsage = resp.Model, string(resp.Stop), resp.RawStop, resp.Streamed, resp.RawUsage
	for _, c := range resp.Calls() {
		e.Calls = append(e.Calls, c.Name)
	}
	if resp.RawUsage != nil {
		t := tokensOf(resp.Usage)
		e.Tokens, e.Cost = &t, round(price.Cost(resp.Usage))
	}
	for _, p := range resp.Problems {
		e.Problems = append(e.Problems, string(p.Kind))
	}
	return e
}

func toolsOf(r *harness.Result) []Tool {
	out := make([]Tool, len(r.Calls))
	at := map[int]int{}
	for i, c := range r.Calls {
		at[c.Ordinal] = i
		hash := jsondoc.Hash(c.Args)
		if c.Args == nil {
			hash = jsondoc.Hash([]byte(c.ArgsText))
		}
		out[i] = Tool{
			Ordinal: c.Ordinal, Tool: c.Tool, ArgsHash: hash, At: micros(c.At), Latency: micros(c.Latency),
			Outcome: string(c.Outcome), Class: string(c.Class), Write: c.Effect, Cost: round(c.Cost),
		}
	}
	for i, a := range r.Attempts {
		k, ok := at[a.Call]
		if !ok {
			continue
		}
		out[k].Attempts = append(out[k].Attempts, ToolAttempt{
			AttemptID: len(r.Models) + i + 1, Attempt: a.Attempt, Latency: micros(a.Latency),
			Outcome: string(a.Outcome), Class: string(a.Class), Code: a.Code,
		})
	}
	return out
}

func rulesOf(findings []contract.Finding) []Rule {
	out := make([]Rule, len(findings))
	for i, f := range findings {
		out[i] = Rule{Rule: string(f.Rule), State: string(f.State)}
		for _, b := range f.Breaches {
			out[i].Breaches = append(out[i].Breaches, b.String())
		}
	}
	return out
}

func effectsOf(m map[string]int, probed []string) []Effect {
	out := make([]Effect, 0, len(m))
	for t, n := range m {
		e := Effect{Tool: t, Count: n}
		if slices.Contains(probed, t) {
			e.By = "probe"
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Effect) int {
		if a.Tool < b.Tool {
			return -1
		}
		return 1
	})
	return out
}

func faultsOf(fired []fault.Fired) []Fault {
	var out []Fault
	for i := range fired {
		f := &fired[i]
		e := Fault{Name: f.Spec.Name, Spec: f.Spec.String(), Times: f.Times, Why: f.Why}
		if f.Times > 0 {
			e.At = f.At.String()
		}
		out = append(out, e)
	}
	return out
}

func stampOf(r *harness.Result) Stamp {
	s := Stamp{TaskID: r.TaskID, Real: micros(r.Real), AttemptIDs: make([]string, 0, len(r.Models)+len(r.AttemptIDs))}
	for i := range r.Models {
		s.AttemptIDs = append(s.AttemptIDs, fmt.Sprintf("%s-m%d", r.TaskID, i+1))
	}
	s.AttemptIDs = append(s.AttemptIDs, r.AttemptIDs...)
	return s
}

package report

import (
	"slices"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// tally adds up results as they come.
type tally struct {
	totals Totals
	usage  wire.Usage
	cost   *float64
	models []int64
	tools  []int64
	runs   []int64
}

func newTally() *tally {
	return &tally{totals: Totals{Verdicts: map[string]int{}, ErrorClass: map[string]int{}, Responsible: map[string]int{}}}
}

func (t *tally) add(r *harness.Result) {
	n := &t.totals
	n.Scenarios++
	n.Verdicts[string(r.Verdict)]++
	if p := r.Part(); p != "" {
		n.Responsible[string(p)]++
	}
	f := &n.Figures
	f.Iterations += r.Outcome.Iterations
	f.ModelAttempts += len(r.Models)
	f.ToolCalls += len(r.Calls)
	f.ToolAttempts += len(r.Attempts)
	f.Latency += micros(r.Latency)
	t.usage.Add(r.Tokens)
	switch {
	case r.Cost != nil:
		sum := *r.Cost
		if t.cost != nil {
			sum += *t.cost
		}
		t.cost = &sum
	case len(r.Models) > 0:
		n.Unpriced++
	}
	t.count(r)
}

func (t *tally) count(r *harness.Result) {
	class := func(c failure.Class) {
		if c != failure.None {
			t.totals.ErrorClass[string(c)]++
		}
	}
	for _, m := range r.Models {
		class(m.Class)
		t.models = append(t.models, micros(m.Latency))
	}
	for _, a := range r.Attempts {
		class(a.Class)
		t.tools = append(t.tools, micros(a.Latency))
	}
	for _, f := range r.Failures {
		class(f.Class)
	}
	if len(r.Models) > 0 {
		t.runs = append(t.runs, micros(r.Latency))
	}
}

func (t *tally) result() Totals {
	out := t.totals
	out.Figures.Tokens = tokensOf(t.usage)
	out.Figures.Cost = round(t.cost)
	out.ModelTimes = percentiles(t.models)
	out.ToolTimes = percentiles(t.tools)
	out.RunTimes = percentiles(t.runs)
	return out
}

// percentiles are by nearest rank: the smallest value that at least p percent of
// the values do not exceed.
func percentiles(v []int64) Percentiles {
	p := Percentiles{N: len(v)}
	if len(v) == 0 {
		return p
	}
	slices.Sort(v)
	rank := func(percent int) *int64 {
		i := (len(v)*percent + 99) / 100
		x := v[max(i, 1)-1]
		return &x
	}
	p.P50, p.P90, p.P99, p.Max = rank(50), rank(90), rank(99), rank(100)
	return p
}

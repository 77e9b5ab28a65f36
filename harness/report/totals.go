package report

import (
	"maps"
	"slices"
)

// tally adds up entries as they come, for each model.
type tally struct{ models map[string]*sums }

// sums are what is added up of one model. Times are kept, since percentiles need
// them all: some tens of bytes for an entry.
type sums struct {
	ModelTotals
	cost, toolCost      int64 // in units of a cost
	priced, toolsPriced int   // entries that they are of
	models, tools, runs []int64
	judges              judgeSums
}

func newTally() *tally { return &tally{models: map[string]*sums{}} }

func newSums(model string) *sums {
	return &sums{ModelTotals: ModelTotals{
		Model: model, Verdicts: map[string]int{}, ErrorClass: map[string]int{}, Responsible: map[string]int{}, Stops: map[string]int{},
	}}
}

func (t *tally) add(e *Entry) {
	s, ok := t.models[e.Model]
	if !ok {
		s = newSums(e.Model)
		t.models[e.Model] = s
	}
	s.add(e)
}

func (s *sums) add(e *Entry) {
	s.Scenarios++
	s.Verdicts[e.Verdict]++
	if e.Part != "" {
		s.Responsible[e.Part]++
	}
	s.Figures.add(&e.Figures)
	s.judges.add(e.Judges)
	if ran := len(e.Models) > 0; ran {
		s.runs = append(s.runs, e.Figures.Latency)
		s.charge(&e.Figures)
	}
	for i := range e.Models {
		m := &e.Models[i]
		s.models = append(s.models, m.Latency)
		count(s.ErrorClass, m.Class)
		count(s.Stops, m.Stop)
	}
	for i := range e.Tools {
		for _, a := range e.Tools[i].Attempts {
			s.tools = append(s.tools, a.Latency)
			count(s.ErrorClass, a.Class)
		}
	}
	for i := range e.Reasons {
		count(s.ErrorClass, e.Reasons[i].Class)
	}
}

// charge adds the costs of an entry that has run; those that are not known are
// counted.
func (s *sums) charge(f *Figures) {
	if f.Cost != nil {
		s.cost += inUnits(*f.Cost)
		s.priced++
	} else {
		s.Unpriced++
	}
	if f.ToolCost != nil {
		s.toolCost += inUnits(*f.ToolCost)
		s.toolsPriced++
	} else {
		s.UnpricedTools++
	}
}

// merge adds another model's sums.
func (s *sums) merge(o *sums) {
	s.Scenarios += o.Scenarios
	addCounts(s.Verdicts, o.Verdicts)
	addCounts(s.ErrorClass, o.ErrorClass)
	addCounts(s.Responsible, o.Responsible)
	addCounts(s.Stops, o.Stops)
	s.Figures.add(&o.Figures)
	s.cost, s.priced, s.Unpriced = s.cost+o.cost, s.priced+o.priced, s.Unpriced+o.Unpriced
	s.toolCost, s.toolsPriced, s.UnpricedTools = s.toolCost+o.toolCost, s.toolsPriced+o.toolsPriced, s.UnpricedTools+o.UnpricedTools
	s.judges.merge(&o.judges)
	s.models = append(s.models, o.models...)
	s.tools = append(s.tools, o.tools...)
	s.runs = append(s.runs, o.runs...)
}

// finished are the totals, with what can only be told at the end.
func (s *sums) finished() ModelTotals {
	t := s.ModelTotals
	if s.priced > 0 {
		t.Figures.Cost = dollars(s.cost)
	}
	if s.toolsPriced > 0 {
		t.Figures.ToolCost = dollars(s.toolCost)
	}
	t.Judges = s.judges.finished()
	t.ModelTimes, t.ToolTimes, t.RunTimes = percentiles(s.models), percentiles(s.tools), percentiles(s.runs)
	return t
}

func (t *tally) result() Totals {
	all := newSums("")
	var models []ModelTotals
	for _, name := range slices.Sorted(maps.Keys(t.models)) {
		all.merge(t.models[name])
		models = append(models, t.models[name].finished())
	}
	m := all.finished()
	return Totals{
		Scenarios: m.Scenarios, Verdicts: m.Verdicts, Figures: m.Figures, Unpriced: m.Unpriced,
		ModelTimes: m.ModelTimes, ToolTimes: m.ToolTimes, RunTimes: m.RunTimes, ErrorClass: m.ErrorClass, Responsible: m.Responsible,
		Stops: m.Stops, UnpricedTools: m.UnpricedTools, Models: models, Judges: m.Judges,
	}
}

// add sums up all but the costs, of which one may be unknown.
func (f *Figures) add(o *Figures) {
	f.Iterations += o.Iterations
	f.ModelAttempts += o.ModelAttempts
	f.ToolCalls += o.ToolCalls
	f.ToolAttempts += o.ToolAttempts
	f.Latency += o.Latency
	f.Tokens.add(&o.Tokens)
}

func (t *Tokens) add(o *Tokens) {
	for _, x := range []struct {
		sum **int64
		n   *int64
	}{{&t.Input, o.Input}, {&t.CacheRead, o.CacheRead}, {&t.CacheWrite, o.CacheWrite}, {&t.Output, o.Output}, {&t.Reasoning, o.Reasoning}} {
		if x.n == nil {
			continue
		}
		n := *x.n
		if *x.sum != nil {
			n += **x.sum
		}
		*x.sum = &n
	}
	t.Total += o.Total
}

func count(in map[string]int, word string) {
	if word != "" {
		in[word]++
	}
}

func addCounts(to, from map[string]int) {
	for word, n := range from {
		to[word] += n
	}
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

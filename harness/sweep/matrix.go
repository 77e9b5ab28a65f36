package sweep

import (
	"fmt"

	"github.com/retake-harness/retake/harness/fault"
)

// Schema names the format of a Report in JSON. Members are only added within one
// number.
const Schema = "retake.sweep/1"

// State is what came of a run, or of a cell of the matrix: the worst of its runs.
type State string

// The states, from the best to the worst.
const (
	NotApplicable State = "not applicable"
	Held          State = "held"
	NotRun        State = "not run" // left out, or interrupted
	Diverged      State = "diverged"
	Breached      State = "breached"
)

// Report is what came of a sweep. It has nothing that differs from one sweep to
// the next.
type Report struct {
	Schema   string   `json:"schema"`
	Scenario string   `json:"scenario"`
	Model    string   `json:"model"`
	API      string   `json:"api"`
	Clock    string   `json:"clock"`
	Seed     uint64   `json:"seed"`
	Columns  []Column `json:"columns"`
	Rows     []Row    `json:"rows"`
	Pairs    *Pairs   `json:"pairs,omitzero"`
	LeftOut  int      `json:"left_out"` // runs that were not made because of the maximum
	Totals   Totals   `json:"totals"`
}

// Column is a place of the run without faults.
type Column struct {
	Name string `json:"name"` // m1: the first model call; t1: the first tool call; run: the whole run
	Of   string `json:"of"`   // in words
}

// Row is a fault.
type Row struct {
	Fault string `json:"fault"`
	Cells []Cell `json:"cells"` // one a column
}

// Cell is a fault at a place. A fault of the other side has the zero Cell there.
type Cell struct {
	State State     `json:"state,omitzero"`
	Runs  []Outcome `json:"runs,omitzero"`
}

// Outcome is what came of one run.
type Outcome struct {
	Spec     string   `json:"spec"` // the faults, as retake run --fault takes them
	State    State    `json:"state"`
	Class    string   `json:"class,omitzero"` // how the run ended
	Detail   string   `json:"detail,omitzero"`
	Why      string   `json:"why,omitzero"` // it does not apply, or diverged
	Breaches []Breach `json:"breaches,omitzero"`
	Command  string   `json:"command,omitzero"` // repeats a breach
}

// Breach is a rule that did not hold; where the run broke in another way, the
// class of that failure.
type Breach struct {
	Rule string `json:"rule"`
	Part string `json:"part"`
	What string `json:"what"`
}

// Pairs sum up the runs under two faults.
type Pairs struct {
	Totals Totals `json:"totals"`
	// New are the breaches of rules that neither fault breaches alone.
	New []Outcome `json:"new_breaches"`
}

// Totals count runs, and the places where a fault does not apply.
type Totals struct {
	Runs          int `json:"runs"`
	Held          int `json:"held"`
	Breached      int `json:"breached"`
	Diverged      int `json:"diverged"`
	NotApplicable int `json:"not_applicable"`
	NotRun        int `json:"not_run"`
}

func (t *Totals) add(o *Outcome) {
	switch o.State {
	case Held:
		t.Held++
	case Breached:
		t.Breached++
	case Diverged:
		t.Diverged++
	case NotApplicable:
		t.NotApplicable++
		return
	case NotRun:
		t.NotRun++
		return
	}
	t.Runs++
}

// Breached are all outcomes with a breach: under one fault, then the new ones
// under two.
func (r *Report) Breached() []Outcome {
	var out []Outcome
	for _, row := range r.Rows {
		for _, c := range row.Cells {
			for _, o := range c.Runs {
				if o.State == Breached {
					out = append(out, o)
				}
			}
		}
	}
	if r.Pairs != nil {
		out = append(out, r.Pairs.New...)
	}
	return out
}

// report puts the runs into the matrix.
func (s *sweep) report(singles, pairs []*job) *Report {
	r := &Report{
		Schema: Schema, Scenario: s.base.Name, Model: s.base.Model, API: string(s.base.API),
		Clock: string(s.base.Clock), Seed: s.Seed, Columns: s.columns(),
	}
	for _, f := range s.faults {
		r.Rows = append(r.Rows, Row{Fault: f.Name, Cells: make([]Cell, len(r.Columns))})
	}
	for _, j := range singles {
		o := j.outcome()
		r.Totals.add(o)
		c := &r.Rows[j.row].Cells[j.column]
		c.Runs = append(c.Runs, *o)
		if rank(o.State) >= rank(c.State) {
			c.State = o.State
		}
	}
	if pairs != nil {
		r.Pairs = summary(singles, pairs)
	}
	return r
}

func (j *job) outcome() *Outcome {
	if j.out == nil {
		return &Outcome{Spec: Spell(j.specs), State: NotRun}
	}
	return j.out
}

func rank(s State) int {
	for n, x := range []State{"", NotApplicable, Held, NotRun, Diverged, Breached} {
		if x == s {
			return n
		}
	}
	return -1
}

func (s *sweep) columns() []Column {
	models, tools := 0, 0
	out := make([]Column, 0, len(s.base.Places)+1)
	for i := range s.base.Places {
		p := &s.base.Places[i]
		if p.Side == fault.SideTool {
			tools++
			out = append(out, Column{fmt.Sprintf("t%d", tools), fmt.Sprintf("%s call %d", p.Spec.Decl.Name, p.Call)})
			continue
		}
		models++
		out = append(out, Column{fmt.Sprintf("m%d", models), fmt.Sprintf("model call %d", p.Call)})
	}
	return append(out, Column{"run", "the whole run"})
}

// summary keeps of the pairs what the single faults do not show.
func summary(singles, pairs []*job) *Pairs {
	alone := map[string]map[string]bool{} // spec of one fault → rules it breaches
	for _, j := range singles {
		rules := map[string]bool{}
		for _, b := range j.outcome().Breaches {
			rules[b.Rule] = true
		}
		alone[keyOf(j.specs[0])] = rules
	}
	p := &Pairs{New: []Outcome{}}
	for _, j := range pairs {
		o := j.outcome()
		p.Totals.add(o)
		for _, b := range o.Breaches {
			if !alone[keyOf(j.specs[0])][b.Rule] && !alone[keyOf(j.specs[1])][b.Rule] {
				p.New = append(p.New, *o)
				break
			}
		}
	}
	return p
}

// keyOf names a fault at a place, whatever the attempt.
func keyOf(s fault.Spec) string {
	s.At.Attempt = 0
	return s.String()
}

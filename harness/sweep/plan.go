package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/wire"
)

// job is one run to make, or a place where there is none to make.
type job struct {
	row, column int // of the matrix; of the first fault in a pair
	specs       []fault.Spec
	out         *Outcome // nil until it is run
}

// due are the jobs that are to be run.
func due(jobs []*job) []*job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.out != nil })
}

// singles are the runs under one fault, row by row and place by place.
func (s *sweep) singles() []*job {
	var out []*job
	for row, f := range s.faults {
		if f.Whole() {
			out = append(out, s.whole(row, f))
			continue
		}
		for i := range s.base.Places {
			p := &s.base.Places[i]
			if p.Side == f.Side() {
				out = append(out, s.at(row, i, f, p)...)
			}
		}
	}
	return out
}

// whole is the run under a fault that has no place: it is of the whole run.
func (s *sweep) whole(row int, f *fault.Fault) *job {
	return &job{row: row, column: len(s.base.Places), specs: []fault.Spec{{Name: f.Name}}}
}

// at are the runs under f at one place: once, again at the retries that it
// causes, and inside a stream.
func (s *sweep) at(row, column int, f *fault.Fault, p *fault.Place) []*job {
	base := fault.Spec{Name: f.Name, At: fault.Address{Call: p.Call}}
	if p.Side == fault.SideTool {
		base.At.Tool = p.Spec.Decl.Name
	}
	if why := s.misfit(f, p, &base); why != "" {
		return []*job{{row: row, column: column, specs: []fault.Spec{base}, out: &Outcome{Spec: base.String(), State: NotApplicable, Why: why}}}
	}
	var out []*job
	add := func(spec fault.Spec) {
		out = append(out, &job{row: row, column: column, specs: []fault.Spec{spec}})
	}
	if f.Inside != fault.OnlyInside {
		for _, times := range s.times(f, p) {
			spec := base
			spec.Times = times
			add(spec)
		}
	}
	if f.Inside != fault.NotInside && p.Stream {
		for _, n := range s.events(p) {
			spec := base
			spec.At.Event = n
			add(spec)
		}
		for _, times := range s.times(f, p)[1:] { // further attempts: in the middle alone
			spec := base
			spec.At.Event, spec.Times = (p.Events+1)/2, times
			add(spec)
		}
	}
	return out
}

func (s *sweep) misfit(f *fault.Fault, p *fault.Place, spec *fault.Spec) string {
	if why := f.Fits(p, spec); why != "" {
		return why
	}
	if f.FoundBy != "" && p.Side == fault.SideModel && !s.leadsToEffect(p) {
		return "the calls of this answer have no effect that could be missed"
	}
	if s.base.Clock == clock.ModeReal {
		var timeout time.Duration
		if p.Side == fault.SideTool {
			timeout = p.Spec.Decl.Timeout
		}
		return f.TooLong(spec.Params, timeout, cmp.Or(s.Run.RealWaitCap, harness.DefaultRealWaitCap))
	}
	return ""
}

// leadsToEffect tells whether a tool that the answer calls has had an effect in the
// run without faults: a call that a policy refuses has none to miss.
func (s *sweep) leadsToEffect(p *fault.Place) bool {
	return p.Answer != nil && slices.ContainsFunc(p.Answer.Calls(), func(b wire.Block) bool { return s.base.Effects[b.Name] > 0 })
}

// times are how often in a row a fault strikes: once, and where a loop tries
// again, the second attempt too, and every one.
func (s *sweep) times(f *fault.Fault, p *fault.Place) []int {
	switch {
	case !f.Retried:
		return []int{0}
	case p.Side == fault.SideTool && p.Spec.Decl.Retry.Attempts < 2:
		return []int{0}
	case p.Side == fault.SideTool && p.Spec.Decl.Retry.Attempts == 2:
		return []int{0, fault.Every}
	}
	return []int{0, 2, fault.Every}
}

// events are where a stream is struck: the first, the middle and the last event,
// and the first of each block.
func (s *sweep) events(p *fault.Place) []int {
	var out []int
	if s.EveryEvent {
		for n := range p.Events {
			out = append(out, n+1)
		}
		return out
	}
	if p.Events > 0 {
		out = append(out, 1, (p.Events+1)/2, p.Events)
	}
	out = append(out, p.Bounds...)
	slices.Sort(out)
	return slices.Compact(out)
}

// pairs are the runs under two faults, each once, at two places, or at two
// attempts of one. singles are the runs under one.
func (s *sweep) pairs(singles []*job) []*job {
	out := []*job{}
	for i, a := range singles {
		if !pairable(a) {
			continue
		}
		for _, b := range singles[i+1:] {
			if !pairable(b) {
				continue
			}
			for _, specs := range s.together(a, b) {
				out = append(out, &job{row: a.row, column: a.column, specs: specs})
			}
		}
	}
	return out
}

// pairable tells whether a run under one fault is a half of pairs: it strikes
// once, and is about the agent, not about whether a rule sees what nobody can
// prevent.
func pairable(j *job) bool {
	f, ok := fault.Lookup(j.specs[0].Name)
	return ok && j.specs[0].Times == 0 && f.FoundBy == ""
}

// together places two faults of one run; none where they exclude each other. At
// one and the same call one strikes the attempt that the other causes.
func (s *sweep) together(a, b *job) [][]fault.Spec {
	x, y := a.specs[0], b.specs[0]
	if a.column != b.column {
		return [][]fault.Spec{{x, y}}
	}
	var out [][]fault.Spec
	again := func(first, second fault.Spec) {
		if s.causesRetry(first, a.column) {
			second.At.Attempt = 2
			out = append(out, []fault.Spec{first, second})
		}
	}
	if x.Name != y.Name {
		again(x, y)
		again(y, x)
	}
	return out
}

// causesRetry tells whether a loop may try again at the place after the fault.
func (s *sweep) causesRetry(spec fault.Spec, column int) bool {
	f, ok := fault.Lookup(spec.Name)
	if !ok || column >= len(s.base.Places) {
		return false
	}
	return len(s.times(f, &s.base.Places[column])) > 1
}

// limit refuses a sweep that is larger than anybody asked for, or draws as many
// runs from it as are.
func (s *sweep) limit(jobs []*job) ([]*job, error) {
	switch {
	case s.Max == 0 && len(jobs) > DefaultMax:
		return nil, failure.Errorf(failure.ScenarioInvalid,
			"%s [%s]: this sweep is %d runs; say how many to make: --max %d makes all, a smaller number draws from them by the seed", s.base.Name, s.base.Model, len(jobs), len(jobs))
	case s.Max == 0 || len(jobs) <= s.Max:
		return jobs, nil
	}
	order := make([]int, len(jobs))
	rank := make([]uint64, len(jobs))
	for i := range jobs {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", s.Seed, i))
		order[i], rank[i] = i, binary.BigEndian.Uint64(sum[:8])
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	order = order[:s.Max]
	slices.Sort(order)
	out := make([]*job, len(order))
	for i, n := range order {
		out[i] = jobs[n]
	}
	return out, nil
}

package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/retake-harness/retake/harness/failure"
)

// pair is a scenario (under the same faults, with the model of each side) that both
// sides have run.
type pair struct {
	key
	old, now []run
	exact    bool     // both sides replay the same recordings
	real     bool     // on the real clock
	a, b     []sample // what can be used of each side
	edited   bool     // the scenario was changed between the reports
}

// sample is one recording of a scenario, or one live trial.
type sample struct {
	pass    bool
	figures [figureCount]float64
}

// pairs are the two reports, put together.
type pairs struct {
	all              []*pair  // by their titles
	oldOnly, nowOnly []string // what the other side has not run, by its title
	lone             []*pair  // those of nowOnly, which are held against the gates
	edited           []string // scenarios with another hash
	copies           int      // trials that replay a recording once more
}

// pairUp pairs what both sides have run.
func pairUp(a, b *side, byName bool) (*pairs, error) {
	p := &pairs{}
	for k, old := range a.groups {
		now := b.groups[k]
		if now == nil {
			p.oldOnly = append(p.oldOnly, k.shown())
			continue
		}
		one := &pair{key: k, old: old.runs, now: now.runs, edited: old.hashes.Scenario != now.hashes.Scenario}
		p.all = append(p.all, one)
		if one.edited {
			p.edited = append(p.edited, k.name)
		}
	}
	for k, now := range b.groups {
		if a.groups[k] == nil {
			p.nowOnly = append(p.nowOnly, k.shown())
			p.lone = append(p.lone, &pair{key: k, now: now.runs})
		}
	}
	slices.Sort(p.oldOnly)
	slices.Sort(p.nowOnly)
	slices.Sort(p.edited)
	p.edited = slices.Compact(p.edited)
	slices.SortFunc(p.all, comparePairs)
	slices.SortFunc(p.lone, comparePairs)
	switch {
	case len(p.all) == 0:
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s and %s have no scenario in common, so there is nothing to compare; the first has %s, the second %s",
			a.asked.Report, b.asked.Report, quoted(p.oldOnly), quoted(p.nowOnly))
	case len(p.edited) > 0 && !byName:
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s changed between the reports: %s; what is asked of them is not the same. Run both sides with the same scenarios, or pair them by name all the same with: --pair-by-name",
			number(len(p.edited), "scenario"), quoted(p.edited))
	}
	for _, one := range p.all {
		p.copies += one.settle()
	}
	return p, nil
}

func comparePairs(a, b *pair) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.fault, b.fault), cmp.Compare(a.model, b.model))
}

// shown names a key for people.
func (k key) shown() string {
	if k.model == "" {
		return k.title()
	}
	return k.title() + " with " + k.model
}

// settle finds out what the pair's runs are: it returns how many of them only
// repeat another.
func (p *pair) settle() (copies int) {
	slices.SortStableFunc(p.old, func(x, y run) int { return cmp.Compare(x.trial, y.trial) })
	slices.SortStableFunc(p.now, func(x, y run) int { return cmp.Compare(x.trial, y.trial) })
	before, ok := recordings(p.old)
	after, too := recordings(p.now)
	p.exact = ok && too && maps.Equal(before, after)
	p.real = slices.ContainsFunc(p.old, onRealClock) || slices.ContainsFunc(p.now, onRealClock)
	var more int
	p.a, copies = samples(p.old)
	p.b, more = samples(p.now)
	return copies + more
}

func onRealClock(r run) bool { return r.real }

// recordings are the cassettes that the runs replay; ok is false when there is a
// run that replays none.
func recordings(runs []run) (set map[string]bool, ok bool) {
	set = map[string]bool{}
	for i := range runs {
		if !runs[i].replay {
			return nil, false
		}
		set[runs[i].cassette] = true
	}
	return set, true
}

// samples are the runs that can be used. Trials that replay one recording are one:
// they pass when all of them do.
func samples(runs []run) (out []sample, copies int) {
	var at map[string]int
	for i := range runs {
		r := &runs[i]
		if r.excluded {
			continue
		}
		if k, again := at[r.cassette]; again && r.replay {
			out[k].pass = out[k].pass && r.pass
			copies++
			continue
		}
		if r.replay {
			if at == nil {
				at = map[string]int{}
			}
			at[r.cassette] = len(out)
		}
		out = append(out, sample{r.pass, r.figures})
	}
	return out, copies
}

func (p *pair) usable() bool { return len(p.a) > 0 && len(p.b) > 0 }

func rate(samples []sample) float64 {
	passed := 0
	for i := range samples {
		if samples[i].pass {
			passed++
		}
	}
	return float64(passed) / float64(len(samples))
}

// median is the median of a figure over the samples; NaN when one of them does not
// know it.
func median(samples []sample, f figure) float64 {
	values := make([]float64, len(samples))
	for i := range samples {
		if values[i] = samples[i].figures[f]; values[i] != values[i] {
			return values[i]
		}
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostScenarios is how many scenarios that changed are told, and mostTranscripts
// of how many the transcripts are shown.
const (
	mostScenarios   = 200
	mostTranscripts = 20
)

// difference is a pair that changed.
type difference struct {
	pair *pair
	what []string
	rank float64 // the graver the higher
}

// differing are the pairs that changed, the gravest first.
func (p *pairs) differing() []difference {
	var out []difference
	for _, one := range p.all {
		if d := one.difference(); len(d.what) > 0 {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b difference) int { return cmp.Compare(b.rank, a.rank) })
	return out
}

// difference is what changed in how a scenario ended and what it did: figures
// aside, which always differ a little.
func (p *pair) difference() difference {
	d := difference{pair: p}
	note := func(rank float64, format string, args ...any) {
		d.what, d.rank = append(d.what, fmt.Sprintf(format, args...)), d.rank+rank
	}
	for i := range hardGates {
		if fresh, _ := p.breaches(i); fresh > 0 {
			note(1000, "%s, in %s", hardGates[i].what, number(fresh, "run"))
		}
	}
	before, now := passed(p.old), passed(p.now)
	share := func(n int, runs []run) float64 { return float64(n) / float64(len(runs)) }
	if a, b := share(before, p.old), share(now, p.now); a != b {
		rank := 100 * (a - b)
		if b > a {
			rank = 10 * (b - a)
		}
		note(rank, "%d of %d passed, %d of %d pass now", before, len(p.old), now, len(p.now))
	}
	if a, b := firstFailure(p.old), firstFailure(p.now); b != nil && (a == nil || a.class != b.class) {
		note(1, "%s: %s", b.class, b.what)
	}
	if a, b := calls(p.old), calls(p.now); a != b {
		note(0.5, "calls: %s; now: %s", a, b)
	}
	return d
}

func passed(runs []run) int {
	n := 0
	for i := range runs {
		if runs[i].pass {
			n++
		}
	}
	return n
}

func firstFailure(runs []run) *run {
	for i := range runs {
		if !runs[i].pass {
			return &runs[i]
		}
	}
	return nil
}

// calls are the sequences of tools that the runs called, each once.
func calls(runs []run) string {
	var out []string
	for i := range runs {
		s := strings.Join(runs[i].calls, " ")
		if s == "" {
			s = "none"
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return cut(strings.Join(out, " | "), mostWhat)
}

// changedScenarios tells them; more is how many there is no room for.
func changedScenarios(p *pairs) (out []Scenario, more int) {
	all := p.differing()
	out = make([]Scenario, 0, min(len(all), mostScenarios))
	for _, d := range all[:min(len(all), mostScenarios)] {
		one := d.pair
		out = append(out, Scenario{
			Title: one.shown(), Exact: one.exact, What: d.what,
			OldPassed: passed(one.old), OldRuns: len(one.old), OldExclude: excluded(one.old),
			NewPassed: passed(one.now), NewRuns: len(one.now), NewExclude: excluded(one.now),
		})
	}
	return out, len(all) - len(out)
}

func excluded(runs []run) int {
	n := 0
	for i := range runs {
		if runs[i].excluded {
			n++
		}
	}
	return n
}

package compare

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/internal/stats"
)

// judge answers the questions.
type judge struct {
	rubric *Rubric
	pairs  *pairs
	old    *side
	now    *side
	// exact and sampled are the pairs that can be used on both sides, and clusters
	// the sampled ones of each scenario: what statistics are over.
	exact    []*pair
	sampled  []*pair
	clusters [][]*pair
}

func newJudge(a, b *side, p *pairs, r *Rubric) *judge {
	j := &judge{rubric: r, pairs: p, old: a, now: b}
	last := ""
	for _, one := range p.all {
		switch {
		case !one.usable():
		case one.exact:
			j.exact = append(j.exact, one)
		default:
			if len(j.clusters) == 0 || one.name != last {
				j.clusters = append(j.clusters, nil)
			}
			last = one.name
			j.sampled = append(j.sampled, one)
			j.clusters[len(j.clusters)-1] = append(j.clusters[len(j.clusters)-1], one)
		}
	}
	return j
}

// answers are those to all questions, in their order.
func (j *judge) answers() []Answer {
	out := make([]Answer, len(j.rubric.Questions))
	for i, q := range j.rubric.Questions {
		out[i] = j.answer(q)
	}
	j.correct(out)
	return out
}

func (j *judge) answer(q Question) Answer {
	a := Answer{Question: q}
	if i, ok := gateOf(q.Ask); ok {
		j.gate(&a, i)
		return a
	}
	if f, ok := figureOf(q.Ask); ok {
		j.figure(&a, f)
		return a
	}
	switch q.Ask {
	case AskMissing:
		j.missing(&a)
	case AskExcluded:
		j.excluded(&a)
	default:
		j.success(&a)
	}
	return a
}

// correct takes back a breach that is not certain enough among so many questions,
// but for the primary one.
func (j *judge) correct(answers []Answer) {
	var at []int
	var p []float64
	for i := range answers {
		if answers[i].P != nil && answers[i].ID != j.rubric.Primary {
			at, p = append(at, i), append(p, *answers[i].P)
		}
	}
	for k, adjusted := range stats.Holm(p) {
		a := &answers[at[k]]
		a.Adjusted = new(adjusted)
		if a.State == Breached && adjusted > j.alpha() {
			a.State = Open
			a.Text += fmt.Sprintf("; among %s this is not certain enough (Holm: p = %s)", number(len(p), "secondary question"), short(adjusted))
		}
	}
}

// alpha is what a one-sided p-value is held against.
func (j *judge) alpha() float64 { return (1 - j.rubric.Confidence) / 2 }

// gate counts the new breaches of a hard gate.
func (j *judge) gate(a *Answer, i int) {
	seen, both := 0, 0
	look := func(p *pair) {
		for k := range p.now {
			if p.now[k].seen&(gates(1)<<i) != 0 {
				seen++
			}
		}
		fresh, old := p.breaches(i)
		a.N += fresh
		both += old
		if fresh > 0 {
			a.Where = append(a.Where, p.shown())
		}
	}
	for _, p := range j.pairs.all {
		look(p)
	}
	for _, p := range j.pairs.lone {
		look(p)
	}
	what := hardGates[i].what
	switch {
	case a.N > int(a.Threshold):
		a.State, a.Text = Breached, fmt.Sprintf("%s: in %s of the new side and not of the old: %s", what, number(a.N, "run"), listed(a.Where))
	case seen == 0:
		a.State, a.Text = Unknown, "no run has the evidence to tell of "+what
	default:
		a.State, a.Text = Held, fmt.Sprintf("none among %s", number(seen, "run"))
		if a.N > 0 {
			a.Text = fmt.Sprintf("%s, at most %d: %s", number(a.N, "run"), int(a.Threshold), listed(a.Where))
		}
	}
	if both > 0 {
		a.Text += fmt.Sprintf("; %s of the new side do what the old side's do too, which going back does not mend", number(both, "run"))
	}
}

// missing counts what only one side has run.
func (j *judge) missing(a *Answer) {
	old, now := j.pairs.oldOnly, j.pairs.nowOnly
	a.N = len(old) + len(now)
	a.State, a.Text = Held, fmt.Sprintf("both sides have run the same %s", number(len(j.pairs.all), "scenario"))
	if a.N == 0 {
		return
	}
	var parts []string
	if len(old) > 0 {
		parts = append(parts, fmt.Sprintf("%s missing from the new side: %s", number(len(old), "scenario"), listed(old)))
	}
	if len(now) > 0 {
		parts = append(parts, fmt.Sprintf("%s missing from the old side: %s", number(len(now), "scenario"), listed(now)))
	}
	a.Text = strings.Join(parts, "; ")
	if a.N > int(a.Threshold) {
		a.State = Breached
	}
}

// excluded tells how much of each side cannot be used.
func (j *judge) excluded(a *Answer) {
	worst := 0.0
	var parts []string
	for _, s := range []struct {
		name string
		of   *counts
	}{{"new", &j.now.counts}, {"old", &j.old.counts}} {
		c := s.of
		worst = max(worst, float64(c.excluded)/float64(c.runs))
		if c.excluded > 0 {
			parts = append(parts, fmt.Sprintf("n = %d of %d on the %s side: %s could not be judged (%s)",
				c.runs-c.excluded, c.runs, s.name, number(c.excluded, "run"), histogram(c.excludedBy)))
		}
	}
	a.Estimate = new(worst)
	a.State, a.Text = Held, fmt.Sprintf("all %d and %d runs can be judged", j.old.counts.runs, j.now.counts.runs)
	if len(parts) > 0 {
		a.Text = strings.Join(parts, "; ")
	}
	if worst > a.Threshold {
		a.State = Breached
	}
}

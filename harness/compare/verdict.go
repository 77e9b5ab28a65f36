package compare

import (
	"fmt"

	"github.com/retake-harness/retake/harness/internal/stats"
)

// mostReasons is how many reasons a verdict has.
const mostReasons = 3

// newComparison answers everything that the figures tell.
func newComparison(a, b *side, p *pairs, r *Rubric) *Comparison {
	j := newJudge(a, b, p, r)
	c := &Comparison{
		Schema: Schema, Old: a.subject(), New: b.subject(), Answers: j.answers(), Warnings: []string{},
		Rubric: RubricUse{Name: r.Name(), Hash: r.Hash(), Old: inForce(a, r), New: inForce(b, r)},
		Data: Data{
			Pairs: len(p.all), Exact: len(j.exact), Sampled: len(j.sampled), Clusters: len(j.clusters), Copies: p.copies,
			Confidence: r.Confidence, Power: r.Power, Seed: r.Seed,
		},
		Missing: Missing{Old: p.oldOnly, New: p.nowOnly},
		Figures: figuresAdded(a, b), Classes: classesOf(a, b), Changed: changed(a, b, p),
	}
	c.Old.rates(j, func(p *pair) []sample { return p.a })
	c.New.rates(j, func(p *pair) []sample { return p.b })
	c.Scenario, c.More = changedScenarios(p)
	c.warn(p)
	c.decide()
	return c
}

// inForce says whether a report was made under the rubric.
func inForce(s *side, r *Rubric) string {
	switch s.doc.Run.Rubric {
	case "":
		return "unknown"
	case r.Hash():
		return "same"
	default:
		return "changed"
	}
}

// warn collects the doubts that stop nothing.
func (c *Comparison) warn(p *pairs) {
	for _, s := range []struct{ name, state string }{{"old", c.Rubric.Old}, {"new", c.Rubric.New}} {
		if s.state == "changed" {
			c.Warnings = append(c.Warnings, fmt.Sprintf("the rubric is not the one that was in force when the %s report was made: these questions were set, or changed, after its answers were there", s.name))
		}
	}
	if len(p.edited) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("paired by name: %s changed between the reports, and what was asked of them is not the same: %s",
			number(len(p.edited), "scenario"), listed(p.edited)))
	}
	if p.copies > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s only replay a recording once more, and count for nothing: in a replay one trial is enough", number(p.copies, "trial")))
	}
	for i := range c.Answers {
		if a := &c.Answers[i]; a.Breach == MeansWarn && a.State == Breached {
			c.Warnings = append(c.Warnings, a.ID+": "+a.Text)
		}
	}
}

// decide draws the verdict from the answers.
func (c *Comparison) decide() {
	c.Verdict = Keep
	for i := range c.Answers {
		switch a := &c.Answers[i]; {
		case a.reverts():
			c.Verdict = Revert
		case a.doubts() && c.Verdict == Keep:
			c.Verdict = Inconclusive
		}
	}
	switch c.Verdict {
	case Revert:
		c.reason((*Answer).reverts)
		c.reason((*Answer).doubts)
	case Inconclusive:
		c.reason((*Answer).doubts)
	default:
		c.reason(func(a *Answer) bool { return a.State == Held && a.Ask == AskSuccess })
		c.gatesHeld()
		c.reason(func(a *Answer) bool {
			_, figure := figureOf(a.Ask)
			return a.State == Held && a.Breach == MeansRevert && figure
		})
	}
	if len(c.Reasons) == 0 {
		c.Reasons = []string{"no question was breached"}
	}
}

func (a *Answer) reverts() bool { return a.State == Breached && a.Breach == MeansRevert }

func (a *Answer) doubts() bool {
	return a.State == Breached && a.Breach == MeansInconclusive || a.State == Open && a.Breach != MeansWarn
}

func (c *Comparison) reason(of func(*Answer) bool) {
	for i := range c.Answers {
		if a := &c.Answers[i]; of(a) && len(c.Reasons) < mostReasons {
			c.Reasons = append(c.Reasons, a.ID+": "+a.Text)
		}
	}
}

func (c *Comparison) gatesHeld() {
	held, all := 0, 0
	for i := range c.Answers {
		if _, gate := gateOf(c.Answers[i].Ask); gate {
			all++
			if c.Answers[i].State == Held {
				held++
			}
		}
	}
	if all > 0 && len(c.Reasons) < mostReasons {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%d of %s held, none is newly breached", held, number(all, "hard gate")))
	}
}

func (s *side) subject() Subject {
	v := &s.doc.Run.Volatile
	out := Subject{
		Report: s.asked.Report, ID: v.ID, Started: v.Started, Models: s.models, Live: s.doc.Run.Live,
		Runs: s.counts.runs, Passed: s.counts.passed, Excluded: s.counts.excluded, By: s.counts.excludedBy,
	}
	if s.asked.Model != "" {
		out.Models = []string{s.asked.Model}
	}
	return out
}

// rates fills in what is known of the side by itself.
func (s *Subject) rates(j *judge, of func(*pair) []sample) {
	var passes []float64
	var clusters []int
	least := 0
	for i, cluster := range j.clusters {
		for _, p := range cluster {
			samples := of(p)
			if least == 0 || len(samples) < least {
				least = len(samples)
			}
			for k := range samples {
				clusters, passes = append(clusters, i), append(passes, one(samples[k].pass))
			}
		}
	}
	if len(passes) == 0 {
		return
	}
	mean, se, ok := stats.Clustered(passes, clusters)
	s.Rate = &mean
	if ok {
		s.SE = &se
	}
	for k := 1; k <= least && k <= mostK; k++ {
		s.PassK = append(s.PassK, passK(j, of, k))
	}
}

// mostK is how many trials in a row are asked about.
const mostK = 10

func passK(j *judge, of func(*pair) []sample, k int) float64 {
	sum := 0.0
	for _, p := range j.sampled {
		samples, passed := of(p), 0
		for i := range samples {
			if samples[i].pass {
				passed++
			}
		}
		chance, _ := stats.PassK(passed, len(samples), k)
		sum += chance
	}
	return sum / float64(len(j.sampled))
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

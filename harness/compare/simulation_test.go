package compare

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/retake-harness/retake/harness/internal/stats"
	"github.com/retake-harness/retake/harness/report"
)

// world is what a simulated comparison is drawn from.
type world struct {
	scenarios, trials int
	passes            func(old float64) float64 // the new side's chance, of the old side's
	tokens            float64                   // the true ratio
	spread            float64                   // of the logarithm of tokens, between trials
	chance            stats.Random
}

func (w *world) uniform() float64 { return (float64(w.chance.Next()>>11) + 0.5) / (1 << 53) }

func (w *world) normal() float64 { return distuv.UnitNormal.Quantile(w.uniform()) }

// compare draws two reports and compares them.
func (w *world) compare(r *Rubric) *Comparison {
	a, b := newSide("m-1"), newSide("m-2")
	for s := range w.scenarios {
		name, pass, size := fmt.Sprint(s), 0.5+0.5*w.uniform(), 1000*math.Exp(w.normal())
		for range w.trials {
			a.add(w.run(name, "m-1", pass, size), names{})
			b.add(w.run(name, "m-2", w.passes(pass), size*w.tokens), names{})
		}
	}
	if err := match(a, b); err != nil {
		panic(err)
	}
	p, err := pairUp(a, b, false)
	if err != nil {
		panic(err)
	}
	c := &Comparison{Answers: newJudge(a, b, p, r).answers()}
	c.decide()
	return c
}

func newSide(model string) *side {
	return &side{groups: map[key]*group{}, doc: &report.Document{}, models: []string{model}}
}

func (w *world) run(name, model string, pass, size float64) *report.Entry {
	n := int64(size * math.Exp(w.spread*w.normal()))
	e := &report.Entry{
		Name: name, Model: model, Verdict: "pass",
		Figures: report.Figures{Latency: n, Cost: new(float64(n)), Tokens: report.Tokens{Input: new(int64(1)), Output: &n, Total: 1 + n}},
	}
	if w.uniform() >= pass {
		e.Verdict, e.Reasons = "fail", []report.Reason{{Class: "expectation"}}
	}
	return e
}

func same(p float64) float64 { return p }

// rubricOf asks for success within a margin and for figures within a ratio.
func rubricOf(margin, ratio float64, figures ...Ask) *Rubric {
	r := &Rubric{Confidence: .95, Power: .8, Seed: 1, Primary: "success", Questions: []Question{{ID: "success", Ask: AskSuccess, Threshold: margin, Breach: MeansRevert}}}
	for _, ask := range figures {
		r.Questions = append(r.Questions, Question{ID: string(ask), Ask: ask, Threshold: ratio, Breach: MeansRevert})
	}
	return r
}

const simulated = 2000

// most is a share of the simulated comparisons, and what chance adds to it.
func most(share float64) int {
	return int(simulated*share + 3*math.Sqrt(simulated*share*(1-share)))
}

func TestWrongRevertsAreRare(t *testing.T) {
	if testing.Short() {
		t.Skip("8,000 comparisons")
	}
	for _, tc := range []struct {
		why    string
		rubric *Rubric
		world  world
	}{
		{"no difference, by the built-in rubric", Default(), world{30, 3, same, 1, .3, 1}},
		{"no difference, and none is allowed", rubricOf(0, 1, AskCost, AskOutputTokens, AskLatency), world{30, 1, same, 1, .3, 2}},
		{"no difference, few scenarios", rubricOf(0, 1, AskCost, AskOutputTokens), world{8, 3, same, 1, .5, 3}},
		{"as much worse as is allowed", rubricOf(.1, 1.1, AskOutputTokens), world{40, 1, func(p float64) float64 { return p - .1 }, 1.1, .3, 4}},
	} {
		reverts, keeps := 0, 0
		for range simulated {
			switch tc.world.compare(tc.rubric).Verdict {
			case Revert:
				reverts++
			case Keep:
				keeps++
			}
		}
		t.Logf("%s: %d reverts, %d keeps of %d", tc.why, reverts, keeps, simulated)
		if reverts > most(.05) {
			t.Errorf("%s: %d wrong reverts of %d, at most %d", tc.why, reverts, simulated, most(.05))
		}
	}
}

// A new side that is worse than is allowed is seldom kept.
func TestWrongKeepsAreRare(t *testing.T) {
	if testing.Short() {
		t.Skip("6,000 comparisons")
	}
	for _, tc := range []struct {
		why   string
		world world
	}{
		{"at the margin", world{40, 1, func(p float64) float64 { return p - .1 }, 1, .3, 5}},
		{"at the margin, with trials", world{25, 4, func(p float64) float64 { return p - .1 }, 1, .3, 6}},
		{"dearer than is allowed", world{25, 1, same, 1.1, .3, 7}},
	} {
		keeps := 0
		for range simulated {
			if tc.world.compare(rubricOf(.1, 1.1, AskOutputTokens)).Verdict == Keep {
				keeps++
			}
		}
		t.Logf("%s: %d keeps of %d", tc.why, keeps, simulated)
		if keeps > most(.025) {
			t.Errorf("%s: %d wrong keeps of %d, at most %d", tc.why, keeps, simulated, most(.025))
		}
	}
}

// The power is the one that is computed: with as many scenarios as are named, a
// difference is found as often as the rubric asks for.
func TestPowerIsAsComputed(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of comparisons")
	}
	const sd, over = 0.3, 0.4 // of the logarithm, and how far above the limit
	r := rubricOf(.1, 1.1)
	r.Primary, r.Questions = "tokens", []Question{{ID: "tokens", Ask: AskOutputTokens, Threshold: 1.1, Breach: MeansRevert}}
	n := stats.MedianPairs(sd*math.Sqrt2, over, r.Confidence, r.Power)
	w := world{n, 1, same, 1.1 * math.Exp(over), sd, 8}
	found := 0
	for range simulated {
		if w.compare(r).Verdict == Revert {
			found++
		}
	}
	t.Logf("figure: %d of %d found with %d scenarios", found, simulated, n)
	if share := float64(found) / simulated; share < .76 || share > .90 {
		t.Errorf("%v of the differences are found with %d scenarios, want %v", share, n, r.Power)
	}
	// Half of the scenarios of an old side that mostly passes fail.
	w = world{0, 1, func(p float64) float64 { return p - .45 }, 1, .3, 9}
	w.scenarios = stats.PairsToDecide(-.45, .55, -.1, .95, .8) // E d² = p(1−q) + q(1−p), about .55
	found = 0
	for range simulated {
		if w.compare(rubricOf(.1, 1.1)).Verdict == Revert {
			found++
		}
	}
	t.Logf("success: %d of %d found with %d scenarios", found, simulated, w.scenarios)
	if share := float64(found) / simulated; share < .72 || share > .92 {
		t.Errorf("%v of the differences are found with %d scenarios, want 0.8", share, w.scenarios)
	}
}

package compare_test

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// The same recordings on both sides are exact: no statistics, and no need of many.
func TestEqualReportsKeep(t *testing.T) {
	replay := func() *made {
		m := &made{}
		m.add(entry("a", "m-1", 0))
		m.add(entry("b", "m-1", 0))
		return m
	}
	c := compared(t, replay(), replay(), compare.Options{})
	if c.Verdict != compare.Keep || c.Data.Exact != 2 || c.Data.Sampled != 0 || len(c.Changed) != 0 || len(c.Scenario) != 0 {
		t.Errorf("%s, %+v, changed %v, scenarios %v: %v", c.Verdict, c.Data, c.Changed, c.Scenario, c.Reasons)
	}
	for _, a := range c.Answers {
		if a.P != nil || a.Lo != nil {
			t.Errorf("%s: statistics of what is exact: %s", a.ID, a.Text)
		}
	}
	// What fails on both sides, going back does not mend.
	old, now := replay(), replay()
	for _, m := range []*made{old, now} {
		breach(&m.entries[0], "W8", "a secret was shown to the model")
	}
	c = compared(t, old, now, compare.Options{})
	if leaks := answerTo(t, c, "leaks"); c.Verdict != compare.Keep || !strings.Contains(leaks.Text, "going back does not mend") {
		t.Errorf("%s: %s", c.Verdict, leaks.Text)
	}
}

// One effect too many decides, whatever else is better.
func TestOneExtraEffectReverts(t *testing.T) {
	for _, tc := range []struct {
		why string
		of  func(e *report.Entry)
	}{
		{"the ledger counts one more, and nobody expected a number", func(e *report.Entry) { e.Effects[0].Count = 2 }},
		{"the rule says so", func(e *report.Entry) { e.Effects[0].Count = 2; breach(e, "W6", "pay: 2 effects, expected 1") }},
		{"of a tool that had none", func(e *report.Entry) { e.Effects = append(e.Effects, report.Effect{Tool: "mail", Count: 1}) }},
		{"in a run that the provider has ended", func(e *report.Entry) { e.Effects[0].Count = 2; disturb(e) }},
	} {
		old := suite("m-1", 40, 3, func(s, _ int, e *report.Entry) {
			if s%2 == 0 {
				fail(e)
			}
		})
		now := suite("m-2", 40, 3, func(s, trial int, e *report.Entry) {
			tokensOut(e, 100)
			if s == 7 && trial == 1 {
				tc.of(e)
			}
		})
		c := compared(t, old, now, compare.Options{})
		if c.Verdict != compare.Revert || !strings.HasPrefix(c.Reasons[0], "effects: ") || !strings.Contains(c.Reasons[0], "shop/scenario-007") {
			t.Errorf("%s: %s %v", tc.why, c.Verdict, c.Reasons)
		}
	}
	// A missing effect is a failed task, which the success rate counts.
	now := suite("m-2", 40, 3, func(s, trial int, e *report.Entry) {
		if s == 7 && trial == 1 {
			e.Effects = nil
			breach(e, "W6", "pay: 0 effects, expected 1")
		}
	})
	if c := compared(t, suite("m-1", 40, 3, nil), now, compare.Options{}); c.Verdict != compare.Keep {
		t.Errorf("a missing effect in 1 of 120: %s %v", c.Verdict, c.Reasons)
	}
}

func TestEachGateReverts(t *testing.T) {
	for id, f := range map[string]func(e *report.Entry){
		"leaks":     func(e *report.Entry) { breach(e, "W8", "x") },
		"pairing":   func(e *report.Entry) { breach(e, "W1", "x") },
		"unasked":   func(e *report.Entry) { breach(e, "W4", "x") },
		"forbidden": func(e *report.Entry) { breach(e, "W13", "x") },
		"faults":    func(e *report.Entry) { breach(e, "W10", "x") },
		"golden": func(e *report.Entry) {
			fail(e)
			e.Reasons[0].Class = "golden"
		},
	} {
		old, now := suite("m-1", 40, 1, nil), suite("m-2", 40, 1, nil)
		f(&now.entries[3])
		c := compared(t, old, now, compare.Options{})
		if a := answerTo(t, c, id); c.Verdict != compare.Revert || a.State != compare.Breached || a.Where[0] != "shop/scenario-003" {
			t.Errorf("%s: %s %+v", id, c.Verdict, a)
		}
		// The other way round nothing is new.
		if c := compared(t, now, old, compare.Options{}); c.Verdict != compare.Keep {
			t.Errorf("%s, of the old side: %s %v", id, c.Verdict, c.Reasons)
		}
	}
	// A breach that the scenario expects fails nothing, and is none.
	now := suite("m-2", 40, 1, nil)
	now.entries[3].Contract[7].State = "breached"
	if c := compared(t, suite("m-1", 40, 1, nil), now, compare.Options{}); c.Verdict != compare.Keep {
		t.Errorf("an expected breach: %s %v", c.Verdict, c.Reasons)
	}
}

// What nobody could observe is not held.
func TestGatesWithoutEvidence(t *testing.T) {
	blind := func(_, _ int, e *report.Entry) {
		for i := range e.Contract {
			e.Contract[i].State = "not observable"
		}
	}
	c := compared(t, suite("m-1", 40, 1, blind), suite("m-2", 40, 1, blind), compare.Options{})
	if a := answerTo(t, c, "leaks"); a.State != compare.Unknown {
		t.Errorf("%s: %s", a.State, a.Text)
	}
}

func TestErrorsOfTheInfrastructureAreNeverDropped(t *testing.T) {
	for _, tc := range []struct {
		why               string
		scenarios, trials int
	}{{"of ten scenarios", 10, 1}, {"of ten trials", 1, 10}} {
		old := suite("m-1", tc.scenarios, tc.trials, nil)
		now := suite("m-2", tc.scenarios, tc.trials, func(s, trial int, e *report.Entry) {
			if s+trial > 0 {
				disturb(e)
			}
		})
		c := compared(t, old, now, compare.Options{})
		if c.Verdict != compare.Inconclusive || !strings.Contains(c.Reasons[0], "n = 1 of 10 on the new side: 9 runs could not be judged (overloaded 9)") {
			t.Errorf("%s: %s %v", tc.why, c.Verdict, c.Reasons)
		}
		if c.New.Runs != 10 || c.New.Passed != 1 || c.New.Excluded != 9 {
			t.Errorf("%s: %+v", tc.why, c.New)
		}
	}
}

func TestWhoseErrorItIs(t *testing.T) {
	for _, tc := range []struct {
		why      string
		of       func(e *report.Entry)
		excluded int
	}{
		{"the provider's", disturb, 1},
		{"under a fault that was there to be survived", func(e *report.Entry) { disturb(e); e.Fault = "storm" }, 0},
		{"the world's", func(e *report.Entry) { e.Verdict = "broken" }, 1},
		{"nobody has run it", func(e *report.Entry) { e.Verdict = "not_run" }, 1},
		{"the recording ended before", func(e *report.Entry) { e.Verdict = "diverged" }, 1},
		{"the agent's", fail, 0},
		{"the answer was cut off by its own limit", func(e *report.Entry) { fail(e); e.Outcome.Class = "truncated" }, 0},
	} {
		old, now := suite("m-1", 1, 1, nil), suite("m-2", 1, 1, nil)
		tc.of(&now.entries[0])
		old.entries[0].Fault = now.entries[0].Fault
		if c := compared(t, old, now, compare.Options{}); c.New.Excluded != tc.excluded {
			t.Errorf("%s: %d excluded, want %d", tc.why, c.New.Excluded, tc.excluded)
		}
	}
}

// One scenario says little, however its trials end; how little, it says.
func TestOneScenarioIsInconclusive(t *testing.T) {
	passing := func(n int) func(int, int, *report.Entry) {
		return func(_, trial int, e *report.Entry) {
			if trial >= n {
				fail(e)
			}
		}
	}
	var further []int
	for _, tc := range []struct {
		old, now int
		want     float64
	}{{0, 3, 1}, {1, 2, 1.0 / 3}} {
		c := compared(t, suite("m-1", 1, 3, passing(tc.old)), suite("m-2", 1, 3, passing(tc.now)), compare.Options{})
		a := answerTo(t, c, "success")
		if c.Verdict != compare.Inconclusive || a.State != compare.Open || *a.Estimate-tc.want > 1e-9 || tc.want-*a.Estimate > 1e-9 || a.N != 6 || a.Clusters != 1 || a.Lo != nil {
			t.Errorf("%d/3 to %d/3: %s %+v", tc.old, tc.now, c.Verdict, a)
		}
		further = append(further, a.Further)
		t.Log(a.Text)
	}
	if further[0] < 1 || further[1] <= further[0] {
		t.Errorf("further data: %v; the smaller difference needs more", further)
	}
}

func TestOutputTokens(t *testing.T) {
	c := compared(t, suite("m-1", 20, 1, nil), suite("m-2", 20, 1, func(_, _ int, e *report.Entry) { tokensOut(e, 1300) }), compare.Options{})
	a := answerTo(t, c, "output-tokens")
	if c.Verdict != compare.Revert || a.State != compare.Breached || *a.Estimate < 1.299 || *a.Estimate > 1.301 || a.Clusters != 20 || a.Adjusted == nil {
		t.Errorf("20 scenarios: %s %+v", c.Verdict, a)
	}
	r := noise{1}
	noisy := func(mean float64) func(int, int, *report.Entry) {
		return func(_, _ int, e *report.Entry) { tokensOut(e, int64(mean*(0.8+0.4*r.float()))) }
	}
	c = compared(t, suite("m-1", 2, 1, noisy(1000)), suite("m-2", 2, 1, noisy(1300)), compare.Options{})
	a = answerTo(t, c, "output-tokens")
	if c.Verdict != compare.Inconclusive || a.State != compare.Open || a.Further < 4 {
		t.Errorf("2 scenarios: %s %+v", c.Verdict, a)
	}
	// On the same recordings it is a fact.
	old, now := &made{}, &made{}
	old.add(entry("a", "m-1", 0))
	tokensOut(now.add(entry("a", "m-1", 0)), 1300)
	if c := compared(t, old, now, compare.Options{}); c.Verdict != compare.Revert || answerTo(t, c, "output-tokens").P != nil {
		t.Errorf("exact: %s %v", c.Verdict, c.Reasons)
	}
}

func TestWhatIsNotKnownIsNotZero(t *testing.T) {
	free := func(_, _ int, e *report.Entry) { e.Figures.Cost = nil }
	c := compared(t, suite("m-1", 20, 1, nil), suite("m-2", 20, 1, free), compare.Options{})
	if a := answerTo(t, c, "cost"); c.Verdict != compare.Inconclusive || a.State != compare.Open || !strings.Contains(a.Text, "not known on one side in 20 scenarios") {
		t.Errorf("on one side: %s, %s", c.Verdict, a.Text)
	}
	if c.Figures[0].New != nil {
		t.Errorf("the cost of the new side is %v", *c.Figures[0].New)
	}
	c = compared(t, suite("m-1", 20, 1, free), suite("m-2", 20, 1, free), compare.Options{})
	if a := answerTo(t, c, "cost"); c.Verdict != compare.Keep || a.State != compare.Unknown {
		t.Errorf("on both: %s, %s", c.Verdict, a.Text)
	}
}

func TestMissingScenariosAreNamed(t *testing.T) {
	all, fewer := suite("m-1", 21, 1, nil), suite("m-2", 20, 1, nil)
	for _, tc := range []struct {
		why      string
		old, now *made
		want     string
	}{
		{"the new side lacks one", all, fewer, "scenarios: 1 scenario missing from the new side: shop/scenario-020"},
		{"the old side lacks one", fewer, all, "scenarios: 1 scenario missing from the old side: shop/scenario-020"},
	} {
		c := compared(t, tc.old, tc.now, compare.Options{})
		if c.Verdict != compare.Inconclusive || c.Reasons[0] != tc.want {
			t.Errorf("%s: %s %v", tc.why, c.Verdict, c.Reasons)
		}
	}
	// What only the new side has is held against the gates.
	breach(&all.entries[20], "W8", "x")
	if c := compared(t, fewer, all, compare.Options{}); c.Verdict != compare.Revert {
		t.Errorf("a leak in a new scenario: %s %v", c.Verdict, c.Reasons)
	}
}

func TestEditedScenarios(t *testing.T) {
	old, now := suite("m-1", 20, 1, nil), suite("m-2", 20, 1, nil)
	now.entries[4].Hashes.Scenario = "another"
	_, err := compare.Reports(compare.Side{Report: old.write(t)}, compare.Side{Report: now.write(t)}, compare.Options{})
	if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), `"shop/scenario-004"`) || !strings.Contains(err.Error(), "--pair-by-name") {
		t.Errorf("refused with: %v", err)
	}
	c := compared(t, old, now, compare.Options{PairByName: true})
	if c.Verdict != compare.Keep || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "shop/scenario-004") {
		t.Errorf("by name: %s %v", c.Verdict, c.Warnings)
	}
}

// On the same recordings a scenario that fails now is a fact.
func TestARegressionOnTheSameRecordings(t *testing.T) {
	old, now := &made{}, &made{}
	for _, name := range []string{"a", "b"} {
		old.add(entry(name, "m-1", 0))
		now.add(entry(name, "m-1", 0))
	}
	fail(&now.entries[1])
	c := compared(t, old, now, compare.Options{})
	if c.Verdict != compare.Revert || !strings.Contains(c.Reasons[0], "1 scenario passed on the same recordings before, and not now: b") {
		t.Errorf("%s %v", c.Verdict, c.Reasons)
	}
	if len(c.Scenario) != 1 || c.Scenario[0].Title != "b" || !c.Scenario[0].Exact {
		t.Errorf("%+v", c.Scenario)
	}
}

// Trials that replay one recording again are no further evidence.
func TestCopiesCountForNothing(t *testing.T) {
	old, now := suite("m-1", 3, 10, nil), suite("m-2", 3, 10, nil)
	for _, m := range []*made{old, now} {
		m.live = false
		for i := range m.entries {
			m.entries[i].Hashes.Cassette = m.entries[i].Name + m.entries[i].Model
		}
	}
	c := compared(t, old, now, compare.Options{})
	if a := answerTo(t, c, "success"); c.Verdict != compare.Inconclusive || a.N != 6 || c.Data.Copies != 54 {
		t.Errorf("%s, n = %d, %+v", c.Verdict, a.N, c.Data)
	}
}

func TestModels(t *testing.T) {
	both := &made{}
	for _, model := range []string{"m-1", "m-2"} {
		for _, name := range []string{"a", "b"} {
			both.add(entry(name, model, 0))
		}
	}
	other := &made{}
	other.add(entry("a", "m-3", 0))
	other.add(entry("a", "m-1", 0))
	dir, third := both.write(t), other.write(t)
	for _, tc := range []struct {
		why      string
		old, now compare.Side
		changed  string // of the models
		err      string
	}{
		{"one report, its two models", compare.Side{Report: dir, Model: "m-1"}, compare.Side{Report: dir, Model: "m-2"}, "m-1 → m-2", ""},
		{"each model with itself", compare.Side{Report: dir}, compare.Side{Report: dir}, "", ""},
		{"the model that is named on the other side", compare.Side{Report: dir, Model: "m-1"}, compare.Side{Report: dir}, "", ""},
		{"other models", compare.Side{Report: dir}, compare.Side{Report: third}, "", "several models, and not the same ones"},
		{"a model that is not there", compare.Side{Report: dir, Model: "m-11"}, compare.Side{Report: dir}, "", `no run of the model "m-11" (did you mean "m-1"?)`},
	} {
		c, err := compare.Reports(tc.old, tc.now, compare.Options{})
		if tc.err != "" {
			if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v", tc.why, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
			continue
		}
		got := ""
		if len(c.Changed) > 0 && c.Changed[0].What == "model" {
			got = c.Changed[0].Old + " → " + c.Changed[0].New
		}
		if got != tc.changed {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.changed)
		}
	}
}

// Whoever changes the questions afterwards is seen to.
func TestARubricThatWasChangedAfterwards(t *testing.T) {
	old, now := suite("m-1", 20, 1, nil), suite("m-2", 20, 1, nil)
	old.rubric, now.rubric = compare.Default().Hash(), "another"
	c := compared(t, old, now, compare.Options{})
	if c.Rubric.Old != "same" || c.Rubric.New != "changed" || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "in force when the new report was made") {
		t.Errorf("%+v %v", c.Rubric, c.Warnings)
	}
	if page := string(c.AppendMarkdown(nil)); !strings.Contains(page, "the new: **no**") {
		t.Error("the page does not say so")
	}
}

// Models that answered themselves may have said the same by chance; the hash is of
// the tools' recordings alone.
func TestLiveRunsAreNeverExact(t *testing.T) {
	old, now := suite("m-1", 3, 1, nil), suite("m-1", 3, 1, nil)
	if c := compared(t, old, now, compare.Options{}); c.Data.Exact != 0 || c.Data.Sampled != 3 {
		t.Errorf("live: %+v", c.Data)
	}
}

// Seven scenarios that are all dearer are certain enough for one question, and not
// for three.
func TestManyQuestionsNeedMoreCertainty(t *testing.T) {
	r := *compare.Default()
	r.Questions = nil
	for _, id := range []string{"success", "cost", "output_tokens", "tokens", "model_calls", "tool_calls"} {
		threshold := 1.1
		if id == "success" {
			threshold = .5
		}
		r.Questions = append(r.Questions, compare.Question{ID: id, Ask: compare.Ask(id), Threshold: threshold, Breach: compare.MeansRevert})
	}
	dearer := func() *made {
		return suite("m-2", 7, 1, func(_, _ int, e *report.Entry) { tokensOut(e, 1500) })
	}
	a := answerTo(t, compared(t, suite("m-1", 7, 1, nil), dearer(), compare.Options{Rubric: &r}), "output_tokens")
	if a.State != compare.Open || *a.P > .025 || *a.Adjusted < .025 || !strings.Contains(a.Text, "Holm") {
		t.Errorf("a secondary question: %+v", a)
	}
	r.Primary = "output_tokens"
	if a := answerTo(t, compared(t, suite("m-1", 7, 1, nil), dearer(), compare.Options{Rubric: &r}), "output_tokens"); a.State != compare.Breached || a.Adjusted != nil {
		t.Errorf("the primary one: %+v", a)
	}
}

// Where the tools ran for real the latency is no fact, though the model's answers are.
func TestRealClocksAreNotExact(t *testing.T) {
	old, now := &made{}, &made{}
	for i, m := range []*made{old, now} {
		e := m.add(entry("a", "m-1", 0))
		e.Clock, e.Figures.Latency = "real", int64(1_000_000*(1+5*i))
	}
	if a := answerTo(t, compared(t, old, now, compare.Options{}), "latency"); a.State != compare.Unknown {
		t.Errorf("%s: %s", a.State, a.Text)
	}
}

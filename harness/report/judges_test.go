package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/wire"
)

// What judges used is in no figure of the runs, and added up apart from them.
func TestJudgesAreTotalledApart(t *testing.T) {
	tokens := wire.Usage{Input: new(int64(100)), Output: new(int64(2))}
	judged := []harness.Judged{
		{Question: "q", Model: "m-j", About: "answer", Answer: "yes", Accepted: true, Tokens: tokens, Cost: new(0.25)},
		{Question: "r", Model: "m-k", About: "answer", Tokens: tokens},
	}
	d := report.Discarding(nil)
	for _, r := range []*harness.Result{
		{Name: "a", Model: "m-1", Verdict: harness.Pass, Judged: judged},
		{Name: "b", Model: "m-1", Verdict: harness.Pass, Judged: judged[:1]},
		{Name: "c", Model: "m-2", Verdict: harness.Pass},
	} {
		if err := d.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	got := d.Totals()
	want := &report.JudgeTotals{
		Answers: 3, Accepted: 2, None: 1, Unpriced: 1, Cost: new(0.5),
		Tokens: report.Tokens{Input: new(int64(300)), Output: new(int64(6)), Total: 306},
	}
	if diff := cmp.Diff(want, got.Judges); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Models[0].Judges); diff != "" || got.Models[1].Judges != nil {
		t.Errorf("by model: %s %+v", diff, got.Models[1].Judges)
	}
	if got.Figures.Tokens.Total != 0 {
		t.Errorf("%+v", got.Figures)
	}
}

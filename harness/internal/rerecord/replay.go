package rerecord

import (
	"context"
	"fmt"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
)

// replay runs what was recorded offline, as it will be run from now on, and makes
// the golden transcripts, also of the runs under faults that go by this recording.
func (r *recording) replay(ctx context.Context, t *Taken) {
	t.State = Recorded
	for _, v := range r.variants(t) {
		p, err := r.plan.suite.Params(t.Scenario, t.Model, suite.Options{Update: true, Approve: r.plan.options.Approve})
		if err != nil {
			t.fail(err, "")
			return
		}
		p.Variant, p.Secrets = v, r.plan.Secrets
		asking, err := r.askJudges(t, v, &p)
		if err != nil {
			t.fail(err, "")
			return
		}
		res := harness.Exec(ctx, p)
		if err := asking.end(t, res); err != nil {
			t.fail(err, "")
			return
		}
		if res.Accepted {
			path := harness.Golden(p.GoldenDir, t.Scenario.Name, t.Model)
			if v != nil {
				path = harness.UnderVariant(path, v.ID)
			}
			t.Files = append(t.Files, path)
		}
		if res.Verdict == harness.Pass {
			continue
		}
		t.Failed = append(t.Failed, res)
		if t.State == Recorded {
			t.State, t.Class = Review, classOf(res)
		}
	}
}

// classOf is that of the first failure.
func classOf(res *harness.Result) failure.Class {
	if len(res.Failures) == 0 {
		return failure.Diverged
	}
	return res.Failures[0].Class
}

// variants are the runs that the recording answers.
func (r *recording) variants(t *Taken) []*scenario.Variant {
	if t.Variant != nil {
		return []*scenario.Variant{t.Variant}
	}
	out := []*scenario.Variant{nil}
	for i := range t.Scenario.Variants {
		v := &t.Scenario.Variants[i]
		if v.OnDivergence == scenario.DivergeRecorded {
			if there, err := exists(harness.UnderVariant(t.Path, v.ID)); err == nil && !there {
				t.Warnings = append(t.Warnings, fmt.Sprintf("the run under %s has no recording of its own yet: retake record %s --model %s --fault %s", v.ID, t.Scenario.Name, t.Model, v.ID))
				continue
			}
		}
		out = append(out, v)
	}
	return out
}

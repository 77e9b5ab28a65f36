package sweep_test

import (
	"context"
	"sync"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/sweep"
)

// Whatever goes wrong in a sweep has a class of the closed set: each attempt at
// the model and at a tool that was not answered well, and each failure.
func TestEveryErrorHasAClass(t *testing.T) {
	known := map[failure.Class]bool{}
	for _, about := range failure.All() {
		known[about.Class] = true
	}
	var mu sync.Mutex
	seen := map[failure.Class]bool{}
	check := func(what, name string, c failure.Class) {
		seen[c] = true
		if c == failure.None || !known[c] {
			t.Errorf("%s: an error of %s has the class %q", name, what, c)
		}
	}
	for _, name := range []string{"travel/umbrella-stream", "travel/umbrella-openai", "checkout/gift"} {
		sweepOf(t, sweep.Params{Run: paramsOf(t, name), Parallel: 4, Exec: func(ctx context.Context, p harness.Params) *harness.Result {
			r := harness.Exec(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			for _, m := range r.Models {
				if m.Err != nil || m.Response != nil && m.Response.Err != nil {
					check("the model", r.Variant, m.Class)
				}
			}
			for _, a := range r.Attempts {
				if a.Outcome != journal.OK {
					check("a tool", r.Variant, a.Class)
				}
			}
			for _, f := range r.Failures {
				check("the run", r.Variant, f.Class)
			}
			if r.Outcome.Class != failure.None {
				check("the outcome", r.Variant, r.Outcome.Class)
			}
			return r
		}})
	}
	for _, c := range []failure.Class{failure.Transport, failure.Overloaded, failure.Truncated, failure.Protocol, failure.ToolTimeout, failure.ToolUnavailable, failure.Diverged} {
		if !seen[c] {
			t.Errorf("no error of class %q was seen", c)
		}
	}
}

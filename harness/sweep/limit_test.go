package sweep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
)

// A sweep that is larger than anybody asked for says its number; as many as are
// asked for are drawn from it, in their order, the same by the same seed.
func TestLimit(t *testing.T) {
	jobs := make([]*job, DefaultMax+1)
	for i := range jobs {
		jobs[i] = &job{row: i}
	}
	of := func(limit int, seed uint64) ([]*job, error) {
		s := &sweep{Params: Params{Max: limit, Seed: seed}, base: &harness.Result{Name: "long", Model: "m"}}
		return s.limit(jobs)
	}
	if _, err := of(0, 1); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), "this sweep is 50001 runs; say how many to make: --max 50001 makes all") {
		t.Errorf("without a number: %v", err)
	}
	if all, err := of(DefaultMax+1, 1); err != nil || len(all) != len(jobs) {
		t.Errorf("all of them: %d, %v", len(all), err)
	}
	rows := func(limit int, seed uint64) string {
		drawn, err := of(limit, seed)
		if err != nil {
			t.Fatal(err)
		}
		last, out := -1, ""
		for _, j := range drawn {
			if j.row <= last {
				t.Errorf("row %d after row %d", j.row, last)
			}
			last = j.row
			out += fmt.Sprint(j.row, " ")
		}
		return out
	}
	if a, b := rows(9, 1), rows(9, 1); a != b || len(strings.Fields(a)) != 9 || a == rows(9, 2) {
		t.Errorf("drawn %q and %q; by another seed %q", a, b, rows(9, 2))
	}
}

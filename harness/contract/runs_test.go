package contract_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// broken is a turn whose connection breaks in the middle, and which then comes
// whole.
func broken() contract.Evidence {
	q := user(text("q"))
	part := asked(calling(call("a", "f")), q)
	part.Response.Complete, part.Response.Stop, part.Class = false, wire.StopNone, failure.Transport
	return evidence(part, asked(done("x"), q))
}

// partly is the same with a call in both.
func partly() contract.Evidence {
	q := user(text("q"))
	part := asked(calling(call("a", "f")), q)
	part.Response.Complete, part.Response.Stop, part.Class = false, wire.StopNone, failure.Transport
	return evidence(part, asked(calling(call("a", "f")), q))
}

// Each run of a task has its limits, bounds and counts; what the runs do to the
// world counts together.
func TestRunsOfOneTask(t *testing.T) {
	q := user(text("q"))
	first := evidence(errored(400, failure.ClientError, q))
	first.Ended, first.Elapsed = &journal.Ended{Class: failure.ClientError}, time.Second
	second := evidence(asked(calling(call("a", "f")), q), asked(done("x"), q))
	second.Elapsed = time.Second
	all := evidence(append(first.Models[:1:1], second.Models...)...)
	all.Ledger = map[string]int{"f": 2}
	terms := contract.Terms{Iterations: 2, Time: time.Second, Repeats: 1, ModelAttempts: 1, Effects: map[string]int{"f": 1}}
	var got []string
	for _, b := range contract.Breaches(contract.CheckRuns(terms, all, []contract.Evidence{first, second})) {
		got = append(got, b.String())
	}
	if d := cmp.Diff([]string{"W6: f: 2 effects, expected 1"}, got); d != "" {
		t.Errorf("two runs (-want +got):\n%s", d)
	}
	terms.Time = time.Second / 2
	for _, f := range contract.CheckRuns(terms, all, []contract.Evidence{first, second}) {
		if f.Rule == "W5" && len(f.Breaches) != 2 {
			t.Errorf("each run is over its time, want two breaches, got %v", f.Breaches)
		}
	}
}

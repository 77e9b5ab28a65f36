package sweep_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/sweep"
)

// BenchmarkSweep is the sweep of the worked case, on one core.
func BenchmarkSweep(b *testing.B) {
	p := sweep.Params{Run: paramsOf(b, "travel/umbrella")}
	runs := 0
	b.ReportAllocs()
	for b.Loop() {
		runs += sweepOf(b, p).Totals.Runs
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
}

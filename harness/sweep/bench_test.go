package sweep_test

import (
	"testing"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/sweep"
)

// BenchmarkSweep is the sweep of the worked case; with -cpu 1 on one core.
func BenchmarkSweep(b *testing.B) { benchmark(b, sweep.Params{}) }

// BenchmarkPairs is the same with every two faults.
func BenchmarkPairs(b *testing.B) { benchmark(b, sweep.Params{Pairs: true}) }

func benchmark(b *testing.B, p sweep.Params) {
	b.Helper()
	p.Run = paramsOf(b, "travel/umbrella")
	runs := 0
	b.ReportAllocs()
	for b.Loop() {
		r := sweepOf(b, p)
		runs += r.Totals.Runs
		if r.Pairs != nil {
			runs += r.Pairs.Totals.Runs
		}
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkDelay is one run in which the provider asks for a wait: how long it is
// costs no real time.
func BenchmarkDelay(b *testing.B) {
	for _, wait := range []time.Duration{time.Second, time.Minute, 1000 * time.Hour} {
		b.Run(wait.String(), func(b *testing.B) {
			p := paramsOf(b, "travel/umbrella")
			limits := *p.Scenario
			limits.Limits.Time = 2000 * time.Hour
			p.Scenario, p.ContractOnly, p.Retry.RetryAfterCap = &limits, true, 2000*time.Hour
			p.Variant = &scenario.Variant{ID: "wait", Faults: []fault.Spec{{Name: "model.rate_limit", Params: fault.Params{RetryAfter: wait}}}}
			for b.Loop() {
				if r := harness.Exec(b.Context(), p); r.Latency < wait || r.Verdict != harness.Pass {
					b.Fatalf("%s after %v: %+v", r.Verdict, r.Latency, r.Failures)
				}
			}
		})
	}
}

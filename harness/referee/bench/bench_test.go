package bench_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/report"
)

// distinct is how many stories the benchmarks go round, so that no way of
// running them lives from having just seen the same bytes.
const distinct = 256

func stories(n int) []story {
	out := make([]story, n)
	for i := range out {
		out[i] = newStory(i)
	}
	return out
}

// BenchmarkScenario is one scenario on one worker, files read from disk.
func BenchmarkScenario(b *testing.B) {
	all := stories(distinct)
	b.Run("hand", func(b *testing.B) {
		h := newHand(b, b.TempDir(), all)
		round(b, func(n int) { h.run(b, all[n%distinct].id) })
	})
	b.Run("bare", func(b *testing.B) {
		x := newBare(b, b.TempDir(), all)
		round(b, func(n int) { x.run(b, all[n%distinct].id) })
	})
	b.Run("retake", func(b *testing.B) {
		p, reports := newProject(b, b.TempDir(), all), b.TempDir()
		w := reporter(b, reports, 0)
		round(b, func(n int) {
			if n > 0 && n%distinct == 0 { // a run ends, the next begins
				closeReport(b, w)
				w = reporter(b, reports, n)
			}
			p.run(b, w, "shop/"+all[n%distinct].id)
		})
		closeReport(b, w)
	})
}

// round calls run with 0, 1, 2, …; the first call is not timed.
func round(b *testing.B, run func(n int)) {
	b.Helper()
	run(0)
	b.ReportAllocs()
	n, before := 0, cpuTime()
	for b.Loop() {
		n++
		run(n)
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(n), "cpu-ns/op")
}

func closeReport(b *testing.B, w *report.Writer) {
	b.Helper()
	if _, err := w.Close(false); err != nil {
		b.Fatal(err)
	}
}

package suite_test

import (
	"context"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
)

// BenchmarkScenario is one replay of the worked case, everything on: the
// scenario, its cassettes and its golden are read from disk, the run is judged,
// and its report and transcript are written.
func BenchmarkScenario(b *testing.B) {
	s, err := suite.Open(suite.Dirs{Root: "../../.."}, func(string) string { return "" })
	if err != nil {
		b.Fatal(err)
	}
	w, err := report.New(report.Options{Dir: b.TempDir(), ID: report.NewID(clock.Wallclock(), 1), Tool: "retake"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		err := s.Run(context.Background(), []string{"travel/umbrella"}, suite.Options{RunID: "bench"}, func(r *harness.Result) error {
			if r.Verdict != harness.Pass {
				b.Fatal(report.Explain(r, 0))
			}
			return w.Add(r)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

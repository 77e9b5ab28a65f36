package compare_test

import (
	"os"
	"testing"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/report"
)

// BenchmarkReports compares two reports of 10,000 scenarios with five trials each:
// go test -bench Reports -benchtime 1x ./harness/compare
func BenchmarkReports(b *testing.B) {
	r := noise{3}
	of := func(model string) string {
		return suite(model, 10_000, 5, func(_, _ int, e *report.Entry) {
			tokensOut(e, int64(800+400*r.float()))
			for range 3 {
				e.Models = append(e.Models, report.Model{Ordinal: 1, Status: 200, Model: model, Stop: "done", Calls: []string{"pay"}, Tokens: &e.Figures.Tokens})
			}
			if r.float() < .1 {
				fail(e)
			}
		}).write(b)
	}
	old, now := of("m-1"), of("m-2")
	if info, err := os.Stat(report.File(old)); err == nil {
		b.ReportMetric(float64(info.Size())/1e6, "MB/report")
	}
	for b.Loop() {
		c, err := compare.Reports(compare.Side{Report: old}, compare.Side{Report: now}, compare.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if c.Data.Clusters != 10_000 || c.New.Runs != 50_000 {
			b.Fatalf("%+v", c.Data)
		}
	}
}

package example_test

import (
	"context"
	"slices"
	"testing"

	_ "modernc.org/sqlite" // what the drills count in

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/harnesstest"
)

// failures takes what a drill says, and goes on: the naive handler is to be found.
type failures struct {
	testing.TB
	found []any
}

func (f *failures) Error(args ...any)        { f.found = append(f.found, args...) }
func (f *failures) Context() context.Context { return f.TB.Context() }

const (
	drillsFile = "drills/giftgenius.yaml"
	inARow     = 5
)

// All that applies holds on the sound handler, each time.
func TestTheSoundShopHoldsInADrill(t *testing.T) {
	names := []string{"checkout", "commit", "cards"}
	for range inARow {
		for _, r := range harnesstest.Drill(&failures{TB: t}, harnesstest.DrillParams{File: drillsFile, Drills: names}) {
			if r.Totals.Breached > 0 || r.Totals.Warnings > 0 || r.Totals.Applied() < 26 {
				t.Fatalf("%s", r.AppendText(nil))
			}
		}
		names = names[:1] // the other two go through the same handler
	}
}

// The naive handler is found each time, in the rows that are there for it.
func TestTheNaiveShopIsFoundByADrill(t *testing.T) {
	want := []string{"I2", "I2 two processes", "I3 crash", "I10 after_effect"}
	var only []string // all rows, once
	for range inARow {
		f := &failures{TB: t}
		for _, r := range harnesstest.Drill(f, harnesstest.DrillParams{File: drillsFile, Drills: []string{"naive"}, Only: only}) {
			var got []string
			for _, row := range r.Of(drill.Breached) {
				got = append(got, row.Name())
			}
			if !slices.Equal(got, want) || len(f.found) != len(want) {
				t.Errorf("found in %q, want %q\n%s", got, want, r.AppendText(nil))
			}
		}
		only = []string{"I2", "I3", "I10"}
	}
}

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

const inARow = 5

// All that applies holds on the sound handler, each time.
func TestTheSoundShopHoldsInADrill(t *testing.T) {
	drill := func(repeat int, names ...string) {
		for _, r := range harnesstest.Drill(&failures{TB: t}, harnesstest.DrillParams{Dir: "../..", Drills: names, Repeat: repeat}) {
			if r.Totals.Breached > 0 || r.Totals.Warnings > 0 || r.Totals.Applied() < 26 {
				t.Fatalf("%s", r.AppendText(nil))
			}
		}
	}
	drill(inARow, "giftgenius/checkout")
	drill(1, "giftgenius/commit", "giftgenius/cards") // the other two go through the same handler
}

// The naive handler is found each time, in the rows that are there for it.
func TestTheNaiveShopIsFoundByADrill(t *testing.T) {
	want := []string{"I2", "I2 two processes", "I3 crash", "I10 after_effect", "I18 after_effect"}
	find := func(repeat int, only ...string) {
		f := &failures{TB: t}
		reports := harnesstest.Drill(f, harnesstest.DrillParams{File: "drills/naive.yaml", Repeat: repeat, Only: only})
		for _, r := range reports {
			var got []string
			for _, row := range r.Of(drill.Breached) {
				got = append(got, row.Name())
			}
			if !slices.Equal(got, want) {
				t.Errorf("found in %q, want %q\n%s", got, want, r.AppendText(nil))
			}
		}
		if len(reports) != repeat || len(f.found) != repeat*len(want) {
			t.Errorf("%d drills, %d failures told", len(reports), len(f.found))
		}
	}
	find(1) // all rows
	find(inARow-1, "I2", "I3", "I10", "I18")
}

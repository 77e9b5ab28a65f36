package stats_test

import (
	"math"
	"testing"

	"github.com/retake-harness/retake/harness/internal/stats"
)

func TestKappa(t *testing.T) {
	for _, tt := range []struct {
		why           string
		table         [][]int
		kappa, lo, hi float64 // to three or four digits, as published
		within        float64
	}{
		{"two dermatologists, the example of SAS's PROC FREQ", [][]int{{10, 4, 1, 0}, {5, 10, 12, 2}, {2, 4, 12, 5}, {0, 2, 6, 13}}, 0.3449, 0.2030, 0.4868, 0.00006},
		{"Cohen's diagnoses, as Fleiss and R's psych have them", [][]int{{106, 10, 4}, {22, 28, 10}, {2, 12, 6}}, 0.429, 0.32, 0.53, 0.006},
	} {
		k, ok := stats.KappaOf(tt.table, 0.95)
		if !ok || math.Abs(k.Kappa-tt.kappa) > tt.within || math.Abs(k.Interval.Lo-tt.lo) > tt.within || math.Abs(k.Interval.Hi-tt.hi) > tt.within {
			t.Errorf("%s: %+v, want %v [%v, %v]", tt.why, k, tt.kappa, tt.lo, tt.hi)
		}
	}
}

// Tables of which kappa alone is published: Cohen's textbook example, and two of
// equal agreement that differ in their frequencies.
func TestKappaAlone(t *testing.T) {
	for _, tt := range []struct {
		table [][]int
		want  float64
	}{
		{[][]int{{20, 5}, {10, 15}}, 0.4}, {[][]int{{45, 15}, {25, 15}}, 0.1304}, {[][]int{{25, 35}, {5, 35}}, 0.2593},
	} {
		if k, ok := stats.KappaOf(tt.table, 0.95); !ok || math.Abs(k.Kappa-tt.want) > 0.00005 {
			t.Errorf("%v: %v, want %v", tt.table, k.Kappa, tt.want)
		}
	}
}

// Full agreement of few is no certainty, and agreement by one answer alone is
// nothing.
func TestKappaOfLittle(t *testing.T) {
	k, ok := stats.KappaOf([][]int{{3, 0}, {0, 3}}, 0.95)
	if !ok || k.Kappa != 1 || k.Interval.Hi != 1 || k.Interval.Lo > 0.3 {
		t.Errorf("%+v, %v", k, ok)
	}
	for _, table := range [][][]int{{{9, 0}, {0, 0}}, {{0, 0}, {0, 0}}} {
		if k, ok := stats.KappaOf(table, 0.95); ok || k.Interval != (stats.Interval{Lo: -1, Hi: 1}) {
			t.Errorf("%v: %+v", table, k)
		}
	}
}

package stats

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// MannWhitney is the two-sided p-value of two unpaired samples. ok is false where
// no samples of these sizes could reach alpha: there is then no claim, not even
// that nothing changed.
func MannWhitney(a, b []float64, alpha float64) (p float64, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	thresholds := &benchmath.Thresholds{CompareAlpha: alpha}
	c := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(a), thresholds), benchmath.NewSample(slices.Clone(b), thresholds))
	return c.P, LeastMannWhitney(len(a), len(b)) <= alpha
}

// LeastMannWhitney is the smallest p-value that samples of these sizes can have:
// 2/C(n+m,n).
func LeastMannWhitney(n, m int) float64 {
	ways := 1.0
	for i := range min(n, m) {
		ways *= float64(n+m-i) / float64(i+1)
	}
	return min(2/ways, 1)
}

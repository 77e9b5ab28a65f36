package stats

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// Median is the median of values and its interval by order statistics, which
// assumes nothing of how they are distributed. For 0.95 it takes six values to
// bound it. NaN of nothing.
func Median(values []float64, confidence float64) (float64, Interval) {
	s := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	return sum.Center, Interval{sum.Lo, sum.Hi}
}

// Same is the one value that all have, by the assumption that they are exact; ok
// is false where they differ.
func Same(values []float64) (v float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	s := benchmath.AssumeExact.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 1)
	return s.Center, len(s.Warnings) == 0
}

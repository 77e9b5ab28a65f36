package stats

import (
	"math"
	"slices"
	"sort"
)

// Median is the median of values and its interval by order statistics, which
// assumes nothing of how they are distributed: the k-th value from either end, with
// the largest k of which P(Binomial(n, ½) < k) is at most half of what the
// confidence leaves. For 0.95 it takes six values to bound it. NaN of nothing.
//
// benchmath's summary of an assumption of nothing is the same but for its ends: it
// may bound one side alone, with all of what the confidence leaves on that side.
func Median(values []float64, confidence float64) (float64, Interval) {
	x := slices.Sorted(slices.Values(values))
	n := len(x)
	if n == 0 {
		return math.NaN(), Interval{math.Inf(-1), math.Inf(1)}
	}
	tail := (1 - confidence) / 2
	k := sort.Search(n/2+1, func(k int) bool { return AtLeast(n-k, n) > tail })
	in := Interval{math.Inf(-1), math.Inf(1)}
	if k > 0 {
		in = Interval{x[k-1], x[n-k]}
	}
	return (x[(n-1)/2] + x[n/2]) / 2, in
}

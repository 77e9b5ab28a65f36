package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
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
	in := Interval{math.Inf(-1), math.Inf(1)}
	if k := rank(n, confidence); k > 0 {
		in = Interval{x[k-1], x[n-k]}
	}
	return (x[(n-1)/2] + x[n/2]) / 2, in
}

// rank is the k of the interval of n values; 0 for none.
func rank(n int, confidence float64) int {
	tail := (1 - confidence) / 2
	return sort.Search(n/2+1, func(k int) bool { return AtLeast(n-k, n) > tail })
}

// MedianPower is the chance that the interval of the median of n values lies wholly
// above a limit which each value is above with the chance p.
func MedianPower(n int, p, confidence float64) float64 {
	k := rank(n, confidence)
	if k == 0 {
		return 0
	}
	return distuv.Binomial{N: float64(n), P: 1 - p}.CDF(float64(k - 1)) // at most so many are below
}

// MedianPairs is how many values it takes until the interval of their median lies
// on one side of a limit that is delta away from it, with the power. Where they
// spread with the standard deviation sd, normally, a value is above it with the
// chance Φ(δ/sd). MostPairs means as many or more.
func MedianPairs(sd, delta, confidence, power float64) int {
	p := 1.0
	if sd > 0 {
		p = distuv.UnitNormal.CDF(math.Abs(delta) / sd)
	}
	root := (z(twoSided(confidence))/2 + z(power)*math.Sqrt(p*(1-p))) / (p - 0.5)
	if many := root * root; many > 200 {
		return int(math.Ceil(min(many, MostPairs))) // by the normal distribution
	}
	n := 2
	for MedianPower(n, p, confidence) < power {
		n++
	}
	return n
}

// MedianDetectable is the distance from a limit at which MedianPairs would be n;
// infinite where n values have no interval.
func MedianDetectable(sd float64, n int, confidence, power float64) float64 {
	if rank(n, confidence) == 0 {
		return math.Inf(1)
	}
	lo, hi := 0.5, 1.0
	for range 40 {
		if mid := (lo + hi) / 2; MedianPower(n, mid, confidence) >= power {
			hi = mid
		} else {
			lo = mid
		}
	}
	return sd * distuv.UnitNormal.Quantile(hi)
}

package stats

import "gonum.org/v1/gonum/stat/distuv"

// McNemar is the exact two-sided p-value of discordant pairs: b that became worse
// and c that became better. Pairs that agree say nothing.
func McNemar(b, c int) float64 {
	if b+c == 0 {
		return 1
	}
	return min(2*AtLeast(max(b, c), b+c), 1)
}

// AtLeast is the chance of k or more heads in n throws: the p-value of the sign
// test against a median that k of n values are above.
func AtLeast(k, n int) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(n - k)) // as many tails or fewer
}

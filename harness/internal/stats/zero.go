package stats

import "math"

// NoneIn is the one-sided upper bound of a rate of which n trials showed nothing:
// 1 − (1−confidence)^(1/n).
func NoneIn(n int, confidence float64) float64 {
	if n < 1 {
		return 1
	}
	return 1 - math.Pow(1-confidence, 1/float64(n))
}

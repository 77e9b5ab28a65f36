package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Paired is what is known of the differences of pairs, each between −1 and 1.
type Paired struct {
	N    int
	Mean float64
	SD   float64 // NaN of fewer than two pairs
	SE   float64 // of the mean; NaN of fewer than two pairs
}

// PairsOf sums up differences: SE = sqrt(Σ(d−d̄)²/(n−1)/n).
func PairsOf(d []float64) Paired {
	sd := math.Sqrt(Variance(d))
	return Paired{N: len(d), Mean: Mean(d), SD: sd, SE: sd / math.Sqrt(float64(len(d)))}
}

// Difference is the interval of the mean of differences between −1 and 1, such as
// those of pass rates. It is the one of Agresti and Min (2005) for matched pairs,
// with Student's quantiles: half a pair is added to each of the four ways in which
// two trials can end, so that pairs which all agree do not give an interval without
// width. It is infinite for fewer than two pairs.
func Difference(d []float64, confidence float64) Interval {
	squares := 0.0
	for _, v := range d {
		squares += v * v
	}
	if len(d) < 2 {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	mean, se := adjusted(float64(len(d)), Mean(d), squares/float64(len(d)))
	width := t(twoSided(confidence), len(d)-1) * se
	return Interval{max(mean-width, -1), min(mean+width, 1)}
}

// adjusted is the mean and its standard error of n differences with a mean and a
// mean of their squares, after the four halves were added: two that agree, one of
// each sign.
func adjusted(n, mean, square float64) (float64, float64) {
	m := n + 2
	mean = n * mean / m
	variance := (n*square+1)/m - mean*mean
	return mean, math.Sqrt(max(variance, 0) / m)
}

// Below is the one-sided p-value of the mean of differences being below the limit,
// by the distribution of Difference; 1 for fewer than two pairs.
func Below(d []float64, limit float64) float64 {
	if len(d) < 2 {
		return 1
	}
	squares := 0.0
	for _, v := range d {
		squares += v * v
	}
	mean, se := adjusted(float64(len(d)), Mean(d), squares/float64(len(d)))
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.CDF((mean - limit) / se)
}

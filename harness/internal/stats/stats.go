// Package stats has the few statistics that a comparison of reports needs, one a
// file, each by the formula that its comment names.
//
// Where there is too little data for a figure, the figure is not there (ok is
// false, a bound is infinite): it is never 0 instead. Chance comes from a seed.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a range that holds the true figure with the confidence that was
// asked for. A bound that the data does not give is infinite.
type Interval struct{ Lo, Hi float64 }

// Mean is the arithmetic mean; NaN of nothing.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Variance is the sample's variance, over n-1; NaN of fewer than two values.
func Variance(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean, sum := Mean(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(values)-1)
}

// z is the quantile of the normal distribution.
func z(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// t is the quantile of Student's distribution.
func t(p float64, df int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(p)
}

// twoSided is the quantile's argument for an interval of the confidence.
func twoSided(confidence float64) float64 { return 1 - (1-confidence)/2 }

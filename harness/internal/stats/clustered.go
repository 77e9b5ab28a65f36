package stats

import "math"

// Clustered is the mean of values and its standard error where values of one
// cluster (the trials of a scenario) depend on each other:
//
//	SE² = s²/n + Σ over clusters Σ over i≠j (x_i−x̄)(x_j−x̄) / n²
//
// of[i] is the cluster of values[i]. With fewer than two clusters nothing is known
// of how they differ, and ok is false.
func Clustered(values []float64, of []int) (mean, se float64, ok bool) {
	n := float64(len(values))
	mean = Mean(values)
	sums, squares := map[int]float64{}, 0.0
	for i, v := range values {
		sums[of[i]] += v - mean
		squares += (v - mean) * (v - mean)
	}
	if len(sums) < 2 {
		return mean, 0, false
	}
	between := -squares // Σ i≠j = (Σ x)² − Σ x²
	for _, sum := range sums {
		between += sum * sum
	}
	return mean, math.Sqrt(squares/(n-1)/n + between/(n*n)), true
}

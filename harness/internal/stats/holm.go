package stats

import (
	"cmp"
	"slices"
)

// Holm adjusts p-values for their number, so that the chance of any false one is
// bounded (Holm 1979). They keep their order.
func Holm(p []float64) []float64 {
	by := make([]int, len(p))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out := make([]float64, len(p))
	least := 0.0
	for rank, i := range by {
		least = max(least, min(float64(len(p)-rank)*p[i], 1))
		out[i] = least
	}
	return out
}

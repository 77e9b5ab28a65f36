package stats

import "math"

// Kappa is Cohen's kappa of a square table, rows by one rater and columns by the
// other: how far they agree beyond what their frequencies alone would give.
type Kappa struct {
	N        int
	Agree    int     // on the diagonal
	Expected float64 // the share of agreement by chance
	Kappa    float64
	SE       float64 // large-sample standard error (Fleiss, Cohen and Everitt 1969)
	Interval Interval
}

// KappaOf is the kappa of the table with an interval of the confidence. ok is
// false where it is not defined: nothing was rated, or both give one and the same
// answer throughout, so that chance alone gives full agreement.
//
// Where they agree on all or on nothing the standard error is 0, which is no
// certainty; there the interval is that of the agreement by Wilson, by the
// frequencies as they are.
func KappaOf(table [][]int, confidence float64) (k Kappa, ok bool) {
	rows, columns := make([]float64, len(table)), make([]float64, len(table))
	for i, row := range table {
		for j, n := range row {
			k.N += n
			rows[i] += float64(n)
			columns[j] += float64(n)
		}
		k.Agree += row[i]
	}
	n := float64(k.N)
	for i := range table {
		rows[i], columns[i] = rows[i]/n, columns[i]/n
		k.Expected += rows[i] * columns[i]
	}
	if k.N == 0 || k.Expected >= 1 {
		return Kappa{N: k.N, Agree: k.Agree, Interval: Interval{-1, 1}}, false
	}
	observed, chance := float64(k.Agree)/n, 1-k.Expected
	k.Kappa = (observed - k.Expected) / chance
	k.SE = kappaSE(table, rows, columns, k.Kappa, k.Expected)
	half := z(twoSided(confidence)) * k.SE
	k.Interval = Interval{max(k.Kappa-half, -1), min(k.Kappa+half, 1)}
	if k.Agree == k.N || k.Agree == 0 {
		w := Wilson(k.Agree, k.N, confidence)
		k.Interval = Interval{max((w.Lo-k.Expected)/chance, -1), min((w.Hi-k.Expected)/chance, 1)}
	}
	return k, true
}

// kappaSE is the square root of (A + B − C) / ((1−pe)² n), with
// A = Σ pii (1 − (pi. + p.i)(1−κ))², B = (1−κ)² Σi≠j pij (p.i + pj.)² and
// C = (κ − pe (1−κ))².
func kappaSE(table [][]int, rows, columns []float64, kappa, expected float64) float64 {
	n, a, b := 0.0, 0.0, 0.0
	for _, row := range table {
		for _, x := range row {
			n += float64(x)
		}
	}
	for i, row := range table {
		for j, x := range row {
			p := float64(x) / n
			if i == j {
				d := 1 - (rows[i]+columns[i])*(1-kappa)
				a += p * d * d
				continue
			}
			d := columns[i] + rows[j]
			b += p * d * d
		}
	}
	b *= (1 - kappa) * (1 - kappa)
	c := kappa - expected*(1-kappa)
	return math.Sqrt(max(a+b-c*c, 0)/n) / (1 - expected)
}

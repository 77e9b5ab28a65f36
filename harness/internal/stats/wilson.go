package stats

import "math"

// Wilson is the score interval of a share of c out of n.
func Wilson(c, n int, confidence float64) Interval {
	if n < 1 {
		return Interval{0, 1}
	}
	p, m, q := float64(c)/float64(n), float64(n), z(twoSided(confidence))
	centre, width := p+q*q/(2*m), q*math.Sqrt(p*(1-p)/m+q*q/(4*m*m))
	scale := 1 + q*q/m
	return Interval{max((centre-width)/scale, 0), min((centre+width)/scale, 1)}
}

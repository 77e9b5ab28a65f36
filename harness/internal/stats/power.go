package stats

import "math"

// MostPairs is where the search for a number of pairs ends.
const MostPairs = 100_000

// PairsFor is how many pairs tell a difference of delta apart from none:
// ((z_{α/2}+z_β)·sd/δ)², rounded up.
func PairsFor(sd, delta, confidence, power float64) int {
	n := (z(twoSided(confidence)) + z(power)) * sd / math.Abs(delta)
	return int(math.Ceil(min(n*n, MostPairs)))
}

// Detectable is the smallest difference that n pairs would tell apart from none
// with the power: (z_{α/2}+z_β)·sd/√n.
func Detectable(sd float64, n int, confidence, power float64) float64 {
	return (z(twoSided(confidence)) + z(power)) * sd / math.Sqrt(float64(n))
}

// PairsToDecide is how many pairs it would take, if further ones were like those
// that were seen, until the interval of Difference lies on one side of the limit,
// with the power. mean and square are the means of the differences and of their
// squares. MostPairs means as many or more: what was seen lies at the limit.
func PairsToDecide(mean, square, limit, confidence, power float64) int {
	decides := func(n int) bool {
		m, se := adjusted(float64(n), mean, square)
		return math.Abs(m-limit) > (t(twoSided(confidence), n-1)+z(power))*se
	}
	lo, hi := 1, 2
	for !decides(hi) {
		if lo, hi = hi, hi*2; hi >= MostPairs {
			return MostPairs
		}
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; decides(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// DetectableDifference is Detectable for differences between −1 and 1, by the
// distribution of Difference; 1 for fewer than two.
func DetectableDifference(d []float64, confidence, power float64) float64 {
	if len(d) < 2 {
		return 1
	}
	squares := 0.0
	for _, v := range d {
		squares += v * v
	}
	_, se := adjusted(float64(len(d)), Mean(d), squares/float64(len(d)))
	return min((t(twoSided(confidence), len(d)-1)+z(power))*se, 1)
}

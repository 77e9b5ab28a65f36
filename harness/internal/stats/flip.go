package stats

import (
	"math"
	"math/bits"
)

// The most pairs of which all signs are tried, and how many are drawn of more.
const (
	mostFlipped = 16
	drawn       = 2000
)

// SignFlip is the two-sided p-value of the paired randomisation test (Fisher
// 1935): the share of ways to give the differences their signs whose sum is as far
// from 0. Of more than 16 pairs, 2,000 ways are drawn from the seed. ok is false
// without a difference, or with one that is not finite.
func SignFlip(d []float64, seed uint64) (p float64, ok bool) {
	sizes := make([]float64, 0, len(d))
	sum := 0.0
	for _, v := range d {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return 0, false
		}
		if v != 0 {
			sizes, sum = append(sizes, math.Abs(v)), sum+v
		}
	}
	if len(sizes) == 0 {
		return 1, len(d) > 0
	}
	limit := math.Abs(sum) * (1 - 1e-12) // sums of the same values in another order
	if len(sizes) > mostFlipped {
		return drawnFlips(sizes, limit, seed), true
	}
	extreme, ways := 0, 1<<len(sizes)
	total := 0.0
	for _, v := range sizes {
		total -= v
	}
	for i := range ways { // each way differs from the one before in one sign
		if i > 0 {
			k := bits.TrailingZeros(uint(i))
			if gray := uint(i) ^ uint(i)>>1; gray>>k&1 == 1 {
				total += 2 * sizes[k]
			} else {
				total -= 2 * sizes[k]
			}
		}
		if math.Abs(total) >= limit-1e-9*math.Abs(limit) {
			extreme++
		}
	}
	return float64(extreme) / float64(ways), true
}

// drawnFlips counts the observed way among those that are drawn, so that p is
// never 0.
func drawnFlips(sizes []float64, limit float64, seed uint64) float64 {
	r := Random(seed)
	extreme := 1
	for range drawn {
		total, word := 0.0, uint64(0)
		for i, v := range sizes {
			if i%64 == 0 {
				word = r.Next()
			}
			if word&1 == 1 {
				total += v
			} else {
				total -= v
			}
			word >>= 1
		}
		if math.Abs(total) >= limit {
			extreme++
		}
	}
	return float64(extreme) / float64(drawn+1)
}

// Random is a sequence of numbers that only its seed decides (SplitMix64).
type Random uint64

// Next is the next number.
func (r *Random) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	x := uint64(*r)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

package stats

// PassK is the chance that k trials all pass, of n trials of which c passed:
// C(c,k)/C(n,k), which is unbiased for p^k. ok is false for fewer than k trials.
func PassK(c, n, k int) (p float64, ok bool) {
	if n < k || k < 1 {
		return 0, false
	}
	p = 1
	for i := range k {
		p *= float64(max(c-i, 0)) / float64(n-i)
	}
	return p, true
}

package stats_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/internal/stats"
)

// near is equality to the digits that a value is published with.
func near(t *testing.T, why string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s: %v, want %v ± %v", why, got, want, within)
	}
}

func TestWilson(t *testing.T) {
	for _, tc := range []struct {
		why    string
		c, n   int
		lo, hi float64
	}{
		{"few, all", 5, 5, .566, 1},
		{"ten, all", 10, 10, .722, 1},
		{"twenty, all", 20, 20, .839, 1},
		{"one of twenty missing", 19, 20, .764, .991},
		{"a hundred", 100, 100, .963, 1},
		{"none is the mirror of all", 0, 10, 0, .278},
		{"of nothing everything is possible", 0, 0, 0, 1},
	} {
		got := stats.Wilson(tc.c, tc.n, .95)
		near(t, tc.why, got.Lo, tc.lo, .0006)
		near(t, tc.why, got.Hi, tc.hi, .0006)
	}
}

func TestNoneIn(t *testing.T) {
	for n, want := range map[int]float64{0: 1, 10: .259, 30: .095, 100: .030, 300: .010} {
		near(t, fmt.Sprint(n), stats.NoneIn(n, .95), want, .0006)
	}
}

func TestMcNemar(t *testing.T) {
	for _, tc := range []struct {
		b, c int
		want float64
	}{{5, 0, .0625}, {6, 0, .031}, {7, 1, .070}, {8, 1, .039}, {9, 1, .021}, {9, 2, .065}, {10, 2, .039}, {0, 0, 1}, {1, 1, 1}, {0, 6, .031}} {
		near(t, fmt.Sprintf("%d to %d", tc.b, tc.c), stats.McNemar(tc.b, tc.c), tc.want, .0006)
	}
}

func TestPassK(t *testing.T) {
	for _, tc := range []struct {
		why     string
		c, n, k int
		want    float64
		ok      bool
	}{
		{"one trial is the pass rate", 3, 4, 1, .75, true},
		{"two of four, of which three pass", 3, 4, 2, .5, true},
		{"more than have passed", 3, 4, 4, 0, true},
		{"all", 8, 8, 8, 1, true},
		{"more than there are", 3, 3, 4, 0, false},
	} {
		got, ok := stats.PassK(tc.c, tc.n, tc.k)
		near(t, tc.why, got, tc.want, 1e-12)
		if ok != tc.ok {
			t.Errorf("%s: ok is %v", tc.why, ok)
		}
	}
}

// pass^k is unbiased: over all ways in which n trials can end it is p^k.
func TestPassKIsUnbiased(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		mean, ways := 0.0, 1.0
		for c := range n + 1 {
			if c > 0 {
				ways *= float64(n-c+1) / float64(c)
			}
			v, _ := stats.PassK(c, n, k)
			mean += v * ways * math.Pow(p, float64(c)) * math.Pow(1-p, float64(n-c))
		}
		if want := math.Pow(p, float64(k)); math.Abs(mean-want) > 1e-9 {
			t.Fatalf("%v, want %v", mean, want)
		}
	})
}

// Darwin's maize, as Fisher tested it in The Design of Experiments: 1,726 of the
// 32,768 ways are as extreme.
func TestSignFlipOfDarwinsMaize(t *testing.T) {
	maize := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	got, ok := stats.SignFlip(maize, 1)
	near(t, "maize", got, 1726.0/32768, 1e-12)
	if !ok {
		t.Error("no claim")
	}
	// Drawn instead, each value three times with a third of its size is another
	// question; the same one with two pairs that say nothing is not.
	same, _ := stats.SignFlip(append(slices.Clone(maize), 0, 0, 0), 1)
	near(t, "pairs that agree say nothing", same, got, 1e-12)
}

func TestSignFlip(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 5: .0625, 6: .03125} {
		d := make([]float64, n)
		for i := range d {
			d[i] = float64(i + 1)
		}
		got, _ := stats.SignFlip(d, 1)
		near(t, fmt.Sprintf("the least of %d", n), got, want, 1e-12)
	}
	if _, ok := stats.SignFlip([]float64{1, math.Inf(1)}, 1); ok {
		t.Error("a claim about what has no bound")
	}
	if _, ok := stats.SignFlip(nil, 1); ok {
		t.Error("a claim about nothing")
	}
	big := make([]float64, 40)
	for i := range big {
		big[i] = float64(i%7) - 3.02
	}
	a, _ := stats.SignFlip(big, 7)
	b, _ := stats.SignFlip(big, 7)
	if a != b || a < .5 {
		t.Errorf("drawn: %v and %v from the same seed", a, b)
	}
}

// What is drawn estimates what would be counted.
func TestDrawnFlipsAreNearTheNormalOnes(t *testing.T) {
	d := make([]float64, 100)
	for i := range d {
		d[i] = 1
		if i%5 < 2 {
			d[i] = -1
		}
	}
	got, _ := stats.SignFlip(d, 3) // 60 to 40: exact sign test 0.0569
	near(t, "60 of 100", got, stats.McNemar(60, 40), .012)
}

func TestMannWhitney(t *testing.T) {
	for _, tc := range []struct {
		why  string
		a, b []float64
		p    float64
		ok   bool
	}{
		{"three and three, apart: .10 is the least", []float64{1, 2, 3}, []float64{4, 5, 6}, .10, false},
		{"four and four", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, .0286, true},
		{"five and five", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, .0079, true},
	} {
		p, ok := stats.MannWhitney(tc.a, tc.b, .05)
		near(t, tc.why, p, tc.p, .0001)
		near(t, tc.why+", the least", stats.LeastMannWhitney(len(tc.a), len(tc.b)), tc.p, .0001)
		if ok != tc.ok {
			t.Errorf("%s: a claim is %v", tc.why, ok)
		}
	}
	if _, ok := stats.MannWhitney(nil, []float64{1}, .05); ok {
		t.Error("a claim about nothing")
	}
}

func TestHolm(t *testing.T) {
	got := stats.Holm([]float64{.01, .04, .03, .005})
	if d := cmp.Diff([]float64{.03, .06, .06, .02}, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// An adjusted value is never smaller, at most 1, and the order stays.
func TestHolmKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 8).Draw(t, "p")
		adjusted := stats.Holm(p)
		for i := range p {
			if adjusted[i] < p[i] || adjusted[i] > 1 {
				t.Fatalf("%v became %v", p[i], adjusted[i])
			}
			for k := range p {
				if p[i] < p[k] && adjusted[i] > adjusted[k] {
					t.Fatalf("%v before %v, %v after %v", p[i], p[k], adjusted[i], adjusted[k])
				}
			}
		}
	})
}

func TestClustered(t *testing.T) {
	values := []float64{1, 0, 1, 1, 0, 1, 0, 0}
	each := []int{0, 1, 2, 3, 4, 5, 6, 7}
	mean, se, ok := stats.Clustered(values, each)
	near(t, "mean", mean, .5, 1e-12)
	near(t, "clusters of one: sqrt(s²/n)", se, math.Sqrt(stats.Variance(values)/8), 1e-12)
	if !ok {
		t.Error("not known")
	}
	// By hand: x−x̄ = ±½; four clusters of two with the sums 0, 1, 0, −1, so that Σ i≠j
	// is 0+1+0+1 less the squares, 8 times a quarter: 0.
	_, se, _ = stats.Clustered(values, []int{0, 0, 1, 1, 2, 2, 3, 3})
	near(t, "pairs of trials, half of which agree", se, math.Sqrt(2.0/7/8), 1e-12)
	if _, _, ok := stats.Clustered(values, make([]int, 8)); ok {
		t.Error("the error of one cluster is known")
	}
}

// A trial that only repeats another adds no certainty, whatever the formula
// without clusters says.
func TestCopiesAddNoCertainty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := rapid.SliceOfN(rapid.Float64Range(0, 1), 10, 30).Draw(t, "values")
		copies := rapid.IntRange(2, 6).Draw(t, "copies")
		var values []float64
		var of, ofOnce []int
		for i, v := range once {
			ofOnce = append(ofOnce, i)
			for range copies {
				values, of = append(values, v), append(of, i)
			}
		}
		_, before, _ := stats.Clustered(once, ofOnce)
		_, after, _ := stats.Clustered(values, of)
		if after < before*.94 || after > before*1.0001 { // n−1 is not n
			t.Fatalf("%v became %v", before, after)
		}
	})
}

// Approval of a prime minister, asked twice (Agresti, Categorical Data Analysis):
// 150 of 1,600 changed from yes to no and 86 the other way. −0.04, from −0.06 to
// −0.02.
func TestDifferenceOfApproval(t *testing.T) {
	d := make([]float64, 1600)
	for i := range 150 {
		d[i] = -1
	}
	for i := range 86 {
		d[150+i] = 1
	}
	in := stats.Difference(d, .95)
	near(t, "mean", stats.PairsOf(d).Mean, -.04, 1e-12)
	near(t, "SE", stats.PairsOf(d).SE, .0095, .0001)
	near(t, "low", in.Lo, -.0587, .0005)
	near(t, "high", in.Hi, -.0213, .0005)
	if p := stats.Below(d, 0); p > .0001 {
		t.Errorf("p = %v", p)
	}
}

func TestDifferenceOfLittle(t *testing.T) {
	for _, tc := range []struct {
		why string
		n   int
		max float64 // of the lower bound
	}{{"one says nothing", 1, -1}, {"two say nearly nothing", 2, -.9}, {"ten that agree", 10, -.15}} {
		if in := stats.Difference(make([]float64, tc.n), .95); in.Lo > tc.max {
			t.Errorf("%s: at least %v", tc.why, in.Lo)
		}
	}
	if in := stats.Difference(make([]float64, 20), .95); in.Lo < -.1 {
		t.Errorf("twenty that agree: at least %v", in.Lo)
	}
}

func TestMedian(t *testing.T) {
	// The ranks for n = 10 are the second and the ninth (Conover, Practical
	// Nonparametric Statistics).
	middle, in := stats.Median([]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, .95)
	if middle != 5.5 || in.Lo != 2 || in.Hi != 9 {
		t.Errorf("%v, %v", middle, in)
	}
	if _, in := stats.Median([]float64{1, 2, 3, 4, 5}, .95); !math.IsInf(in.Lo, -1) || !math.IsInf(in.Hi, 1) {
		t.Errorf("five are bounded: %v", in)
	}
	if _, in := stats.Median([]float64{1, 2, 3, 4, 5, 6}, .95); in.Lo != 1 || in.Hi != 6 {
		t.Errorf("six: %v", in)
	}
}

// With 20 values the interval goes from the sixth to the fifteenth (P(Binomial(20, ½) <
// 6) is 0.0207), so that it is above a limit with at least 15 values there: P(Binomial(20, 0.8) ≥ 15)
// is 0.8042 in the tables.
func TestPowerOfTheMedian(t *testing.T) {
	near(t, "20 values", stats.MedianPower(20, .8, .95), .804, .001)
	near(t, "5 values have no interval", stats.MedianPower(5, 1, .95), 0, 0)
	if n := stats.MedianPairs(0, 1, .95, .8); n != 6 {
		t.Errorf("values without spread: %d", n)
	}
	if n := stats.MedianPairs(1, 0, .95, .8); n != stats.MostPairs {
		t.Errorf("at the limit: %d", n)
	}
	if d := stats.MedianDetectable(1, 5, .95, .8); !math.IsInf(d, 1) {
		t.Errorf("5 values detect %v", d)
	}
	near(t, "20 values", stats.MedianDetectable(1, 20, .95, .8), .84, .01) // Φ(0.84) = 0.8
}

func TestPower(t *testing.T) {
	// Cohen: half a standard deviation, 5 %, 80 %: 31.4.
	if n := stats.PairsFor(1, .5, .95, .8); n != 32 {
		t.Errorf("%d pairs", n)
	}
	near(t, "the other way round", stats.Detectable(1, 32, .95, .8), .495, .001)
	if n := stats.PairsFor(1, 0, .95, .8); n != stats.MostPairs {
		t.Errorf("no difference: %d pairs", n)
	}
	if all, third := stats.PairsToDecide(1, 1, -.1, .95, .8), stats.PairsToDecide(.33, .27, -.1, .95, .8); all >= third || all < 4 {
		t.Errorf("%d and %d pairs", all, third)
	}
	if n := stats.PairsToDecide(-.1, .1, -.1, .95, .8); n != stats.MostPairs {
		t.Errorf("at the limit: %d pairs", n)
	}
}

// More data never hides a difference that less of it shows.
func TestMoreDataDetectsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(.01, 5).Draw(t, "sd")
		n := rapid.IntRange(2, 10_000).Draw(t, "n")
		delta := stats.Detectable(sd, n, .95, .8)
		if got := stats.PairsFor(sd, delta, .95, .8); got != n && got != n+1 {
			t.Fatalf("%v is detected by %d pairs, and needs %d", delta, n, got)
		}
	})
}

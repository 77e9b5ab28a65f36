package labels

import (
	"fmt"
	"math"

	"github.com/retake-harness/retake/harness/internal/stats"
)

// Verdict is what a smallest kappa that was asked for comes to.
type Verdict string

// The verdicts; "" where none was asked for.
const (
	Enough       Verdict = "enough"       // the whole interval reaches it
	TooLittle    Verdict = "too little"   // no part of the interval reaches it
	Inconclusive Verdict = "inconclusive" // it lies inside
)

// Pair is an item's label with what the judge said of it.
type Pair struct {
	Line  int    `json:"line"`
	Label string `json:"label"`
	Judge string `json:"judge"`         // "": it gave no allowed answer
	Said  string `json:"said,omitzero"` // then, what it said instead
}

// Share is a part of a whole, with its interval of 95 % by Wilson.
type Share struct {
	Of    int     `json:"of"`
	Count int     `json:"count"`
	Share float64 `json:"share"` // 0 of nothing
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Class has the figures of one answer.
type Class struct {
	Answer string `json:"answer"`
	// Found is how much of what people labelled so the judge calls so, too; Right is
	// how much of what the judge calls so people labelled so.
	Found Share `json:"found"`
	Right Share `json:"right"`
}

// Agreement is how far a judge agrees with the labels.
type Agreement struct {
	Schema   string   `json:"schema"`
	Question string   `json:"question"`
	Model    string   `json:"model"`
	N        int      `json:"n"`
	None     int      `json:"none"` // items that the judge gave no allowed answer to; they count as disagreement
	Answers  []string `json:"answers"`
	// Table counts items by label (rows) and the judge's answer (columns), both in
	// the order of Answers; a last column is for none.
	Table    [][]int  `json:"table"`
	Agree    Share    `json:"agreement"`
	Chance   float64  `json:"chance"` // the share of agreement that chance alone would give
	Kappa    *float64 `json:"kappa"`  // Cohen's; null where it is not defined
	SE       *float64 `json:"kappa_se"`
	Lo       float64  `json:"kappa_lo"` // of its interval of 95 %
	Hi       float64  `json:"kappa_hi"`
	Classes  []Class  `json:"classes"`
	Differ   []Pair   `json:"differ"` // the items on which they do not agree
	Warnings []string `json:"warnings,omitzero"`
	Min      *float64 `json:"min_kappa,omitzero"`
	Verdict  Verdict  `json:"verdict,omitzero"`
	Why      string   `json:"why,omitzero"`
	Tokens   int64    `json:"tokens"`
	Cost     *float64 `json:"cost_usd"` // null: not known
}

const (
	// Schema names the format of the figures.
	Schema = "retake.judge-check/1"

	confidence = 0.95
	// fewest items, and labels of one kind, with which the formula for large samples
	// says what it seems to.
	fewest, fewestOfOne = 50, 5
)

// Measure holds labels and answers against each other.
func Measure(answers []string, pairs []Pair) *Agreement {
	a := &Agreement{Schema: Schema, N: len(pairs), Answers: answers, Differ: []Pair{}}
	k := len(answers)
	a.Table = make([][]int, k)
	for i := range a.Table {
		a.Table[i] = make([]int, k+1)
	}
	for _, p := range pairs {
		row, column := place(answers, p.Label), place(answers, p.Judge)
		if column < 0 {
			column = k
			a.None++
		}
		a.Table[row][column]++
		if row != column {
			a.Differ = append(a.Differ, p)
		}
	}
	a.figures()
	a.doubt()
	return a
}

// figures are those of the table. That the judge gives no answer is one of its
// answers, which no person gives.
func (a *Agreement) figures() {
	square := make([][]int, 0, len(a.Table)+1)
	square = append(square, a.Table...)
	square = append(square, make([]int, len(a.Table)+1))
	kappa, ok := stats.KappaOf(square, confidence)
	a.Agree, a.Chance = share(kappa.Agree, a.N), kappa.Expected
	a.Lo, a.Hi = kappa.Interval.Lo, kappa.Interval.Hi
	if ok {
		a.Kappa, a.SE = &kappa.Kappa, &kappa.SE
	}
	for i, answer := range a.Answers {
		labelled, judged := 0, 0
		for j := range square {
			labelled += square[i][j]
			judged += square[j][i]
		}
		a.Classes = append(a.Classes, Class{answer, share(square[i][i], labelled), share(square[i][i], judged)})
	}
}

func share(count, of int) Share {
	s := Share{Of: of, Count: count}
	if of > 0 {
		s.Share = float64(count) / float64(of)
	}
	w := stats.Wilson(count, of, confidence)
	s.Lo, s.Hi = w.Lo, w.Hi
	return s
}

// doubt says where there is too little data for what the figures seem to say.
func (a *Agreement) doubt() {
	warn := func(format string, args ...any) { a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...)) }
	if a.N < fewest {
		warn("%d labelled items are few: below %d the interval is rough, and wide", a.N, fewest)
	}
	for _, c := range a.Classes {
		switch n := c.Found.Of; {
		case n == 0:
			warn("no item is labelled %q: whether the judge knows one when it sees it, nobody can tell", c.Answer)
		case n < fewestOfOne:
			warn("only %d labelled %q: label at least %d of each kind", n, c.Answer, fewestOfOne)
		}
	}
	if a.Kappa == nil {
		warn("kappa is not defined: labels and judge give one and the same answer throughout; label items of another kind")
	}
}

// Decide holds the interval of kappa against the smallest that is enough.
func (a *Agreement) Decide(smallest float64) {
	a.Min = &smallest
	switch {
	case a.Kappa == nil:
		a.Verdict, a.Why = Inconclusive, "kappa is not defined"
	case a.Lo >= smallest:
		a.Verdict, a.Why = Enough, fmt.Sprintf("kappa is at least %.2f, by 95 %%, and %.2f is enough", a.Lo, smallest)
	case a.Hi < smallest:
		a.Verdict, a.Why = TooLittle, fmt.Sprintf("kappa is at most %.2f, by 95 %%, and less than %.2f is too little", a.Hi, smallest)
	default:
		a.Verdict, a.Why = Inconclusive, fmt.Sprintf("%.2f lies inside the interval of kappa, %.2f to %.2f; %s", smallest, a.Lo, a.Hi, a.more(smallest))
	}
}

// more says how many items would decide, if they came out like these.
func (a *Agreement) more(smallest float64) string {
	const most = 100_000
	distance := *a.Kappa - smallest
	half := math.Max(a.Hi-*a.Kappa, *a.Kappa-a.Lo)
	times := half / distance
	n := math.Ceil(float64(a.N) * times * times)
	if distance == 0 || n > most {
		return "kappa lies so near to it that hardly any number of items would decide"
	}
	return fmt.Sprintf("about %.0f items like these would decide", math.Max(n, float64(a.N+1)))
}

// Package suggest finds what somebody probably meant by a misspelled name.
package suggest

import (
	"fmt"
	"strings"
)

// Hint is ` (did you mean "x"?)`, to be put behind a message about word, or ""
// when no candidate is near enough. Of equally near ones the first is taken.
func Hint(word string, candidates []string) string {
	if best := Nearest(word, candidates); best != "" {
		return fmt.Sprintf(" (did you mean %q?)", best)
	}
	return ""
}

// Nearest is the candidate nearest to word, or "". Letter case, and - for _,
// cost nothing; otherwise a third of the letters may be wrong.
func Nearest(word string, candidates []string) string {
	if word == "" || len(word) > maxWord {
		return ""
	}
	folded := fold(word)
	best, limit := "", len(folded)/3+1
	for _, c := range candidates {
		if c == "" || c == word || len(c) > maxWord {
			continue
		}
		f := fold(c)
		d := distance(folded, f)
		if d < limit && d < max(len(f), len(folded)) {
			best, limit = c, d
		}
		if d == 0 {
			break
		}
	}
	return best
}

// maxWord bounds the work; longer names are not typed by hand.
const maxWord = 100

func fold(s string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between a and b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

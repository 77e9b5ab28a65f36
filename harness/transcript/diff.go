package transcript

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// diffLines is how much of a difference is shown.
const diffLines = 60

// lineBytes is how much of a line is shown, and before is how much of that lies
// before the first difference.
const (
	lineBytes = 400
	before    = 120
)

// Diff shows how got differs from want, line by line, with - for what was
// wanted and + for what came; "" when they are equal. It is cut, visibly, after
// 60 lines. Long lines are shortened around their first difference.
func Diff(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	text := udiff.Unified("golden", "this run", string(want), string(got))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	all := len(lines)
	places := differences(lines)
	lines = lines[:min(all, diffLines)]
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(shorten(l, places[i]))
		b.WriteByte('\n')
	}
	if more := all - len(lines); more > 0 {
		fmt.Fprintf(&b, "… %d more lines\n", more)
	}
	return b.String()
}

// differences finds for each line where it begins to differ from the line that
// takes its place: removed lines are followed by those that came for them.
func differences(lines []string) []int {
	at := make([]int, len(lines))
	for i := 0; i < len(lines); {
		removed := runOf(lines[i:], '-')
		to := i + removed
		if to < len(lines) && strings.HasPrefix(lines[to], `\ `) {
			to++ // the remark that the last line has no end
		}
		added := runOf(lines[to:], '+')
		for k := range min(removed, added) {
			n := 1 + commonPrefix(lines[i+k][1:], lines[to+k][1:])
			at[i+k], at[to+k] = n, n
		}
		i = max(to+added, i+1)
	}
	return at
}

func runOf(lines []string, sign byte) int {
	n := 0
	for n < len(lines) && len(lines[n]) > 0 && lines[n][0] == sign {
		n++
	}
	return n
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// shorten keeps the sign and the place at of a long line.
func shorten(s string, at int) string {
	if len(s) <= lineBytes {
		return s
	}
	from := max(min(at-before, len(s)-lineBytes), 1)
	to := min(from+lineBytes, len(s))
	out := s[:1]
	if from > 1 {
		out += "… "
	}
	out += strings.ToValidUTF8(s[from:to], "")
	if to < len(s) {
		out += " …"
	}
	return out + fmt.Sprintf(" (%d bytes)", len(s)-1)
}

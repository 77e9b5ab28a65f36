package transcript

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// diffLines is how much of a difference is shown.
const diffLines = 60

// Diff shows how got differs from want, line by line, with - for what was
// wanted and + for what came; "" when they are equal. It is cut, visibly, after
// 60 lines. Long lines are shortened around their first difference.
func Diff(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	text := udiff.Unified("golden", "this run", string(want), string(got))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	more := 0
	if len(lines) > diffLines {
		more = len(lines) - diffLines
		lines = lines[:diffLines]
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(shorten(l, 400))
		b.WriteByte('\n')
	}
	if more > 0 {
		fmt.Fprintf(&b, "… %d more lines\n", more)
	}
	return b.String()
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf(" … (%d bytes)", len(s))
}

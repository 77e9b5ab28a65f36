package sweep

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/transcript"
)

// marks are how a cell is drawn.
var marks = map[State]string{Held: "+", Breached: "X", Diverged: "~", NotApplicable: ".", NotRun: "?", "": ""}

// Legend explains the marks.
const Legend = "+ held   X breached   ~ diverged: held until the model saw the fault   . does not apply   ? not run"

// AppendText appends the matrix for a terminal: a row a fault, a column a place.
// Nothing of it can harm a terminal.
func (r *Report) AppendText(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%s [%s]: %s\n\n", safe(r.Scenario), safe(r.Model), r.Totals)
	width := 0
	for _, row := range r.Rows {
		width = max(width, len(row.Fault))
	}
	dst = fmt.Appendf(dst, "  %-*s", width, "")
	for _, c := range r.Columns {
		dst = fmt.Appendf(dst, " %3s", c.Name)
	}
	dst = append(trimmed(dst), '\n')
	for _, row := range r.Rows {
		dst = fmt.Appendf(dst, "  %-*s", width, row.Fault)
		for _, c := range row.Cells {
			dst = fmt.Appendf(dst, " %3s", marks[c.State])
		}
		dst = append(trimmed(dst), '\n')
	}
	dst = fmt.Appendf(dst, "\n  %s\n", Legend)
	dst = appendWrapped(dst, r.places())
	return r.appendBreaches(r.appendPairs(dst))
}

// places are the columns in words.
func (r *Report) places() []string {
	var out []string
	models := 0
	for _, c := range r.Columns {
		switch c.Name[0] {
		case 'm':
			models++
		case 't':
			out = append(out, safe(c.Name+" "+c.Of))
		}
	}
	if models > 0 {
		out = append([]string{fmt.Sprintf("m1 to m%d model calls", models)}, out...)
	}
	return out
}

// appendWrapped appends a list, a new line where one gets long.
func appendWrapped(dst []byte, parts []string) []byte {
	const width = 110
	column := 0
	for i, part := range parts {
		switch {
		case i == 0:
			dst = append(dst, "  "...)
		case column+len(part) > width:
			dst = append(dst, ",\n  "...)
			column = 0
		default:
			dst = append(dst, ", "...)
		}
		dst = append(dst, part...)
		column += len(part) + 2
	}
	return append(dst, '\n')
}

func (r *Report) appendPairs(dst []byte) []byte {
	if p := r.Pairs; p != nil {
		dst = fmt.Appendf(dst, "\n  two faults: %s", p.Totals.made())
		if n := p.Totals.NotApplicable; n > 0 {
			dst = fmt.Appendf(dst, "; in %d pairs one keeps the other from striking", n)
		}
		dst = fmt.Appendf(dst, "; %d breach what neither breaches alone\n", len(p.New))
	}
	if r.LeftOut > 0 {
		dst = fmt.Appendf(dst, "\n  %d runs were left out: a part of the sweep was drawn by seed %d\n", r.LeftOut, r.Seed)
	}
	return dst
}

func (r *Report) appendBreaches(dst []byte) []byte {
	for _, f := range r.Found() {
		dst = append(dst, '\n')
		for _, b := range f.Breaches {
			dst = fmt.Appendf(dst, "  breached: %s (%s): %s\n", safe(b.Rule), safe(b.Part), safe(b.What))
		}
		dst = fmt.Appendf(dst, "    by %s: %s\n    repeat: %s\n", strings.Join(f.Faults, ", "), runs(f.Runs), safe(f.Command))
	}
	return dst
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// String sums up the runs of a matrix.
func (t Totals) String() string {
	if t.NotApplicable == 0 {
		return t.made()
	}
	return fmt.Sprintf("%s; places where a fault does not apply: %d", t.made(), t.NotApplicable)
}

// made sums up the runs that were made, or were to be.
func (t *Totals) made() string {
	s := fmt.Sprintf("%s: %d held, %d breached, %d diverged", runs(t.Runs), t.Held, t.Breached, t.Diverged)
	if t.NotRun > 0 {
		s += fmt.Sprintf(", %d not run", t.NotRun)
	}
	return s
}

func safe(text string) string { return transcript.Safe(text) }

func trimmed(dst []byte) []byte {
	for len(dst) > 0 && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// JSON is the report as a document, indented, with a line feed at its end.
func (r *Report) JSON() ([]byte, error) {
	b, err := json.Marshal(r, json.Deterministic(true), jsontext.WithIndent("  "))
	return append(b, '\n'), err
}

// JSONLine is the report as a document on one line.
func (r *Report) JSONLine() ([]byte, error) {
	b, err := json.Marshal(r, json.Deterministic(true))
	return append(b, '\n'), err
}

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
	for _, c := range r.Columns[:len(r.Columns)-1] {
		dst = fmt.Appendf(dst, "  %3s %s\n", c.Name, safe(c.Of))
	}
	return r.appendBreaches(r.appendPairs(dst))
}

func (r *Report) appendPairs(dst []byte) []byte {
	if p := r.Pairs; p != nil {
		dst = fmt.Appendf(dst, "\n  two faults: %s; %d breach what neither breaches alone\n", p.Totals, len(p.New))
	}
	if r.LeftOut > 0 {
		dst = fmt.Appendf(dst, "\n  %d runs were left out: a part of the sweep was drawn by seed %d\n", r.LeftOut, r.Seed)
	}
	return dst
}

func (r *Report) appendBreaches(dst []byte) []byte {
	for _, g := range r.grouped() {
		first := g[0]
		dst = fmt.Appendf(dst, "\n  breached: %s", safe(first.Spec))
		if n := len(g) - 1; n > 0 {
			dst = fmt.Appendf(dst, ", and %d more in the same way", n)
		}
		dst = append(dst, '\n')
		for _, b := range first.Breaches {
			dst = fmt.Appendf(dst, "    %-3s %s (%s)\n", safe(b.Rule), safe(b.What), safe(b.Part))
		}
		dst = fmt.Appendf(dst, "    repeat: %s\n", safe(first.Command))
	}
	return dst
}

// grouped puts breaches of one fault that break the same rules for the same part
// together, the one with the shortest command first.
func (r *Report) grouped() [][]Outcome {
	var out [][]Outcome
	at := map[string]int{}
	for _, o := range r.Breached() {
		name, _, _ := strings.Cut(o.Spec, "@")
		key := name
		for _, b := range o.Breaches {
			key += " " + b.Rule + b.Part
		}
		n, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, []Outcome{o})
			continue
		}
		out[n] = append(out[n], o)
		if last := len(out[n]) - 1; len(out[n][last].Command) < len(out[n][0].Command) {
			out[n][0], out[n][last] = out[n][last], out[n][0]
		}
	}
	return out
}

// String sums the runs up.
func (t Totals) String() string {
	s := fmt.Sprintf("%d runs: %d held, %d breached, %d diverged", t.Runs, t.Held, t.Breached, t.Diverged)
	if t.NotRun > 0 {
		s += fmt.Sprintf(", %d not run", t.NotRun)
	}
	return s + fmt.Sprintf("; %d do not apply", t.NotApplicable)
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

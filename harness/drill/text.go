package drill

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/transcript"
)

// marks are how a state is drawn.
var marks = map[State]string{Held: "+", Breached: "X", Warning: "!", NotApplicable: ".", NotRun: "?"}

// Legend explains the marks.
const Legend = "+ held   X breached   ! a declared hazard   . does not apply   ? not run"

// AppendText appends the report for a terminal. Nothing of it can harm one.
func (r *Report) AppendText(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%s (tool %s): %s\n\n", safe(r.Drill), safe(r.Tool), &r.Totals)
	width := 0
	for i := range r.Rows {
		width = max(width, len(r.Rows[i].Name()))
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		dst = fmt.Appendf(dst, "  %s %-*s  %s", marks[row.State], width, row.Name(), row.Title)
		if row.State == NotApplicable {
			dst = fmt.Appendf(dst, ": %s", safe(row.What))
		}
		dst = append(dst, '\n')
	}
	dst = fmt.Appendf(dst, "\n  %s\n", Legend)
	for i := range r.Rows {
		if s := r.Rows[i].State; s == Breached || s == Warning {
			dst = r.Rows[i].AppendText(append(dst, '\n'))
		}
	}
	return dst
}

// AppendText appends what a breach or a warning is about, with its steps.
func (r *Row) AppendText(dst []byte) []byte {
	dst = fmt.Appendf(dst, "  %s: %s: %s\n    why: %s\n    do: %s\n", r.State, r.Name(), safe(r.What), safe(r.Why), safe(r.Do))
	for i := range r.Steps {
		dst = fmt.Appendf(dst, "    %2d. %s\n", i+1, safe(r.Steps[i].String()))
	}
	for _, n := range r.Notes {
		dst = fmt.Appendf(dst, "    note: %s\n", safe(n))
	}
	return dst
}

// String is a step on one line.
func (s *Step) String() string {
	text := s.Do
	if s.By != "" {
		text += " (by " + s.By + ")"
	}
	if s.Answer != "" {
		text += " → " + s.Answer
	}
	switch {
	case s.Before != nil && s.After != nil:
		text += fmt.Sprintf("; effects %d → %d", *s.Before, *s.After)
	case s.Before != nil:
		text += fmt.Sprintf("; effects %d before", *s.Before)
	}
	return text
}

// String sums up the rows.
func (t *Totals) String() string {
	s := fmt.Sprintf("%d held, %d breached, %d warnings, %d not applicable", t.Held, t.Breached, t.Warnings, t.NotApplicable)
	if t.NotRun > 0 {
		s += fmt.Sprintf(", %d not run", t.NotRun)
	}
	return s
}

func safe(text string) string { return transcript.Safe(text) }

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

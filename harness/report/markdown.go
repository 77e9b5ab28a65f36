package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/transcript"
)

// mostRows is how many scenarios the Markdown table shows; the others are in
// report.json.
const mostRows = 500

// markdown draws the report for people: the verdict first, then what failed and
// why, then the table.
func (w *Writer) markdown(t Totals) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# retake: %s\n\n%s\n", headline(t), Summary(t))
	for i := range w.rows {
		if r := &w.rows[i]; r.verdict != string(harness.Pass) && len(r.reasons) > 0 {
			r.failureSection(&b)
		}
	}
	w.table(&b)
	w.classes(&b, t)
	return []byte(b.String())
}

func headline(t Totals) string {
	if t.Verdicts[string(harness.Pass)] == t.Scenarios {
		return fmt.Sprintf("all %d passed", t.Scenarios)
	}
	return fmt.Sprintf("%d of %d passed", t.Verdicts[string(harness.Pass)], t.Scenarios)
}

// Summary is one line with the figures of a run.
func Summary(t Totals) string {
	parts := []string{
		Count(t.Figures.ModelAttempts, "model call"),
		Count(t.Figures.ToolCalls, "tool call"),
		Count(t.Figures.Tokens.Total, "token"),
		Dollars(t.Figures.Cost),
		"latency " + Duration(t.Figures.Latency),
	}
	if t.Unpriced > 0 {
		parts[3] += fmt.Sprintf(" (%d without a price)", t.Unpriced)
	}
	return strings.Join(parts, ", ")
}

// Count spells a number of things: 1 model call, 2 model calls.
func Count[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Dollars spells a cost; "no price" for nil.
func Dollars(cost *float64) string {
	if cost == nil {
		return "no price"
	}
	return fmt.Sprintf("$%.4f", *cost)
}

// Duration spells microseconds.
func Duration(us int64) string {
	d := time.Duration(us) * time.Microsecond
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(10 * time.Microsecond).String()
	}
}

func (r *row) failureSection(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s: %s, %s\n", strings.ToUpper(r.verdict), cell(Title(r.name, r.fault)), cell(r.model))
	for _, reason := range r.reasons {
		var text strings.Builder
		writeReason(&text, reason, r.owner)
		fence := fenceFor(text.String())
		fmt.Fprintf(b, "\n%stext\n%s%s\n", fence, text.String(), fence)
	}
}

// fenceFor is a code fence that the text cannot close.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func (w *Writer) table(b *strings.Builder) {
	b.WriteString("\n| verdict | scenario | model | iterations | model calls | tool calls | tokens | cost | latency |\n")
	b.WriteString("|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	for i := range w.rows[:min(len(w.rows), mostRows)] {
		r := &w.rows[i]
		f := &r.figures
		fmt.Fprintf(b, "| %s | %s | %s | %d | %d | %d | %d | %s | %s |\n", r.verdict, cell(Title(r.name, r.fault)), cell(r.model),
			f.Iterations, f.ModelAttempts, f.ToolCalls, f.Tokens.Total, Dollars(f.Cost), Duration(f.Latency))
	}
	if more := len(w.rows) - mostRows; more > 0 {
		fmt.Fprintf(b, "\n%s more in report.json.\n", Count(more, "scenario"))
	}
}

func (w *Writer) classes(b *strings.Builder, t Totals) {
	if len(t.ErrorClass) == 0 {
		return
	}
	b.WriteString("\n| error class | count |\n|---|--:|\n")
	names := make([]string, 0, len(t.ErrorClass))
	for c := range t.ErrorClass {
		names = append(names, c)
	}
	slices.Sort(names)
	for _, c := range names {
		fmt.Fprintf(b, "| %s | %d |\n", cell(c), t.ErrorClass[c])
	}
}

var markup = strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "[", `\[`, "*", `\*`, "_", `\_`)

// cell makes text harmless in a Markdown table.
func cell(text string) string { return markup.Replace(transcript.Safe(text)) }

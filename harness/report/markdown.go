package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/transcript"
)

// The most bytes of report.md, so that it fits into a comment on GitHub (65,536
// characters), and of its parts. What is left out is counted.
const (
	mostMarkdown = 59_000
	mostFailures = 30_000
	mostReason   = 3_000
	mostModels   = 20
	mostName     = 200
)

// markdown draws the report for people: the verdict first, then what failed and
// why, then the tables. It keeps no more than it will show.
type markdown struct {
	secrets  *redact.Values
	failures strings.Builder
	unshown  int // failures without room
	rows     []string
	size     int // of the rows
	entries  int
}

func newMarkdown(secrets *redact.Values) *markdown { return &markdown{secrets: secrets} }

func (m *markdown) add(e *Entry) {
	m.entries++
	s := show(e, m.secrets)
	if e.Verdict != string(harness.Pass) && len(s.reasons) > 0 {
		m.failed(s)
	}
	if m.size < mostMarkdown {
		row := rowOf(s)
		m.rows = append(m.rows, row)
		m.size += len(row)
	}
}

// failed adds a section with what did not hold.
func (m *markdown) failed(s *shown) {
	if m.unshown > 0 {
		m.unshown++ // no smaller one after it: the order is the report's
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s: %s, %s\n", strings.ToUpper(s.Verdict), code(s.title()), code(s.model))
	for i, reason := range s.reasons {
		if b.Len() > 2*mostReason {
			fmt.Fprintf(&b, "\n%s more in report.json.\n", Count(len(s.reasons)-i, "reason"))
			break
		}
		var text strings.Builder
		writeReason(&text, reason, s.owner)
		short := cutLines(text.String(), mostReason)
		fence := fenceFor(short)
		fmt.Fprintf(&b, "\n%stext\n%s%s\n", fence, short, fence)
	}
	if m.failures.Len()+b.Len() > mostFailures {
		m.unshown++
		return
	}
	m.failures.WriteString(b.String())
}

// text is the whole report.
func (m *markdown) text(t *Totals) []byte {
	var b, tail strings.Builder
	fmt.Fprintf(&b, "# retake: %s\n\n%s\n", headline(*t), Summary(*t))
	b.WriteString(m.failures.String())
	if m.unshown > 0 {
		fmt.Fprintf(&b, "\n%s more did not pass; they are in report.json.\n", Count(m.unshown, "run"))
	}
	modelTable(&tail, t.Models)
	counts(&tail, "error class", t.ErrorClass)
	counts(&tail, "stop reason", t.Stops)
	m.table(&b, mostMarkdown-b.Len()-tail.Len())
	b.WriteString(tail.String())
	return []byte(b.String())
}

const tableHead = "\n| verdict | scenario | model | iterations | model calls | tool calls | tokens | cost | latency |\n" +
	"|---|---|---|--:|--:|--:|--:|--:|--:|\n"

// table shows as many rows as there is room for.
func (m *markdown) table(b *strings.Builder, room int) {
	const forTheRest = 100
	b.WriteString(tableHead)
	room -= len(tableHead) + forTheRest
	n := 0
	for ; n < len(m.rows) && len(m.rows[n]) <= room; n++ {
		room -= len(m.rows[n])
		b.WriteString(m.rows[n])
	}
	if more := m.entries - n; more > 0 {
		fmt.Fprintf(b, "\n%s more in report.json.\n", Count(more, "run"))
	}
}

func rowOf(s *shown) string {
	f := &s.Figures
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %s | %s |\n", s.Verdict, code(s.title()), code(s.model),
		f.Iterations, f.ModelAttempts, f.ToolCalls, f.Tokens.Total, Dollars(f.Cost), Duration(f.Latency))
}

// modelTable compares the models of a run that had several.
func modelTable(b *strings.Builder, models []ModelTotals) {
	if len(models) < 2 {
		return
	}
	b.WriteString("\n| model | passed | runs | tokens | cost | model call p50 | p90 | p99 |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for i := range models[:min(len(models), mostModels)] {
		m := &models[i]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %s | %s | %s | %s |\n", code(m.Model), m.Verdicts[string(harness.Pass)], m.Scenarios,
			m.Figures.Tokens.Total, Dollars(m.Figures.Cost), orNone(m.ModelTimes.P50), orNone(m.ModelTimes.P90), orNone(m.ModelTimes.P99))
	}
	if more := len(models) - mostModels; more > 0 {
		fmt.Fprintf(b, "\n%s more in report.json.\n", Count(more, "model"))
	}
}

func orNone(us *int64) string {
	if us == nil {
		return "none"
	}
	return Duration(*us)
}

func counts(b *strings.Builder, what string, in map[string]int) {
	if len(in) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | count |\n|---|--:|\n", what)
	for _, word := range slices.Sorted(maps.Keys(in)) {
		fmt.Fprintf(b, "| %s | %d |\n", cut(strings.ReplaceAll(transcript.Safe(word), "|", "¦"), mostName), in[word])
	}
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
	if c := t.Figures.ToolCost; c != nil && *c > 0 {
		parts[3] += " and " + Dollars(c) + " for tools"
		if t.UnpricedTools > 0 {
			parts[3] += fmt.Sprintf(" (%d without a price)", t.UnpricedTools)
		}
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

// fenceFor is a code fence that the text cannot close.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// In a span of code nothing is markup, a mention or a link; but in a table a bar
// ends it all the same.
var inCode = strings.NewReplacer("`", "'", "|", "¦")

// code shows text as it is, wherever it stands.
func code(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(none)"
	}
	return "`" + inCode.Replace(transcript.Safe(cut(text, mostName))) + "`"
}

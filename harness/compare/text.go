package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/transcript"
)

// AppendText appends the comparison for a terminal: nothing in it can harm one.
func (c *Comparison) AppendText(dst []byte) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.ToUpper(string(c.Verdict)))
	for _, r := range c.Reasons {
		bullet(&b, "  ", r)
	}
	for _, w := range c.Warnings {
		bullet(&b, "warning: ", w)
	}
	fmt.Fprintf(&b, "\nold  %s\nnew  %s\n", c.Old.line(), c.New.line())
	fmt.Fprintf(&b, "\n%s\n", c.Data.line())
	c.changedText(&b)
	c.answersText(&b)
	c.scenariosText(&b)
	c.figuresText(&b)
	return append(dst, b.String()...)
}

// mostLine is how much of a text is shown on a terminal.
const mostLine = 600

func bullet(b *strings.Builder, sign, text string) {
	b.WriteString(sign)
	b.WriteString(transcript.Safe(cut(text, mostLine)))
	b.WriteByte('\n')
}

func (s *Subject) line() string {
	text := fmt.Sprintf("%s (%s): %d of %s passed", transcript.Safe(cut(s.Report, 200)), transcript.Safe(cut(strings.Join(s.Models, ", "), 200)), s.Passed, number(s.Runs, "run"))
	if s.Excluded > 0 {
		text += fmt.Sprintf(", %d could not be judged", s.Excluded)
	}
	if s.Rate != nil {
		text += fmt.Sprintf("; pass rate %s", short(*s.Rate))
		if s.SE != nil {
			text += fmt.Sprintf(" ± %s (standard error, by scenario)", short(*s.SE))
		}
	}
	var passK strings.Builder
	for i := 1; i < len(s.PassK); i++ {
		fmt.Fprintf(&passK, ", pass^%d %s", i+1, short(s.PassK[i]))
	}
	return text + passK.String()
}

// line says what the figures rest on.
func (d *Data) line() string {
	text := fmt.Sprintf("%s on both sides: ", number(d.Pairs, "scenario"))
	switch {
	case d.Sampled == 0 && d.Exact == 0:
		text += "none can be judged on both sides"
	case d.Sampled == 0:
		text += "exact, the same recordings are replayed; no statistics"
	case d.Exact == 0:
		text += fmt.Sprintf("sampled, each recording or live run is one trial; statistics over %s", number(d.Clusters, "scenario"))
	default:
		text += fmt.Sprintf("%d exact (the same recordings), %d sampled; statistics over %s", d.Exact, d.Sampled, number(d.Clusters, "scenario"))
	}
	if d.Sampled > 0 {
		text += fmt.Sprintf(" (confidence %s, power %s, seed %d)", percent(d.Confidence), percent(d.Power), d.Seed)
	}
	return text
}

func (c *Comparison) changedText(b *strings.Builder) {
	b.WriteString("\nwhat changed\n")
	if len(c.Changed) == 0 {
		b.WriteString("  nothing\n")
	}
	for _, ch := range c.Changed {
		bullet(b, "  ", ch.line())
	}
}

func (ch *Change) line() string {
	if len(ch.Scenarios) > 0 {
		return fmt.Sprintf("%-9s of %s: %s", ch.What, number(len(ch.Scenarios), "scenario"), listed(ch.Scenarios))
	}
	return fmt.Sprintf("%-9s %s → %s", ch.What, orNone(ch.Old), orNone(ch.New))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return cut(s, 200)
}

func (c *Comparison) answersText(b *strings.Builder) {
	fmt.Fprintf(b, "\nquestions (%s, %.12s)\n", transcript.Safe(cut(c.Rubric.Name, 200)), c.Rubric.Hash)
	for i := range c.Answers {
		a := &c.Answers[i]
		bullet(b, fmt.Sprintf("  %-8s  %-14s  ", a.mark(), a.ID), a.Text)
	}
}

// mark is the state, with what a breach means.
func (a *Answer) mark() string {
	if a.State == Breached {
		return strings.ToUpper(string(a.Breach)[:min(len(a.Breach), 8)])
	}
	return string(a.State)
}

func (c *Comparison) scenariosText(b *strings.Builder) {
	if len(c.Scenario) == 0 {
		return
	}
	b.WriteString("\nscenarios that changed\n")
	for i := range c.Scenario[:min(len(c.Scenario), mostTranscripts)] {
		s := &c.Scenario[i]
		bullet(b, "  ", s.Title+s.kind())
		for _, w := range s.What {
			bullet(b, "    ", w)
		}
		if s.SideBySide != nil {
			s.SideBySide.write(b, "    ")
		}
	}
	if more := len(c.Scenario) + c.More - mostTranscripts; more > 0 {
		fmt.Fprintf(b, "  and %s more\n", number(more, "scenario"))
	}
}

func (s *Scenario) kind() string {
	if s.Exact {
		return " (the same recordings)"
	}
	return ""
}

// write puts the two sides into columns.
func (s *SideBySide) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%-6s%s│ new\n", indent, "line", padded("old"))
	for i := range max(len(s.Old), len(s.New)) {
		sign := " "
		if s.Line+i > s.Same {
			sign = ">"
		}
		old, now := at(s.Old, i), at(s.New, i)
		fmt.Fprintf(b, "%s%4d%s %s│ %s\n", indent, s.Line+i, sign, padded(old), now)
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return transcript.Safe(lines[i])
}

func padded(s string) string {
	return s + strings.Repeat(" ", max(lineWidth+1-utf8.RuneCountInString(s), 0))
}

func (c *Comparison) figuresText(b *strings.Builder) {
	b.WriteString("\nfigures of all runs\n")
	fmt.Fprintf(b, "  %-14s %24s %24s %8s\n", "", "old", "new", "ratio")
	for f := range c.Figures {
		fig := &c.Figures[f]
		row := fmt.Sprintf("  %-14s %24s %24s %8s", fig.Name, fig.side(figure(f), fig.Old, fig.OldUnknown), fig.side(figure(f), fig.New, fig.NewUnknown), fig.ratio())
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	for _, class := range c.Classes {
		fmt.Fprintf(b, "  %-14s %24d %24d\n", transcript.Safe(cut(class.Class, 60)), class.Old, class.New)
	}
}

func (f *Figure) side(of figure, v *float64, unknown int) string {
	if v == nil {
		return "not known"
	}
	text := amount(of, *v)
	if unknown > 0 {
		text += fmt.Sprintf(" (%d unknown)", unknown)
	}
	return text
}

func (f *Figure) ratio() string {
	if f.Old == nil || f.New == nil || *f.Old == 0 {
		return ""
	}
	return times(*f.New / *f.Old)
}

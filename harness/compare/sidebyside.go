package compare

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// How much of the transcripts is shown: lines before the first difference, lines
// from there on, and characters of a line.
const (
	linesBefore = 2
	linesAfter  = 8
	lineWidth   = 60
)

// transcripts puts the transcripts of the gravest scenarios side by side. One that
// cannot be read is a warning: the verdict does not rest on it.
func (c *Comparison) transcripts(a, b *side, p *pairs) {
	shown := p.differing()
	for i := range c.Scenario[:min(len(c.Scenario), mostTranscripts)] {
		one := shown[i].pair
		old, err := one.transcript(a, one.old, false)
		if err == nil {
			var now string
			if now, err = one.transcript(b, one.now, true); err == nil {
				c.Scenario[i].SideBySide = sideBySide(old, now)
			}
		}
		if err != nil {
			c.Warnings = append(c.Warnings, err.Error())
		}
	}
}

// transcript is that of one run: of the new side the first that failed, of the old
// side the first that passed, where there is one.
func (p *pair) transcript(s *side, runs []run, failed bool) (string, error) {
	chosen := &runs[0]
	for i := range runs {
		if runs[i].pass != failed && !runs[i].excluded {
			chosen = &runs[i]
			break
		}
	}
	model := p.model
	if model == "" {
		model = s.asked.Model
	}
	return report.TranscriptOf(s.dir, report.Entry{Name: p.name, Model: model, Fault: p.fault, Trial: chosen.trial, Transcript: chosen.place})
}

// sideBySide is nil for equal transcripts.
func sideBySide(old, now string) *SideBySide {
	a, b := lines(old), lines(now)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same == len(a) && same == len(b) {
		return nil
	}
	from := max(same-linesBefore, 0)
	s := &SideBySide{Line: from + 1, Same: same}
	for i := from; i < same+linesAfter; i++ {
		at := 0
		if i < len(a) && i < len(b) {
			at = prefix(a[i], b[i])
		}
		if i < len(a) {
			s.Old = append(s.Old, window(a[i], at))
		}
		if i < len(b) {
			s.New = append(s.New, window(b[i], at))
		}
	}
	return s
}

func lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func prefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return 0
	}
	return n
}

// window is a piece of a line around the byte at, harmless, and no wider than a
// side.
func window(line string, at int) string {
	before := ""
	if from := at - lineWidth/2; len(line) > lineWidth && from > 0 {
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
		line, before = line[from:], "…"
	}
	cut := line
	if len(cut) > 4*lineWidth {
		cut = cut[:4*lineWidth]
	}
	runes := []rune(before + transcript.Safe(strings.ToValidUTF8(cut, "�")))
	if len(runes) > lineWidth {
		return string(runes[:lineWidth-1]) + "…"
	}
	return string(runes)
}

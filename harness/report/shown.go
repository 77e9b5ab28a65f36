package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/redact"
)

// shown is what the views for people and other programs need of an entry: without
// secrets, since what they do to the text could hide one from those who look for
// it afterwards. The texts are copies: those of an entry may be pieces of a
// scenario's whole text.
type shown struct {
	*Entry
	name, model, fault, owner string
	reasons                   []Reason
}

func show(e *Entry, secrets *redact.Values) *shown {
	text := func(s string) string { return string([]rune(secrets.Text(s))) } // valid UTF-8, as report.json has it
	s := &shown{Entry: e, name: text(e.Name), model: text(e.Model), fault: text(e.Fault), owner: text(e.Owner)}
	for _, r := range e.Reasons {
		r.What, r.Where, r.Diff, r.Why, r.Next = text(r.What), text(r.Where), text(r.Diff), text(r.Why), text(r.Next)
		s.reasons = append(s.reasons, r)
	}
	return s
}

// title is the entry's.
func (s *shown) title() string {
	return (&Entry{Name: s.name, Fault: s.fault, Trial: s.Trial}).Title()
}

// cut shortens a text to about most bytes, and says by how much.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	at := most
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return fmt.Sprintf("%s… (%s more)", text[:at], Count(len(text)-at, "byte"))
}

// cutLines shortens a text of lines to about most bytes, whole lines where it can.
func cutLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	short := cut(text, most)
	if at := strings.LastIndexByte(short[:most], '\n'); at > most/2 {
		return fmt.Sprintf("%s… (%s more)\n", text[:at+1], Count(len(text)-at-1, "byte"))
	}
	return short + "\n"
}

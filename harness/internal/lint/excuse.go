package lint

import (
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

var (
	excuseReason = Rule{
		"lint/no-reason", Error, "a suppression without a reason, or of a rule that there is not",
		"nobody will dare to take it away again",
		"write behind it why the finding is accepted", "house",
	}
	excuseIdle = Rule{
		"lint/suppresses-nothing", Warning, "a suppression to which nothing is left",
		"the next finding that it fits is hidden without anybody having looked at it",
		"drop it", "house",
	}
)

func lintRules() []Rule { return []Rule{excuseReason, excuseIdle} }

// Suppression is a finding that the project accepts.
type Suppression struct {
	Rule   string   // its id; * stands for anything
	On     []string // what it is accepted for, as Finding.On; * stands for anything, none is anything
	Reason string
	Place  Place
	// Line restricts it to findings at this line of the place's file; 0 is anywhere.
	Line int
	// Asked is false where what it is for was not looked at, so that it may well
	// suppress nothing.
	Asked bool
}

func (s *Suppression) fits(f *Finding) bool {
	if strings.HasPrefix(f.Rule, "lint/") || f.Rule == unreadable.ID || f.Rule == secretWritten.ID || !Like(s.Rule, f.Rule) {
		return false
	}
	if s.Line > 0 {
		return f.Place.File == s.Place.File && f.Place.Line == s.Line
	}
	return len(s.On) == 0 || slices.ContainsFunc(s.On, func(on string) bool { return named(on, f.On) })
}

// named tells whether a pattern fits a name, or what of it is behind a slash: a
// tool is found by its own name, too.
func named(pattern, on string) bool {
	for !Like(pattern, on) {
		_, rest, ok := strings.Cut(on, "/")
		if !ok {
			return false
		}
		on = rest
	}
	return true
}

// Excuse marks the findings that are accepted, and adds what is wrong with the
// suppressions themselves.
func Excuse(found []Finding, suppressions []Suppression) []Finding {
	used := make([]bool, len(suppressions))
	for i := range found {
		for k := range suppressions {
			if s := &suppressions[k]; s.fits(&found[i]) {
				used[k] = true
				found[i].Excuse, found[i].InSource = s.Reason, s.Line > 0
			}
		}
	}
	ids := IDs()
	for k := range suppressions {
		s := &suppressions[k]
		switch {
		case s.Reason == "":
			found = append(found, excuseReason.finding(s.Place, s.Rule, "the suppression of %q has no reason", s.Rule))
		case !known(s.Rule, ids):
			found = append(found, excuseReason.finding(s.Place, s.Rule, "there is no rule %q%s", s.Rule, suggest.Hint(s.Rule, ids)))
		case !used[k] && s.Asked:
			found = append(found, excuseIdle.finding(s.Place, s.Rule, "%q suppresses nothing", s.Rule))
		}
	}
	return Sort(found)
}

func known(pattern string, ids []string) bool {
	for _, id := range ids {
		if Like(pattern, id) {
			return true
		}
	}
	return false
}

// Like tells whether a text fits a pattern, in which * stands for anything.
func Like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return len(rest) >= len(last) && strings.HasSuffix(rest, last)
}

// Package lint finds what is wrong with a project before anything runs: in its
// scenarios and tools, in the tools and widgets of its MCP servers, and, where it
// is asked to try, in how a server answers.
//
// A rule has an id that stays (tool/hints-explicit), a severity and a reason. A
// finding is one place where a rule does not hold. What a rule cannot decide it
// does not guess at: words that may mean anything are left alone, and what only a
// call can show is left to the probes.
//
// The way of the data: what is there is read (Project, Set), each group of rules
// looks at one kind of it, what the project excuses with a reason is marked, and
// the rest is for the caller to print.
package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/scenario"
)

// Severity says whether a finding fails.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Rule is what is looked for, and why.
type Rule struct {
	ID       string // group/name
	Severity Severity
	Finds    string // what it finds
	Why      string // what goes wrong in real life
	Mend     string // what to do
	Source   string // the point of the requirements that asks for it
}

// Place is where a finding is: in a file, or inside of what a server says, or both
// where the file declares the server.
type Place struct {
	File         string // "" for what no file says
	Line, Column int
	In           string // server "shop", tool "order", /inputSchema
}

// At is the place in a file.
func At(p scenario.Place) Place { return Place{File: p.File, Line: p.Line, Column: p.Column} }

func (p Place) String() string {
	switch {
	case p.File == "":
		return p.In
	case p.In == "":
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.In)
}

// within is the place with more said of where in it.
func (p Place) within(in string) Place {
	switch {
	case in == "":
	case p.In == "":
		p.In = in
	default:
		p.In += ", " + in
	}
	return p
}

// Finding is one place where a rule does not hold.
type Finding struct {
	Rule     string
	Severity Severity
	Place    Place
	// On is what suppressions name: shop/order for a tool or a widget of a server,
	// travel/get_weather for a tool in a folder of scenarios, a scenario's name.
	On      string
	Tool    string // of a server; "" for all else
	Message string
	Mend    string
	// Excuse is why the project accepts it; "" where it does not. InSource tells
	// that a comment at its place says so.
	Excuse   string
	InSource bool
}

// Counts are how many findings there are that nobody has excused.
func Counts(fs []Finding) (errors, warnings, excused int) {
	for i := range fs {
		switch {
		case fs[i].Excuse != "":
			excused++
		case fs[i].Severity == Error:
			errors++
		default:
			warnings++
		}
	}
	return errors, warnings, excused
}

// Rules are all rules, by group and in the order in which they are told.
func Rules() []Rule {
	return slices.Concat(scenarioRules(), secretRules(), toolRuleList(), widgetRuleList(), renderRules(), probeRules(), lintRules())
}

// Explain finds a rule by its id.
func Explain(id string) (Rule, bool) {
	all := Rules()
	i := slices.IndexFunc(all, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return all[i], true
}

// IDs are the ids of all rules.
func IDs() []string {
	all := Rules()
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return ids
}

// finding makes a finding of a rule.
func (r *Rule) finding(at Place, on, format string, args ...any) Finding {
	return Finding{Rule: r.ID, Severity: r.Severity, Place: at, On: on, Message: fmt.Sprintf(format, args...), Mend: r.Mend}
}

// Sort orders findings by their places, and leaves out what is told twice (a file
// that two scenarios share).
func Sort(fs []Finding) []Finding {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column),
			strings.Compare(a.Place.In, b.Place.In), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(fs, func(a, b Finding) bool {
		return a.Place == b.Place && a.Rule == b.Rule && a.Message == b.Message
	})
}

package lint

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/scenario"
)

var (
	unreadable = Rule{
		"scenario/unreadable", Error, "a scenario, or a file of tools or of drills, that cannot be read",
		"what cannot be read is not run, and checks nothing",
		"mend what the message says", "L9",
	}
	goldenMissing = Rule{
		"scenario/golden-missing", Error, "a scenario whose golden transcript was never accepted",
		"nobody has looked at what a right run does, so no later run can be held against it",
		"run it, read the transcript, and accept it: retake run SCENARIO --accept", "L10",
	}
	goldenOff = Rule{
		"scenario/no-golden", Warning, "a scenario that says golden: false",
		"a change of what the agent does goes unseen as long as the expectations hold",
		"drop golden: false", "L10",
	}
	noFailure = Rule{
		"scenario/no-failure-case", Warning, "a scenario without a failure case: no entry under faults, no other outcome than completed, and no scenario in its folder that has one",
		"the path that is tested is the one that works anyway",
		"add an entry under faults (retake faults lists them; retake sweep SCENARIO tries all)", "L10",
	}
	noRollback = Rule{
		"scenario/no-rollback", Warning, "a scenario that does not say how to go back",
		"when it fails after a release, whoever is called has to find that out first",
		"write it under rollback", "L10",
	}
	doubtful = Rule{
		"scenario/doubt", Warning, "what the reader of scenarios warns about",
		"something is written that does less than it seems to",
		"mend what the message says", "L9",
	}
)

func scenarioRules() []Rule {
	return []Rule{unreadable, goldenMissing, goldenOff, noFailure, noRollback, doubtful}
}

// Project is what is written: scenarios, tools, and what goes with them.
type Project struct {
	Scenarios string   // the folder
	Names     []string // the scenarios to look at
	Options   scenario.Options
	// Golden is the path of a golden transcript; id is "" for the run without faults.
	Golden func(name, model, id string) string
}

// Lint reads the scenarios with the tools that they declare, and holds them
// against the rules. loaded are those that could be read.
func (p *Project) Lint() (found []Finding, loaded []*scenario.Scenario) {
	if p.Options.Cache == nil {
		p.Options.Cache = &scenario.Cache{}
	}
	for _, name := range p.Names {
		s, err := scenario.Load(p.Scenarios, name, p.Options)
		if err != nil {
			found = append(found, Unreadable(err, name)...)
			continue
		}
		loaded = append(loaded, s)
	}
	for _, s := range loaded {
		found = append(found, p.lint(s, loaded)...)
		found = append(found, InFile(s.Name, s.File, s.Declared()).Lint()...)
	}
	return Sort(append(found, p.shared()...)), loaded
}

// Unreadable are the findings of an error of the reader: one for each place.
func Unreadable(err error, on string) []Finding {
	problems, ok := errors.AsType[scenario.Problems](err)
	if !ok {
		return []Finding{unreadable.finding(Place{}, on, "%s", err)}
	}
	out := make([]Finding, len(problems))
	for i, q := range problems {
		out[i] = unreadable.finding(Place{File: q.File, Line: q.Pos.Line, Column: q.Pos.Column}, on, "%s", q.Message)
	}
	return out
}

func (p *Project) lint(s *scenario.Scenario, all []*scenario.Scenario) []Finding {
	var out []Finding
	add := func(r *Rule, part, format string, args ...any) {
		out = append(out, r.finding(At(s.Place(part)), s.Name, format, args...))
	}
	if !s.Expect.Golden {
		add(&goldenOff, "expect.golden", "it has no golden transcript")
	}
	for _, missing := range p.missing(s) {
		add(&goldenMissing, missing.part, "there is no golden transcript %s", missing.file)
	}
	if !fails(s) && !slices.ContainsFunc(all, func(o *scenario.Scenario) bool { return path.Dir(o.Name) == path.Dir(s.Name) && fails(o) }) {
		add(&noFailure, "", "neither it nor a scenario beside it shows a failure")
	}
	if s.Rollback == "" {
		add(&noRollback, "", "it does not say how to go back")
	}
	for _, w := range s.Warnings {
		out = append(out, doubt(s, w))
	}
	return out
}

// fails tells whether a scenario shows a failure.
func fails(s *scenario.Scenario) bool {
	return len(s.Variants) > 0 || s.Expect.Outcome != "completed" || len(s.Expect.Breaches) > 0
}

type missing struct{ part, file string }

// missing are the golden transcripts that are expected and not there.
func (p *Project) missing(s *scenario.Scenario) []missing {
	var out []missing
	look := func(part, model, id string) {
		if file := p.Golden(s.Name, model, id); !there(file) {
			out = append(out, missing{part, filepath.ToSlash(file)})
		}
	}
	for _, model := range s.Models {
		if s.Expect.Golden {
			look("", model, "")
		}
		for i := range s.Variants {
			if v := &s.Variants[i]; v.Expect.Golden {
				look(v.Part, model, v.ID)
			}
		}
	}
	return out
}

func there(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// doubt takes a warning apart, which begins with its place.
func doubt(s *scenario.Scenario, warning string) Finding {
	at, message := At(s.Place("")), warning
	place, rest, ok := strings.Cut(warning, ": ")
	if file, position, cut := strings.Cut(place, ".yaml:"); ok && cut {
		if line, column, two := numbers(position); two {
			at, message = Place{File: file + ".yaml", Line: line, Column: column}, rest
		}
	}
	return doubtful.finding(at, s.Name, "%s", message)
}

// shared holds the files of tools in the scenarios' folders against the rules.
func (p *Project) shared() []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, name := range p.Names {
		folder := path.Dir(name)
		if seen[folder] {
			continue
		}
		seen[folder] = true
		file := filepath.Join(p.Scenarios, filepath.FromSlash(folder), "tools.yaml")
		tools, err := p.Options.Cache.ReadTools(file)
		if err != nil {
			out = append(out, Unreadable(err, folder)...)
			continue
		}
		if folder == "." {
			folder = ""
		}
		out = append(out, InFile(folder, filepath.ToSlash(file), tools).Lint()...)
	}
	return out
}

package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// linter gathers what is found in a project.
type linter struct {
	suite  *suite.Suite // nil outside a project
	getenv func(string) string
	whole  bool // all files are looked at, so that an idle suppression is one
	today  time.Time
	// lintFiles tells that the files are asked for, not only needed to know the
	// servers.
	lintFiles bool

	found     []lint.Finding
	notes     []string // what was not looked at, and why
	scenarios []*scenario.Scenario
	drills    []*drillfile.Drill
}

// files looks at what is written.
func (l *linter) files(names []string) error {
	c := l.suite.Config
	project := lint.Project{Scenarios: l.suite.Dirs.Scenarios, Names: names, Options: c.Options(nil), Golden: l.golden}
	found, loaded := project.Lint()
	l.scenarios = loaded
	unread, err := l.readDrills(names)
	if err != nil {
		return err
	}
	if !l.lintFiles {
		return nil
	}
	l.found = slices.Concat(l.found, found, unread)
	if !l.whole {
		return nil
	}
	d := l.suite.Dirs
	written, err := lint.Written(c.Hidden(), d.Scenarios, d.Cassettes, d.Golden, d.Reports)
	if err != nil {
		return err
	}
	looks, err := lint.LooksLike(c.Hidden(), d.Cassettes, d.Golden, d.Reports)
	l.found = slices.Concat(l.found, lint.Secrets(l.secrets(), l.today), written, looks)
	return err
}

func (l *linter) golden(name, model, id string) string {
	if id == "" {
		return harness.Golden(l.suite.Dirs.Golden, name, model)
	}
	return harness.Golden(l.suite.Dirs.Golden, name+"/"+harness.FileName(model), id)
}

func (l *linter) secrets() []lint.Secret {
	var out []lint.Secret
	c := l.suite.Config
	for i := range c.Secrets {
		s := &c.Secrets[i]
		out = append(out, lint.Secret{Name: s.Name, Owner: s.Owner, RotateBy: s.RotateBy, Place: lint.At(c.Place(l.secretPart(s)))})
	}
	return out
}

// secretPart is where the configuration declares a secret; of one that it does not
// declare, where it takes it.
func (l *linter) secretPart(s *config.Secret) string {
	c := l.suite.Config
	if s.Owner != "" {
		return "secrets." + s.Name
	}
	for i := range c.Models {
		if c.Models[i].Key == s.Name {
			return "models." + c.Models[i].Name + ".key"
		}
	}
	for i := range c.Servers {
		server := &c.Servers[i]
		if slices.ContainsFunc(slices.Concat(server.Env, server.Headers), func(set tool.Setting) bool { return set.Env == s.Name }) {
			return "servers." + server.Name
		}
	}
	return "secrets." + s.Name
}

// ofFiles tells whether the rule is about what is written: what servers say, and do
// when they are called, is only found when they are asked.
func ofFiles(rule string) bool {
	return !strings.HasPrefix(rule, "probe/") && !strings.HasPrefix(rule, "widget/")
}

// excused are the findings, with those marked that the project accepts.
func (l *linter) excused() []lint.Finding {
	if l.suite == nil {
		return lint.Sort(l.found)
	}
	c := l.suite.Config
	var all []lint.Suppression
	for i, s := range c.Lint {
		all = append(all, lint.Suppression{Rule: s.Rule, On: s.On, Reason: s.Reason, Place: lint.At(c.Place(fmt.Sprintf("lint[%d]", i))), Asked: l.whole && ofFiles(s.Rule)})
	}
	for _, file := range l.written() {
		comments := lint.Comments(file)
		for i := range comments {
			comments[i].Asked = l.lintFiles && ofFiles(comments[i].Rule)
		}
		all = append(all, comments...)
	}
	return lint.Excuse(l.found, all)
}

// written are the files that may have comments for the linter.
func (l *linter) written() []string {
	files := []string{l.suite.Config.File}
	seen := map[string]bool{}
	for i := range l.found {
		if f := &l.found[i]; f.Rule == lint.LooksLikeID && !seen[f.Place.File] {
			seen[f.Place.File] = true
			files = append(files, f.Place.File)
		}
	}
	for _, s := range l.scenarios {
		files = append(files, s.File)
		if tools := filepath.ToSlash(filepath.Join(filepath.Dir(s.File), "tools.yaml")); !seen[tools] {
			seen[tools] = true
			files = append(files, tools)
		}
	}
	return files
}

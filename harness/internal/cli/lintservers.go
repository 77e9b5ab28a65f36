package cli

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// server is an MCP server that is looked at.
type server struct {
	scenario.Server
	place lint.Place
	stray bool // no project describes it
	// declared are the scenarios' own words about its tools: an approval, a key.
	declared []tool.Decl
	// used are the scenarios that use it.
	used []*scenario.Scenario
}

// adHoc is a server that the command line describes.
func adHoc(address string, command, env []string) (server, error) {
	if address != "" && len(command) > 0 {
		return server{}, failure.Errorf(failure.ScenarioInvalid, "--url and a command exclude each other; give one")
	}
	if address != "" {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return server{}, failure.Errorf(failure.ScenarioInvalid, "--url must be an address like https://shop.example/mcp, without a password")
		}
		return server{Server: scenario.Server{Name: u.Hostname(), URL: address}, stray: true}, nil
	}
	s := server{Server: scenario.Server{Name: filepath.Base(command[0]), Command: command}, stray: true}
	for _, e := range env {
		name, value, given := strings.Cut(e, "=")
		set := tool.Setting{Name: name, Value: value}
		if !given {
			set.Env = name
		}
		s.Env = append(s.Env, set)
	}
	return s, nil
}

// servers are those that the project describes and that are asked for by name; *
// stands for anything.
func (l *linter) servers(asked []string) ([]server, error) {
	all := l.described()
	var out []server
	for _, pattern := range asked {
		found := false
		for _, s := range all {
			if !lint.Like(pattern, s.Name) {
				continue
			}
			found = true
			if !slices.ContainsFunc(out, func(o server) bool { return o.Name == s.Name && o.place == s.place }) {
				out = append(out, s)
			}
		}
		if !found {
			var names []string
			for _, s := range all {
				names = append(names, s.Name)
			}
			return nil, failure.Errorf(failure.ScenarioInvalid, "no MCP server %q%s; describe it under servers in %s, or give its command behind --", pattern, suggest.Hint(pattern, names), l.suite.Config.File)
		}
	}
	return out, nil
}

// described are the configuration's servers and the scenarios' own.
func (l *linter) described() []server {
	c := l.suite.Config
	var out []server
	for _, s := range c.Servers {
		out = append(out, server{Server: s, place: lint.At(c.Place("servers." + s.Name))})
	}
	for _, sc := range l.scenarios {
		for _, s := range sc.Servers {
			place := lint.At(sc.Place("servers." + s.Name))
			if sc.Says("servers."+s.Name) && !slices.ContainsFunc(out, func(o server) bool { return o.place == place }) {
				out = append(out, server{Server: s, place: place})
			}
		}
	}
	for i := range out {
		out[i].declared = l.wordsAbout(out[i].Name)
		for _, sc := range l.scenarios {
			if slices.ContainsFunc(sc.Servers, func(o scenario.Server) bool { return o.Name == out[i].Name }) {
				out[i].used = append(out[i].used, sc)
			}
		}
	}
	return out
}

// wordsAbout are the scenarios' declarations of a server's tools, by the server's
// names.
func (l *linter) wordsAbout(server string) []tool.Decl {
	var out []tool.Decl
	for _, sc := range l.scenarios {
		for i := range sc.Tools {
			d := sc.Tools[i]
			if r := sc.Runs[d.Name]; r.Server == server {
				if r.Tool != "" {
					d.Name = r.Tool
				}
				out = append(out, d)
			}
		}
	}
	return out
}

// called is what a server is called in findings: what the project calls it; of one
// that the command line describes what it says of itself, with how it was reached.
// A name that could lead out of a folder is not taken over.
func (s *server) called(says string) (name, by string) {
	if !s.stray || says == "" || says == s.Name || strings.HasPrefix(says, ".") {
		return s.Name, ""
	}
	return says, s.Name
}

// ask starts a server, holds what it says against the rules, and tries it where
// that is asked for.
func (l *linter) ask(sys IO, s *server, f *lintFlags, salt string) error {
	ctx := sys.Context
	w, err := l.start(ctx, s)
	if err != nil {
		return err
	}
	defer w.end()
	name, by := s.called(w.session.Says())
	set, err := lint.Read(ctx, w.session, name, s.place)
	if err != nil {
		return err
	}
	set.By = by
	set.Declared(s.declared)
	l.found = append(l.found, set.Lint()...)
	if l.suite != nil {
		changed, err := set.Goldens(l.widgetGolden, f.accept)
		if err != nil {
			return err
		}
		l.found = append(l.found, changed...)
	}
	if f.render {
		if err := l.render(ctx, set, w.session, f.given, sys.hidden.values); err != nil {
			return err
		}
	}
	if !f.probe {
		return nil
	}
	return l.probe(ctx, s, set, w, f, salt)
}

func (l *linter) widgetGolden(server, uri string) string {
	return filepath.Join(l.suite.Dirs.Golden, "widgets", harness.FileName(server), harness.FileName(strings.TrimPrefix(uri, "ui://"))+".golden")
}

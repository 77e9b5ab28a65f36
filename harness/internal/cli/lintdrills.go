package cli

import (
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/tool"
)

// readDrills reads the project's drills. What is found are those that cannot be
// read, where all files are looked at or a scenario beside them is.
func (l *linter) readDrills(names []string) ([]lint.Finding, error) {
	dir := l.suite.Dirs.Scenarios
	files, err := drillfile.List(dir)
	if err != nil {
		return nil, err
	}
	var found []lint.Finding
	for _, name := range files {
		folder := "."
		if rel, err := filepath.Rel(dir, filepath.Dir(name)); err == nil {
			folder = filepath.ToSlash(rel)
		}
		drills, err := drillfile.Load(name, folder, drillfile.Options{Servers: l.suite.Config.Servers})
		l.drills = append(l.drills, drills...)
		if err != nil && (l.whole || slices.ContainsFunc(names, func(n string) bool { return path.Dir(n) == folder })) {
			found = append(found, lint.Unreadable(err, path.Join(folder, path.Base(filepath.ToSlash(name))))...)
		}
	}
	return found, nil
}

// drillsOf are the drills of the server's tools. A server that the project only
// reaches has none: it may be at work for somebody.
func (l *linter) drillsOf(s *server) []*drillfile.Drill {
	var out []*drillfile.Drill
	for _, d := range l.drills {
		if _, here := d.Drilled(s.Server); here && len(s.Command) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// fromDrills adds what the drills say of the server's tools: calls that they
// accept, the arguments of their keys, what may differ in a replay. The caller's
// own examples come first.
func (l *linter) fromDrills(s *server, set *lint.Set, p *lint.Probing, scratch string) {
	examples := maps.Clone(p.Examples)
	for _, d := range l.drillsOf(s) {
		for name, args := range d.Examples(s.Server) {
			if examples[name] == nil {
				examples[name] = world.InScratch(args, scratch)
			}
		}
		name, _ := d.Drilled(s.Server)
		if d.Spec.Key.Field != "" {
			set.Declared([]tool.Decl{{Name: name, Key: &tool.Key{Field: d.Spec.Key.Field}}})
		}
		p.Volatile[name] = append(p.Volatile[name], d.Spec.Volatile...)
	}
	p.Examples = examples
}

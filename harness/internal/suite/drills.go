package suite

import (
	"path/filepath"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/world"
)

// Drills finds drills by name, by folder or by a pattern with *; no argument is
// all of them. An argument that finds none is an error.
func (s *Suite) Drills(args []string) ([]*drillfile.Drill, error) {
	o := DrillOptions(s.Config, s.root, s.getenv)
	o.World.Shared = s.shared
	all, err := drillfile.LoadAll(s.Dirs.Scenarios, o)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: there is no drill.yaml here; describe a drill in %s, or try one by flags: retake drill --help",
			s.Dirs.Scenarios, filepath.ToSlash(filepath.Join(s.Dirs.Scenarios, "FOLDER", "drill.yaml")))
	}
	if len(args) == 0 {
		return all, nil
	}
	want := map[string]bool{}
	for _, arg := range args {
		found := false
		for _, d := range all {
			if arg != "" && matches(s.nameOf(arg), d.Name) {
				want[d.Name], found = true, true
			}
		}
		if !found {
			return nil, failure.Errorf(failure.ScenarioInvalid, "no drill %q below %s%s", arg, s.Dirs.Scenarios, suggest.Hint(arg, drillNames(all)))
		}
	}
	var out []*drillfile.Drill
	for _, d := range all {
		if want[d.Name] {
			out = append(out, d)
		}
	}
	return out, nil
}

func drillNames(all []*drillfile.Drill) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// DrillOptions are what drills take from the configuration. root is where programs
// run. Close them when the last drill is over.
func DrillOptions(c *config.Config, root string, getenv func(string) string) drillfile.Options {
	return drillfile.Options{Servers: c.Servers, World: world.Options{
		Dir: root, Getenv: getenv, Config: c.File,
		Secret: func(name string) bool { _, ok := c.Secret(name); return ok }, Shared: world.NewShared(),
	}}
}

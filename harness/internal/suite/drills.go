package suite

import (
	"path/filepath"
	"slices"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/world"
)

// Drills finds drills by name, by folder or by a pattern with *; no argument is
// all of them. An argument that finds none is an error.
func (s *Suite) Drills(args []string) ([]*drillfile.Drill, error) {
	all, err := drillfile.LoadAll(s.Dirs.Scenarios, drillfile.Options{Servers: s.Config.Servers, World: s.World()})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: there is no drill.yaml here; describe a drill in %s, or try one by flags: retake drill --help",
			s.Dirs.Scenarios, filepath.ToSlash(filepath.Join(s.Dirs.Scenarios, "FOLDER", "drill.yaml")))
	}
	names := make([]string, len(args))
	for i, arg := range args {
		if names[i] = arg; arg != "" {
			names[i] = s.nameOf(arg)
		}
	}
	return SelectDrills(all, names, "below "+s.Dirs.Scenarios)
}

// SelectDrills are those of the names, folders and patterns; none is all of them.
// where says where they were looked for.
func SelectDrills(all []*drillfile.Drill, names []string, where string) ([]*drillfile.Drill, error) {
	if len(names) == 0 {
		return all, nil
	}
	want := map[string]bool{}
	for _, name := range names {
		found := false
		for _, d := range all {
			if name != "" && matches(name, d.Name) {
				want[d.Name], found = true, true
			}
		}
		if !found {
			return nil, failure.Errorf(failure.ScenarioInvalid, "no drill %q %s%s", name, where, suggest.Hint(name, drillNames(all)))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(d *drillfile.Drill) bool { return !want[d.Name] }), nil
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

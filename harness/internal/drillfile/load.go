// Package drillfile reads drills from files: drill.yaml beside scenarios. Such a
// file says which tools are drilled, where they run, how their effects are counted
// and what they promise; see package drill for what is done with it.
//
//	servers:
//	  shop:
//	    command: [shop-server, --db, "${scratch}/shop.db"]
//	    hooks: {points: [before_reserve, after_effect], clock: true, fail: [payment]}
//	drills:
//	  order:
//	    tool: create_order
//	    run: {mcp: shop}
//	    args: {sku: A-17}
//	    key: {field: idempotency_key, max_length: 64}
//	    effects: {sql: {database: "sqlite:${scratch}/shop.db", query: select count(*) from orders}}
//	    policies: {expiry: 24h, in_flight: same}
//
// A drill's name is that of its folder and its own: scenarios/shop/drill.yaml has
// the drill shop/order. Each row of a drill has a ${scratch} of its own, so that it
// begins with nothing; a server that is told none keeps its state elsewhere, and is
// not started again.
package drillfile

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	readfile "github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Options are what drills take from around them.
type Options struct {
	Servers []scenario.Server // known besides the file's own
	World   world.Options
}

// Close removes what was built for the drills.
func (o *Options) Close() { o.World.Shared.Close() }

// Drill is a drill of a file, with all that it runs on.
type Drill struct {
	Name string // shop/order
	Why  string
	File string
	At   yamlwalk.Pos
	Spec drill.Spec

	target Target
	params drill.Params // what the file says of them
}

// List gives the files of drills below dir, sorted. What begins with _ or a dot is
// left out, as for scenarios.
func List(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return failure.Errorf(failure.World, "list drills: %w", err)
		case p != dir && strings.ContainsRune("_.", rune(d.Name()[0])):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case !d.IsDir() && d.Name() == scenario.Drills:
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// LoadAll reads all files of drills below dir.
func LoadAll(dir string, o Options) ([]*Drill, error) {
	files, err := List(dir)
	if err != nil {
		return nil, err
	}
	var out []*Drill
	var problems []error
	for _, f := range files {
		folder, err := filepath.Rel(dir, filepath.Dir(f))
		if err != nil {
			return nil, failure.Errorf(failure.World, "list drills: %w", err)
		}
		drills, err := Load(f, filepath.ToSlash(folder), o)
		if err != nil {
			problems = append(problems, err)
		}
		out = append(out, drills...)
	}
	return out, failure.Wrap(failure.ScenarioInvalid, errors.Join(problems...))
}

// Load reads one file, whose drills belong to the folder of the name. Everything
// that is wrong with it is in one error, a line each.
func Load(name, folder string, o Options) ([]*Drill, error) {
	text, err := readfile.Read(name)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: %w", filepath.ToSlash(name), yamlwalk.Cause(err))
	}
	return Parse(name, folder, text, o)
}

// Parse is Load of a text.
func Parse(name, folder string, text []byte, o Options) ([]*Drill, error) {
	f := yamlwalk.Parse(filepath.ToSlash(name), text)
	var w file
	yamlwalk.Root(f, fileKind, &w)
	if err := f.Err(); err != nil {
		return nil, err
	}
	out := make([]*Drill, 0, len(w.drills))
	for i := range w.drills {
		out = append(out, w.build(f, folder, &w.drills[i], o))
	}
	return out, f.Err()
}

// build makes the drill of what is written.
func (w *file) build(f *yamlwalk.File, folder string, e *yamlwalk.Entry[written], o Options) *Drill {
	d := &e.Value
	full := path.Join(folder, e.Key)
	out := &Drill{Name: full, Why: d.why, File: f.Name, At: e.At}
	out.Spec = drill.Spec{
		Name: full, Tool: d.tool, Args: d.args.JSON, Key: d.key, Volatile: d.volatile, Unmarked: d.unmarked,
		Policies: d.policies, Prepare: d.prepare, Batch: d.batch, Another: d.another, Reads: d.reads, Looks: d.looks,
	}
	if d.other != nil {
		out.Spec.Other = d.other.JSON
	}
	for _, b := range d.bad {
		out.Spec.Bad = append(out.Spec.Bad, b.JSON)
	}
	for i := range out.Spec.Reads {
		fillArgs(&out.Spec.Reads[i].Args)
	}
	for i := range out.Spec.Looks {
		fillArgs(&out.Spec.Looks[i].Args)
	}
	out.params = drill.Params{Timeout: d.timeout, Duplicates: d.duplicates}
	out.target = Target{
		options: o.World, place: d.run.V, places: map[string]scenario.Run{}, principals: scenario.PrincipalsOf(w.principals),
		probe: d.effects.Probe(d.tool), together: d.together, keeps: d.keepsState, file: f.Name, servers: map[string]scenario.Server{},
		args: d.args.JSON,
	}
	if d.prepare != nil {
		out.target.draft = d.prepare.Into
	}
	if d.key.Field != "" {
		out.target.key = &tool.Key{Field: d.key.Field, From: d.key.From}
	}
	w.places(f, d, &out.target, o)
	return out
}

func fillArgs(args *jsontext.Value) {
	if *args == nil {
		*args = jsontext.Value("{}")
	}
}

// places finds the servers that the drill runs on.
func (w *file) places(f *yamlwalk.File, d *written, t *Target, o Options) {
	known := slices.Clone(o.Servers)
	for _, e := range slices.Backward(w.servers) {
		s := e.Value
		s.Name = e.Key
		known = slices.Insert(known, 0, s)
	}
	use := func(name string, at yamlwalk.Pos) {
		i := slices.IndexFunc(known, func(s scenario.Server) bool { return s.Name == name })
		switch {
		case name == "":
		case i < 0:
			names := make([]string, len(known))
			for i := range known {
				names[i] = known[i].Name
			}
			f.Failf(at, "unknown MCP server %q%s; declare it under servers, here or in %s", name, suggest.Hint(name, names), scenario.Config)
		default:
			t.servers[name] = known[i]
		}
	}
	use(d.run.V.Server, d.run.At)
	for _, p := range d.places {
		t.places[p.Key] = p.Value
		use(p.Value.Server, p.At)
	}
	if p := t.probe.Tool; p != nil {
		use(p.Server, d.run.At)
	}
}

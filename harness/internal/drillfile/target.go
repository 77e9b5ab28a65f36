package drillfile

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Target is a drill's tools where they really run.
type Target struct {
	options    world.Options
	file       string // for messages
	place      scenario.Run
	places     map[string]scenario.Run // of other tools
	servers    map[string]scenario.Server
	principals []scenario.Principal
	probe      scenario.Probe
	together   bool
	keeps      bool
	key        *tool.Key      // of the drilled tool, which goes along in a header too; nil: none
	args       jsontext.Value // that the drilled tool accepts, without the key
	draft      string         // its argument that takes a draft's id; "": none
}

// Can says what can be done to the tools. What the drilled one runs on decides; what
// other tools are on, or the probe, does not matter.
func (t *Target) Can() drill.Abilities {
	a := drill.Abilities{Remembers: !t.scratched(), Together: true, Entrance: len(t.door()) > 0}
	for _, p := range t.principals {
		a.Principals = append(a.Principals, p.Name)
	}
	s := t.servers[t.place.Server]
	if t.place.Server != "" && s.Command != nil {
		a.Together, a.Clock, a.Fail = t.together, s.Hooks.Clock, s.Hooks.Fail
		for _, p := range s.Hooks.Points {
			a.Points = append(a.Points, drill.Point(p))
		}
	}
	a.Restart = (s.Command != nil || t.place.Command != nil) && (t.scratched() || t.keeps)
	a.Kill = a.Restart
	return a
}

// scratched tells whether a program is told the row's own folder.
func (t *Target) scratched() bool {
	told := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "${"+scenario.Scratch+"}") })
	}
	settings := func(set []tool.Setting) bool {
		return slices.ContainsFunc(set, func(s tool.Setting) bool { return told(s.Value) })
	}
	for _, s := range t.servers {
		if told(s.Command...) || settings(s.Env) {
			return true
		}
	}
	for _, p := range t.principals {
		if settings(p.Env) {
			return true
		}
	}
	c := t.place.Command
	return c != nil && (told(c.Args...) || settings(c.Env))
}

// fromEnv are the variables of the environment that the tools are given.
func (t *Target) fromEnv() []string {
	var sets [][]tool.Setting
	for _, name := range slices.Sorted(maps.Keys(t.servers)) {
		sets = append(sets, t.servers[name].Env, t.servers[name].Headers)
	}
	for _, p := range t.principals {
		sets = append(sets, p.Env, p.Headers)
	}
	for _, r := range append([]scenario.Run{t.place}, slices.Collect(maps.Values(t.places))...) {
		if r.HTTP != nil {
			sets = append(sets, r.HTTP.Headers)
		}
		if r.Command != nil {
			sets = append(sets, r.Command.Env)
		}
	}
	if t.probe.SQL != nil {
		sets = append(sets, []tool.Setting{t.probe.SQL.Database})
	}
	if t.probe.HTTP != nil {
		sets = append(sets, t.probe.HTTP.Headers)
	}
	var out []string
	for _, s := range slices.Concat(sets...) {
		if s.Env != "" && !slices.Contains(out, s.Env) {
			out = append(out, s.Env)
		}
	}
	slices.Sort(out)
	return out
}

// World makes the folder of one row.
func (t *Target) World(context.Context) (drill.World, error) {
	if err := t.options.CheckSecrets(t.file, t.fromEnv()); err != nil {
		return nil, err
	}
	dir, remove, err := world.NewScratch()
	if err != nil {
		return nil, err
	}
	return &state{target: t, scratch: dir, remove: remove}, nil
}

// state is the folder of one row, with what is open on it beyond the life of an
// instance.
type state struct {
	target  *Target
	scratch string
	remove  func()
	db      *sql.DB // nil until somebody counts in it
	address string  // of the drilled tool's server in the last instance, where it is reached by one
}

// Close takes the folder away.
func (s *state) Close() {
	if s.db != nil {
		_ = s.db.Close() // it was only read
	}
	s.remove()
}

// hooks are the variables that start says.
func hooks(start drill.Start) []tool.Setting {
	var out []tool.Setting
	add := func(name, value string) {
		if value != "" {
			out = append(out, tool.Setting{Name: name, Value: value})
		}
	}
	add(scenario.HoldAtVariable, string(start.HoldAt))
	add(scenario.FailVariable, start.Fail)
	if start.ClockOffset != 0 {
		add(scenario.ClockVariable, start.ClockOffset.String())
	}
	return out
}

func (t *Target) principal(name string) *scenario.Principal {
	for i := range t.principals {
		if t.principals[i].Name == name || name == "" {
			return &t.principals[i]
		}
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// running is a server that was started for the linter alone.
type running struct {
	server  *world.Server
	session *mcptool.Session
	scratch string
	shut    []func()
}

func (r *running) end() {
	for _, f := range r.shut {
		f()
	}
}

// start starts the server in a folder of its own, and connects as nobody, or as the
// first principal of its scenarios that it lets in.
func (l *linter) start(ctx context.Context, s *server, env ...tool.Setting) (*running, error) {
	scratch, remove, err := world.NewScratch()
	if err != nil {
		return nil, err
	}
	r := &running{scratch: scratch, shut: []func(){remove}}
	o := world.Options{Getenv: l.getenv}
	if l.suite != nil {
		o = l.suite.World()
	}
	if r.server, err = world.StartServer(ctx, s.Server, o, world.Start{Scratch: scratch, Env: env}); err != nil {
		r.end()
		return nil, err
	}
	r.shut = []func(){r.server.Close, remove}
	askers := []*scenario.Principal{nil}
	for _, sc := range s.used {
		for i := range sc.Principals {
			askers = append(askers, &sc.Principals[i])
		}
	}
	for _, p := range askers {
		if r.session, err = r.server.Session(p); !errors.Is(err, mcptool.ErrUnauthorized) {
			break
		}
	}
	if err != nil {
		r.end()
		return nil, err
	}
	return r, nil
}

// probe tries the running server, and then one for each of its dependencies that
// can be made to fail.
func (l *linter) probe(ctx context.Context, s *server, set *lint.Set, w *running, f *lintFlags, salt string) error {
	p := lint.Probing{Examples: f.given, Volatile: lint.Volatile{}, Writes: f.probeWrites, Key: "retake-" + salt, Secrets: l.secretValues()}
	l.fromDrills(s, set, &p, w.scratch)
	var err error
	if p.Effects, err = l.effects(s, w, f.counts); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Effects)) { // what cannot be counted is told before it is relied on
		if _, err := p.Effects[name].Count(ctx); err != nil {
			return failure.Errorf(failure.Of(err), "MCP server %q: counting %q: %w", s.Name, name, err)
		}
	}
	prober := lint.NewProber(set, p)
	prober.Try(ctx, w.session)
	for _, name := range slices.Concat(s.Hooks.Fail, f.fail) {
		failing, err := l.start(ctx, s, tool.Setting{Name: scenario.FailVariable, Value: name})
		if err != nil {
			return err
		}
		prober.TryFailing(ctx, failing.session, name)
		failing.end()
	}
	found, notes := prober.Found()
	l.found = append(l.found, found...)
	for _, n := range notes { // scenarios describe one server in several ways
		if !slices.Contains(l.notes, n) {
			l.notes = append(l.notes, n)
		}
	}
	if ctx.Err() != nil {
		return failure.Errorf(failure.Interrupted, "interrupted")
	}
	return nil
}

func (l *linter) secretValues() []string {
	if l.suite == nil {
		return nil
	}
	return l.suite.Config.Hidden().Plain()
}

// effects count what the scenarios that use the server count, and its drills, in its
// own folder, and what the command line says.
func (l *linter) effects(s *server, w *running, counts []scenario.Probe) (map[string]effect.Probe, error) {
	out := map[string]effect.Probe{}
	all := slices.Clone(counts)
	for _, sc := range s.used {
		all = append(all, sc.Probes...)
	}
	for _, d := range l.drillsOf(s) {
		all = append(all, d.Effects())
	}
	for i := range all {
		p := &all[i]
		switch {
		case out[p.Of] != nil:
		case p.SQL != nil:
			db, err := world.OpenDatabase(p.SQL, w.scratch, l.getenv)
			if err != nil {
				return nil, failure.Errorf(failure.Of(err), "the effects of %q: %w", p.Of, err)
			}
			w.shut = slices.Insert(w.shut, 0, func() { _ = db.Close() })
			out[p.Of] = effect.SQL{DB: db, Query: p.SQL.Query}
		case p.Tool != nil && p.Tool.Server == s.Name:
			out[p.Of] = effect.Answer{Exec: w.session, Call: tool.Call{Tool: p.Tool.Name, Args: p.Tool.Args}, Pointer: p.Pointer, Matches: p.Matches}
		}
	}
	return out, nil
}

// counts reads NAME=DATABASE QUERY.
func counts(given []string) ([]scenario.Probe, error) {
	var out []scenario.Probe
	for _, g := range given {
		name, rest, ok := strings.Cut(g, "=")
		database, query, ok2 := strings.Cut(rest, " ")
		if !ok || !ok2 || name == "" || !strings.HasPrefix(database, "sqlite:") && !strings.HasPrefix(database, "postgres://") {
			return nil, failure.Errorf(failure.ScenarioInvalid, "--count %q is not NAME=DATABASE QUERY, as in 'orders=sqlite:${scratch}/shop.db select count(*) from orders'", name)
		}
		out = append(out, scenario.Probe{Of: name, SQL: &scenario.SQLProbe{Database: tool.Setting{Name: "database", Value: database}, Query: query}})
	}
	return out, nil
}

// examples reads TOOL=JSON.
func examples(given []string) (map[string]jsontext.Value, error) {
	out := map[string]jsontext.Value{}
	for _, g := range given {
		name, text, ok := strings.Cut(g, "=")
		args := jsontext.Value(text)
		if !ok || name == "" || !args.IsValid() || args.Kind() != '{' {
			return nil, failure.Errorf(failure.ScenarioInvalid, `--example %q is not TOOL={"argument": value, …}`, g)
		}
		out[name] = args
	}
	return out, nil
}

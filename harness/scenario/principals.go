package scenario

import (
	"slices"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/tool"
)

// Principal is somebody in whose name tools are called: what an address is sent
// besides its own headers, and what a program is given besides its own
// environment.
type Principal struct {
	Name    string
	Headers []tool.Setting
	Env     []tool.Setting
}

// Principals is the kind of a set of principals by their names.
func Principals() yamlwalk.Kind[[]yamlwalk.Entry[Principal]] {
	return yamlwalk.Entries("principals", serverForm, yamlwalk.Object[Principal]{
		Is: "a principal",
		Fields: []yamlwalk.Field[Principal]{
			yamlwalk.F("headers", "Headers of each request in its name, each a text or {env: NAME}; they go before a server's own of the same name.", Headers(), func(p *Principal) *[]tool.Setting { return &p.Headers }),
			yamlwalk.F("env", "The environment of a program that serves it alone, besides the program's own: NAME, or NAME=value.", Environment(), func(p *Principal) *[]tool.Setting { return &p.Env }),
		},
	}.Kind())
}

// PrincipalsOf are the principals of entries, each with its name.
func PrincipalsOf(entries []yamlwalk.Entry[Principal]) []Principal {
	var out []Principal
	for _, e := range entries {
		p := e.Value
		p.Name = e.Key
		out = append(out, p)
	}
	return out
}

// actAs says in whose name each turn is. Where there are principals, nobody acts
// without a name.
func (b *builder) actAs(w *written, s *Scenario) {
	s.Principals = PrincipalsOf(w.principals)
	known := make([]string, len(s.Principals))
	for i := range s.Principals {
		known[i] = s.Principals[i].Name
	}
	b.reach(w, s)
	used := map[string]bool{}
	for i := range s.Turns {
		as := w.as
		if w.task.V == "" && w.turns[i].as.V != "" {
			as = w.turns[i].as
		}
		switch {
		case as.V != "" && !slices.Contains(known, as.V):
			b.f.Failf(as.At, "unknown principal %q%s; declare it under principals", as.V, suggest.Hint(as.V, known))
			return
		case as.V == "" && len(known) > 0:
			b.f.Failf(w.principals[0].At, "nobody says in whose name turn %d is; say as: %s for the scenario or the turn", i+1, known[0])
			return
		}
		s.Turns[i].As = as.V
		used[as.V] = true
	}
	for i, name := range known {
		if !used[name] {
			b.f.Failf(w.principals[i].At, "no turn is in the name of %q; say as: %s, or drop it", name, name)
		}
	}
}

// reach wants what a principal brings to get anywhere: headers go to addresses,
// environments to programs.
func (b *builder) reach(w *written, s *Scenario) {
	addresses, programs := false, false
	for _, r := range b.runs {
		addresses, programs = addresses || r.HTTP != nil, programs || r.Command != nil
	}
	for i := range b.used {
		addresses, programs = addresses || b.used[i].URL != "", programs || b.used[i].URL == ""
	}
	for i := range s.Principals {
		switch p := &s.Principals[i]; {
		case b.pending: // nobody knows yet
		case p.Headers != nil && p.Env == nil && !addresses:
			b.f.Failf(w.principals[i].At, "the headers of %q reach nobody: no tool runs at an address; a program is told by env", p.Name)
		case p.Env != nil && p.Headers == nil && !programs:
			b.f.Failf(w.principals[i].At, "the env of %q reaches nobody: no tool is a program of its own; an address is told by headers", p.Name)
		}
	}
}

package drillfile

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/scenario"
)

// Examples are arguments that the drill says are accepted, by the server's names of
// its tools: those of the drilled tool, unless it commits a draft that has to be
// made first, and those of the tools around it. A key is not among them.
func (d *Drill) Examples(server scenario.Server) map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	add := func(name string, args jsontext.Value) {
		if name, here := d.target.at(name, server); here && out[name] == nil {
			out[name] = args
		}
	}
	if d.Spec.Prepare == nil {
		add(d.Spec.Tool, d.Spec.Args)
	} else {
		add(d.Spec.Prepare.Tool, d.Spec.Prepare.Args)
	}
	if d.Spec.Another != nil {
		add(d.Spec.Another.Tool, d.Spec.Another.Args)
	}
	for _, r := range d.Spec.Reads {
		add(r.Tool, r.Args)
	}
	return out
}

// Drilled is what the server calls the drilled tool; here is false where it is not the
// server's.
func (d *Drill) Drilled(server scenario.Server) (name string, here bool) {
	return d.target.at(d.Spec.Tool, server)
}

// Effects says how the drilled tool's effects are counted.
func (d *Drill) Effects() scenario.Probe { return d.target.probe }

// at is what the server calls the tool; here is false where the tool is not the
// server's. A server of the same name that is started otherwise is another one.
func (t *Target) at(name string, server scenario.Server) (own string, here bool) {
	place, ok := t.places[name]
	if !ok {
		place = t.place
	}
	s, ok := t.servers[place.Server]
	if !ok || s.Name != server.Name || s.URL != server.URL || !slices.Equal(s.Command, server.Command) {
		return "", false
	}
	if place.Tool != "" {
		name = place.Tool
	}
	return name, true
}

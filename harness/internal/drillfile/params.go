package drillfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/tool"
)

// Params are what a drill takes: what the file says, and what the servers say of
// their tools, for which they are started once.
func (d *Drill) Params(ctx context.Context) (drill.Params, error) {
	p := d.params
	p.Spec, p.Target = d.Spec, &d.target
	w, err := d.target.World(ctx)
	if err != nil {
		return p, err
	}
	defer w.Close()
	opened, err := w.Open(ctx, drill.Start{})
	if err != nil {
		return p, failure.Errorf(failure.Of(err), "%s: %w", d.Name, err)
	}
	defer opened.Close()
	if i, ok := opened.(*instance); ok {
		if p.Spec.Tools, err = i.tools(ctx); err != nil {
			return p, failure.Errorf(failure.Of(err), "%s: %w", d.Name, err)
		}
	}
	if d.target.place.Server == "" {
		return p, nil
	}
	return p, d.known(p.Spec.Tools)
}

// tools are those of the server that the drilled tool is on.
func (i *instance) tools(ctx context.Context) ([]tool.Decl, error) {
	place := i.state.target.place
	if place.Server == "" {
		return nil, nil
	}
	session, err := i.servers[place.Server].Session(i.as)
	if err != nil {
		return nil, err
	}
	return session.Tools(ctx)
}

// known refuses tools that the server has not.
func (d *Drill) known(tools []tool.Decl) error {
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].Name
	}
	asked := []string{d.Spec.Tool}
	if d.target.place.Tool != "" {
		asked[0] = d.target.place.Tool
	}
	if p := d.Spec.Prepare; p != nil {
		asked = append(asked, p.Tool)
	}
	if a := d.Spec.Another; a != nil {
		asked = append(asked, a.Tool)
	}
	for _, r := range d.Spec.Reads {
		asked = append(asked, r.Tool)
	}
	for _, l := range d.Spec.Looks {
		asked = append(asked, l.Tool)
	}
	for _, name := range asked {
		if _, elsewhere := d.target.places[name]; !elsewhere && !slices.Contains(names, name) {
			return failure.Errorf(failure.ScenarioInvalid, "%s: drill %q: the MCP server %q has no tool %q%s",
				d.place(), d.Name, d.target.place.Server, name, suggest.Hint(name, names))
		}
	}
	return nil
}

// place is where the drill is described: a line of its file, or the command line.
func (d *Drill) place() string {
	if d.At.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d:%d", d.File, d.At.Line, d.At.Column)
}

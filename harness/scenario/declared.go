package scenario

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/tool"
)

// Declared is a tool as a file declares it, with its place there.
type Declared struct {
	Decl tool.Decl
	Run  Run

	file   string
	part   string
	places yamlwalk.Places
}

// Place is where the file says a part of the tool (input); "" is its name.
func (d *Declared) Place(part string) Place {
	if part == "" {
		part = "name"
	}
	p := d.places.Find(d.part + "." + part)
	return Place{d.file, p.Line, p.Column}
}

// ReadTools reads a shared file of tools by its path; nil where there is none. An
// error is like Load's.
func (c *Cache) ReadTools(file string) ([]Declared, error) {
	set := c.toolset(file)
	return set.declared, set.err
}

// Declared are the tools that the scenario's own file declares.
func (s *Scenario) Declared() []Declared {
	var out []Declared
	for i := range s.Tools {
		if part, ok := s.parts[s.Tools[i].Name]; ok {
			out = append(out, Declared{Decl: s.Tools[i], Run: s.Runs[s.Tools[i].Name], file: s.File, part: part, places: s.places})
		}
	}
	return out
}

// Says tells whether the file itself says the part, which is written as for Place.
func (s *Scenario) Says(part string) bool { return s.places.Has(strings.TrimPrefix(part, ".")) }

// parts are where the file declares tools, by their names.
func (t *toolsWritten) parts() map[string]string {
	out := map[string]string{}
	for i := range t.items {
		if t.items[i].decl != nil {
			out[t.items[i].name.V] = fmt.Sprintf("tools[%d]", i)
		}
	}
	if t.from != nil {
		for i := range t.from.with {
			out[t.from.with[i].name.V] = fmt.Sprintf("tools.with[%d]", i)
		}
	}
	return out
}

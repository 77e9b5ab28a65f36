package lint

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Set are tools that are declared together: by a server, or in a file.
type Set struct {
	Name   string // of the server; of the folder where it is a file
	Server bool
	// By is the program or the host of a server that no project describes, besides the
	// name that it gives of itself; else "".
	By    string
	Place Place // where the server is declared, or the file
	Tools []Tool
	// Widgets are the pages of a server.
	Widgets []Widget
}

// Tool is a tool as it is declared.
type Tool struct {
	tool.Decl
	Meta jsontext.Value // the server's _meta; nil: none
	// Partial says that a server says what this declaration does not.
	Partial bool

	file *scenario.Declared // nil for a server's
}

// The parts of a tool in which a rule finds something.
const (
	partName        = "name"
	partDescription = "description"
	partHints       = "annotations"
	partInput       = "input"
	partOutput      = "output"
	partMeta        = "_meta"
)

// spot is a place inside of a tool: a part, and a JSON pointer into it.
type spot struct{ part, pointer string }

// place is where the tool says what is at the spot.
func (s *Set) place(t *Tool, at spot) Place {
	named := fmt.Sprintf("tool %q", t.Name)
	if t.file == nil {
		p := s.Place.within(s.server()).within(named)
		return p.within(serverPart(at))
	}
	p := At(t.file.Place(at.part)).within(named)
	if at.pointer != "" {
		p = p.within("/" + at.part + at.pointer)
	}
	return p
}

// server is how the server is told.
func (s *Set) server() string {
	if s.By == "" {
		return fmt.Sprintf("server %q", s.Name)
	}
	return fmt.Sprintf("server %q (%s)", s.Name, s.By)
}

// serverPart names the spot in the words of the protocol.
func serverPart(at spot) string {
	switch at.part {
	case partInput:
		return "/inputSchema" + at.pointer
	case partOutput:
		return "/outputSchema" + at.pointer
	case partName:
		return ""
	default:
		return "/" + at.part + at.pointer
	}
}

// on is what suppressions call the tool.
func (s *Set) on(name string) string {
	if s.Name == "" {
		return name
	}
	return s.Name + "/" + name
}

// words are how the set's declarations spell a matter, the server's or the file's.
func (s *Set) words(server, file string) string {
	if s.Server {
		return server
	}
	return file
}

// about marks a finding with the server's tool that it is about.
func (s *Set) about(t *Tool, f Finding) Finding {
	if s.Server {
		f.Tool = t.Name
	}
	return f
}

// Declared adds what the project says of a server's tools: an approval, a key.
func (s *Set) Declared(decls []tool.Decl) {
	for i := range s.Tools {
		for k := range decls {
			if t := &s.Tools[i]; decls[k].Name == t.Name {
				t.Approval = t.Approval || decls[k].Approval
				if t.Key == nil {
					t.Key = decls[k].Key
				}
			}
		}
	}
}

// InFile makes a set of the tools that a file declares. folder is the name of
// the file's folder below the scenarios, "" for the top one.
func InFile(folder, file string, tools []scenario.Declared) *Set {
	s := &Set{Name: folder, Place: Place{File: file, Line: 1, Column: 1}}
	for i := range tools {
		d := &tools[i]
		if d.Decl.Provider != nil {
			continue // the provider's own, of which the file says nothing
		}
		s.Tools = append(s.Tools, Tool{Decl: d.Decl, Partial: d.Run.Server != "", file: d})
	}
	return s
}

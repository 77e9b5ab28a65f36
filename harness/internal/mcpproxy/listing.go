package mcpproxy

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// listing is what a server says of itself and of its tools.
type listing struct {
	hello jsontext.Value   // its answer to initialize; nil: not asked
	tools []jsontext.Value // as it lists them
	known bool             // it has been asked for them
}

// page is the answer to tools/list, as far as it is looked at.
type page struct {
	Tools []jsontext.Value `json:"tools"`
	Next  string           `json:"nextCursor,omitzero"`
}

// add takes over a page of tools; the first one begins the list anew.
func (l *listing) add(text jsontext.Value, first bool) {
	var p page
	if json.Unmarshal(text, &p) != nil {
		return // the client is given it all the same, and finds out
	}
	if first {
		l.tools = nil
	}
	l.known = true
	for _, t := range p.Tools {
		l.tools = append(l.tools, t.Clone())
	}
}

// described is a tool, as far as it matters to faults and answers.
type described struct {
	Name         string         `json:"name"`
	Description  string         `json:"description,omitzero"`
	InputSchema  jsontext.Value `json:"inputSchema,omitzero"`
	OutputSchema jsontext.Value `json:"outputSchema,omitzero"`
	Annotations  struct {
		ReadOnly bool `json:"readOnlyHint,omitzero"`
	} `json:"annotations,omitzero"`
}

// decl is the declaration of a tool; of one that is not listed its name.
func (l *listing) decl(name string) tool.Decl {
	for _, text := range l.tools {
		var t described
		if json.Unmarshal(text, &t) != nil || t.Name != name {
			continue
		}
		d := tool.Decl{Name: name, Description: t.Description, Input: t.InputSchema, Output: t.OutputSchema, Effect: tool.EffectWrite}
		if t.Annotations.ReadOnly {
			d.Effect = tool.EffectRead
		}
		return d
	}
	return tool.Decl{Name: name}
}

// kept is how a recording keeps a listing, beside its calls.
type kept struct {
	MCP struct {
		Hello jsontext.Value   `json:"initialize,omitzero"`
		Tools []jsontext.Value `json:"tools,omitzero"`
	} `json:"mcp"`
}

func (l *listing) notes() jsontext.Value {
	if l.hello == nil && !l.known {
		return nil
	}
	var k kept
	k.MCP.Hello, k.MCP.Tools = l.hello, l.tools
	text, err := json.Marshal(k)
	if err != nil {
		return nil // it came as JSON
	}
	if text, err = jsondoc.Canonical(nil, text); err != nil {
		return nil
	}
	return text
}

// readListing is a listing that a recording has kept.
func readListing(notes jsontext.Value) (listing, error) {
	var k kept
	if len(notes) == 0 {
		return listing{}, nil
	}
	err := json.Unmarshal(notes, &k)
	return listing{hello: k.MCP.Hello, tools: k.MCP.Tools, known: k.MCP.Tools != nil}, err
}

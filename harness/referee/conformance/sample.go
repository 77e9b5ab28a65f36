package main

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// each makes a call of each tool, with arguments that its schema requires.
func each(tools []tool.Decl) []call {
	calls := make([]call, len(tools))
	for i := range tools {
		calls[i] = call{Name: tools[i].Name, Arguments: sample(&tools[i], tools)}
	}
	return calls
}

type schema struct {
	Type       string            `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
}

// sample gives each required argument a value of its type. An argument schema is
// given the first tool's own, word for word: the tool that asks for one is there to
// show what a client has kept of it.
func sample(d *tool.Decl, tools []tool.Decl) jsontext.Value {
	var s schema
	if json.Unmarshal(d.Input, &s) != nil {
		return jsontext.Value("{}") // its server is asked with nothing, and may refuse
	}
	args := map[string]jsontext.Value{}
	for _, name := range s.Required {
		p := s.Properties[name]
		if name == "schema" && p.Type == "object" {
			args[name] = tools[0].Input
			continue
		}
		args[name] = value(p.Type)
	}
	text, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}")
	}
	return text
}

func value(kind string) jsontext.Value {
	switch kind {
	case "integer", "number":
		return jsontext.Value("5")
	case "boolean":
		return jsontext.Value("true")
	case "object":
		return jsontext.Value("{}")
	case "array":
		return jsontext.Value("[]")
	}
	return jsontext.Value(`"us-west1"`)
}

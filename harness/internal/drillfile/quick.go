package drillfile

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/scenario"
)

// Quick is a drill in a few words, for a first try.
type Quick struct {
	Command []string // one of Command and URL
	URL     string
	Tool    string
	Args    string // a JSON object
	Key     string // the key's argument; "": none
	// ProbeTool is a reading tool whose answer shows the effects at ProbePointer.
	ProbeTool, ProbePointer string
}

// NewQuick makes the drill.
func NewQuick(q Quick, o Options) (*Drill, error) {
	args := jsontext.Value(q.Args)
	if !args.IsValid() || args.Kind() != '{' {
		return nil, failure.Errorf(failure.ScenarioInvalid, "--args %.60q is no JSON object; write it like '{\"sku\":\"A-17\"}'", q.Args)
	}
	p, err := jsondoc.ParsePointer(q.ProbePointer)
	if err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "--probe-pointer: %w", err)
	}
	const name = "server"
	server := scenario.Server{Name: name, Command: q.Command, URL: q.URL}
	return &Drill{
		Name: q.Tool, File: "the command line",
		Spec: drill.Spec{Name: q.Tool, Tool: q.Tool, Args: args, Key: drill.KeySpec{Field: q.Key}},
		target: Target{
			options: o.World, file: "the command line", place: scenario.Run{Server: name},
			servers: map[string]scenario.Server{name: server},
			probe: scenario.Probe{
				Of: q.Tool, Pointer: p, Tool: &scenario.ToolProbe{Server: name, Name: q.ProbeTool, Args: jsontext.Value("{}")},
			},
		},
	}, nil
}

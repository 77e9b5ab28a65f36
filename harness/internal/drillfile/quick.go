package drillfile

import (
	"cmp"
	"regexp"

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
	// ProbeTool is a reading tool whose answer, to ProbeArgs, shows the effects: at
	// ProbePointer, or by what ProbeMatches fits.
	ProbeTool, ProbeArgs, ProbePointer, ProbeMatches string
}

const quickServer = "server"

// NewQuick makes the drill.
func NewQuick(q Quick, o Options) (*Drill, error) {
	args := jsontext.Value(q.Args)
	if !args.IsValid() || args.Kind() != '{' {
		return nil, failure.Errorf(failure.ScenarioInvalid, "--args %.60q is no JSON object; write it like '{\"sku\":\"A-17\"}'", q.Args)
	}
	probe, err := q.probe()
	if err != nil {
		return nil, err
	}
	server := scenario.Server{Name: quickServer, Command: q.Command, URL: q.URL}
	return &Drill{
		Name: q.Tool, File: "the command line",
		Spec: drill.Spec{Name: q.Tool, Tool: q.Tool, Args: args, Key: drill.KeySpec{Field: q.Key}},
		target: Target{
			options: o.World, file: "the command line", place: scenario.Run{Server: quickServer},
			servers: map[string]scenario.Server{quickServer: server},
			probe:   probe,
		},
	}, nil
}

// probe is what counts.
func (q *Quick) probe() (scenario.Probe, error) {
	args := jsontext.Value(cmp.Or(q.ProbeArgs, "{}"))
	p := scenario.Probe{Of: q.Tool, Tool: &scenario.ToolProbe{Server: quickServer, Name: q.ProbeTool, Args: args}}
	if !args.IsValid() || args.Kind() != '{' {
		return p, failure.Errorf(failure.ScenarioInvalid, "--probe-args %.60q is no JSON object", q.ProbeArgs)
	}
	var err error
	if p.Pointer, err = jsondoc.ParsePointer(q.ProbePointer); err != nil {
		return p, failure.Errorf(failure.ScenarioInvalid, "--probe-pointer: %w", err)
	}
	if q.ProbeMatches == "" {
		return p, nil
	}
	if p.Matches, err = regexp.Compile(q.ProbeMatches); err != nil {
		return p, failure.Errorf(failure.ScenarioInvalid, "--probe-matches: %w", err)
	}
	return p, nil
}

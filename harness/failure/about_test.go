package failure_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
)

// frozen is the closed set as reports have stored it: name, layer, whether a
// retry may help, part. A line is added, never changed.
const frozen = `
cassette_miss - final agent
cassette_unplayed - final agent
cassette_invalid - final cassette
scenario_invalid - final scenario
golden_invalid - final harness
world - final harness
interrupted - final harness
internal - final harness
transport platform retryable model
timeout infrastructure retryable model
rate_limited infrastructure retryable model
overloaded infrastructure retryable model
server_error infrastructure retryable model
client_error validation final agent
unauthorized infrastructure final model
protocol platform final model
truncated platform final model
refused business final model
malformed validation final model
empty_response platform final model
unknown_stop_reason platform final model
unknown_tool validation final model
duplicate_call_id validation final model
iteration_cap - final agent
pause_cap - final agent
repeated_call - final agent
token_budget - final agent
tool_call_budget - final agent
time_budget - final agent
partial_failure - final tool
tool_error_cap - final tool
tool_invalid_arguments validation final model
tool_blocked business final model
tool_not_approved business final model
tool_failed business final tool
tool_unavailable infrastructure retryable tool
tool_timeout infrastructure retryable tool
tool_bad_output infrastructure final tool
expectation - final agent
golden - final agent
contract - final agent
budget - final agent
agent - final agent
diverged - final scenario
unjudged - final scenario
`

func TestTheSetIsFrozen(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n")
	for _, i := range failure.All() {
		layer, retry := string(i.Layer), "final"
		if layer == "" {
			layer = "-"
		}
		if i.Retryable {
			retry = "retryable"
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", i.Class, layer, retry, i.Part)
	}
	if diff := cmp.Diff(frozen, b.String()); diff != "" {
		t.Errorf("names, layers and parts are stored in reports and stay as they are (-frozen +now):\n%s", diff)
	}
}

// A class that nothing is known of would be the agent's, whoever is to blame.
func TestEveryClassIsInTheTable(t *testing.T) {
	classes := constants(t)
	if len(classes) != len(failure.All()) {
		t.Errorf("%d constants, %d lines in the table", len(classes), len(failure.All()))
	}
	known := map[failure.Class]bool{}
	for _, i := range failure.All() {
		known[i.Class] = true
	}
	for _, c := range classes {
		if !known[c] {
			t.Errorf("%s is missing in the table", c)
		}
	}
}

// constants are the values of the constants of type Class but None, by the
// source.
func constants(t *testing.T) []failure.Class {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "failure.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []failure.Class
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := v.Type.(*ast.Ident); !ok || name.Name != "Class" || len(v.Values) != 1 {
			return true
		}
		text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if text != "" {
			out = append(out, failure.Class(text))
		}
		return true
	})
	return out
}

func TestAbout(t *testing.T) {
	for _, tc := range []struct {
		why   string
		class failure.Class
		want  failure.Info
	}{
		{"of the set", failure.ToolTimeout, failure.Info{Class: failure.ToolTimeout, Layer: failure.LayerInfrastructure, Retryable: true, Part: failure.PartTool}},
		{"an agent's own word", "gave_up", failure.Info{Class: "gave_up", Part: failure.PartAgent}},
		{"a run that completed is the agent's, too", failure.None, failure.Info{Part: failure.PartAgent}},
	} {
		if diff := cmp.Diff(tc.want, failure.About(tc.class)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

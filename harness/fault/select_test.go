package fault_test

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
)

func TestSelect(t *testing.T) {
	for _, tc := range []struct {
		why, words, want string
	}{
		{"all", "", strings.Join(fault.Names(), " ")},
		{"names, in their order", "tool.panic model.reset", "tool.panic model.reset"},
		{"a pattern", "host.r*", "host.regenerate"},
		{"each once", "model.duplicate_* model.duplicate_id host.r*", "model.duplicate_id model.duplicate_call host.regenerate"},
		{"a misspelled name", "tool.painc", `unknown fault "tool.painc" (did you mean "tool.panic"?); see: retake faults`},
		{"a pattern of nothing", "toll.*", `the pattern "toll.*" fits no fault; see: retake faults`},
		{"a pattern that is not closed", "tool.[a", `the pattern "tool.[a" fits no fault; see: retake faults`},
	} {
		faults, err := fault.Select(strings.Fields(tc.words)...)
		var names []string
		for _, f := range faults {
			names = append(names, f.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
			if failure.Of(err) != failure.ScenarioInvalid {
				t.Errorf("%s: class %s", tc.why, failure.Of(err))
			}
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.why, got, tc.want)
		}
	}
}

package agents_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/sweep"
)

// found is what an agent's loop does wrong under a fault: the rules of the contract
// that it breaks, none where it does what is right. harness/doc/peers.md tells it in
// words. A whole sweep takes minutes, a process for each run; these are the faults
// at which the loops differ, each at one place.
type found map[string]string

var badDays = map[string]found{
	"anthropic-toolrunner": {
		"model.overloaded@call=1":                "",
		"model.rate_limit@call=1,retry_after=1s": "",
		"model.truncated_stream@call=1,event=5":  "W14",
		"model.cut_in_tool_use@call=1":           "W14",
		"model.pause@call=1,times=12":            "W5",
		"model.endless_loop@call=1,times=12":     "W5 W15",
		"model.args_not_json@call=1":             "W8",
		"model.empty_turn@call=1":                "W14",
	},
	"openai-chat": {
		"model.overloaded@call=1":                "",
		"model.rate_limit@call=1,retry_after=1s": "",
		"model.duplicate_id@call=1":              "W1 W2",
		"model.endless_loop@call=1,times=12":     "W15",
		"model.context_exceeded@call=3":          "W14",
		"model.empty_turn@call=1":                "W14",
	},
	"typescript-anthropic": {
		"model.overloaded@call=1":                "",
		"model.rate_limit@call=1,retry_after=1s": "",
		"model.truncated_stream@call=1,event=5":  "",
		"model.cut_in_tool_use@call=1":           "W11",
		"model.pause@call=1":                     "W14",
		"model.endless_loop@call=1,times=12":     "W5 W15",
		"model.args_not_json@call=1":             "W11",
		"model.duplicate_id@call=1":              "W1 W2",
	},
	"typescript-vercel": {
		"model.overloaded@call=1":                "",
		"model.rate_limit@call=1,retry_after=1s": "",
		"model.cut_in_tool_use@call=1":           "W14",
		"model.duplicate_id@call=1":              "W1 W2 W11",
		"model.endless_loop@call=2":              "W14 W15",
		"model.args_not_json@call=1":             "W11",
	},
	"python": {
		"model.overloaded@call=1":                "",
		"model.rate_limit@call=1,retry_after=1s": "W12",
		"model.duplicate_id@call=1":              "W1 W2",
		"model.endless_loop@call=1,times=12":     "W15",
		"model.context_exceeded@call=3":          "W14",
		"model.empty_turn@call=1":                "W14",
	},
}

// What the loops do on bad days, found by their runs under faults.
func TestBadDays(t *testing.T) {
	for name, want := range badDays {
		t.Run(name, func(t *testing.T) {
			scenarios[name](t)
			days := under(t, name)
			for spec, rules := range want {
				t.Run(spec, func(t *testing.T) {
					t.Parallel()
					if r := days(t, spec); broken(r) != rules {
						t.Errorf("breaks %q, and what is written down is %q\n%s", broken(r), rules, r.Transcript)
					}
				})
			}
		})
	}
}

// under gives the runs of a scenario under a fault, as a sweep makes them.
func under(t *testing.T, name string) func(t *testing.T, spec string) *harness.Result {
	t.Helper()
	s, err := suite.Open(suite.Dirs{Root: "."}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	sc, err := s.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	params := func(t *testing.T, sc *scenario.Scenario) harness.Params {
		t.Helper()
		p, err := s.Params(sc, sc.Models[0], suite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	without := harness.Exec(t.Context(), params(t, sc))
	if without.Verdict != harness.Pass {
		t.Fatalf("without faults: %+v", without.Failures)
	}
	return func(t *testing.T, text string) *harness.Result {
		t.Helper()
		spec, err := fault.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		p := params(t, sc)
		p.Variant, p.ContractOnly = sweep.Variant(sc, without, []fault.Spec{spec}), true
		r := harness.Exec(t.Context(), p)
		for _, f := range r.Faults {
			if f.Times == 0 {
				t.Fatalf("%s never struck: %s", text, f.Why)
			}
		}
		return r
	}
}

// broken names the rules that a run breaks, by their numbers.
func broken(r *harness.Result) string {
	var rules []string
	for i := range r.Findings {
		if f := &r.Findings[i]; f.State == contract.Breached {
			rules = append(rules, string(f.Rule))
		}
	}
	return strings.Join(slices.Compact(rules), " ")
}

package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/sweep"
)

// paramsOf are those of a scenario of this repository.
func paramsOf(tb testing.TB, name string) harness.Params {
	tb.Helper()
	s, err := suite.Open(suite.Dirs{Root: "../.."}, func(string) string { return "" })
	if err != nil {
		tb.Fatal(err)
	}
	sc, err := s.Load(name)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := s.Params(sc, sc.Models[0], suite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func sweepOf(tb testing.TB, p sweep.Params) *sweep.Report {
	tb.Helper()
	r, err := sweep.Run(tb.Context(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// Each of the usual mistakes is found, by the rule that it breaks, at the fault
// that brings it out.
func TestEachMistakeIsFound(t *testing.T) {
	for _, tc := range []struct {
		why      string
		agent    careless
		scenario string
		fault    string
		rule     string
	}{
		{"runs the calls of a turn that max_tokens has cut", careless{runsCutTurns: true}, "travel/umbrella", "model.cut_in_tool_use", "W4"},
		{"runs the calls of a refusal", careless{runsCutTurns: true}, "travel/umbrella", "model.refusal", "W4"},
		{"runs the calls of a stream without its end", careless{runsCutTurns: true}, "travel/umbrella-stream", "model.truncated_stream", "W4"},
		{"runs the calls of a turn with an unknown stop reason", careless{runsCutTurns: true}, "travel/umbrella", "model.unknown_stop", "W4"},
		{"drops the result of a call that failed", careless{dropsFailed: true}, "travel/umbrella", "tool.unavailable", "W1"},
		{"drops the result of one of several calls", careless{dropsFailed: true}, "travel/umbrella", "tool.partial_batch", "W1"},
		{"drops the result of a call that was rejected", careless{dropsFailed: true}, "travel/umbrella", "model.bad_args", "W1"},
		{"says something before an error", careless{textFirst: true}, "travel/umbrella", "tool.unavailable", "W3"},
		{"tries again after a 400", careless{retriesAll: true}, "travel/umbrella", "model.client_error", "W12"},
		{"tries again without a bound", careless{retriesAll: true, neverStops: true}, "travel/umbrella", "model.overloaded", "W12"},
		{"tries again without a bound after a body that was cut", careless{retriesAll: true, neverStops: true}, "travel/umbrella", "model.short_body", "W12"},
		{"and after a connection that broke in a stream", careless{retriesAll: true, neverStops: true}, "travel/umbrella-stream", "model.reset", "W12"},
		{"does not wait as long as it is asked to", careless{impatient: true}, "travel/umbrella", "model.rate_limit", "W12"},
		{"calls a tool again after a final error", careless{repeatsTools: true}, "travel/umbrella", "tool.not_retryable", "W12"},
		{"calls a tool again under an id of its own", careless{freshIDs: true}, "travel/umbrella", "tool.timeout_before", "W4"},
		{"doubles a message whose answer was lost", careless{freshIDs: true}, "checkout/gift", "tool.lost_ack", "W6"},
		{"tells the model what the error says", careless{passesErrors: true}, "travel/umbrella", "tool.leaky_error", "W8"},
		{"never stops calling the same tool", careless{noCap: true}, "travel/umbrella", "model.endless_loop", "W15"},
		{"never stops asking a model that pauses", careless{noCap: true}, "travel/umbrella", "model.pause", "W5"},
		{"takes an empty turn for success", careless{silent: true}, "travel/umbrella", "model.empty_turn", "W14"},
		{"takes a page of a gateway for an answer", careless{silent: true}, "travel/umbrella", "model.bad_body", "W14"},
		{"takes a cut answer for the whole", careless{silent: true}, "travel/umbrella-stream", "model.truncated_stream", "W14"},
		{"takes an unknown stop reason for the end", careless{silent: true}, "travel/umbrella", "model.unknown_stop", "W14"},
		{"takes a full context for the end", careless{silent: true}, "travel/umbrella", "model.context_exceeded", "W14"},
		{"runs both calls of one id and sends both back", careless{runsTwice: true}, "travel/umbrella", "model.duplicate_id", "W2"},
		{"adds a word before it tries again", careless{pleads: true}, "travel/umbrella", "model.overloaded", "cassette_miss"},
		{"begins the task anew after an overload", careless{startsOver: true}, "travel/umbrella", "model.server_error", "cassette_miss"},
		{"answers by itself when the model gives an error", careless{invents: true}, "travel/umbrella", "model.client_error", "cassette_unplayed"},
		{"leaves a turn out of the history", careless{forgets: true}, "travel/umbrella", "tool.unavailable", "W11"},
	} {
		r := sweepOf(t, sweep.Params{Run: with(paramsOf(t, tc.scenario), tc.agent), Only: []string{tc.fault}})
		if !breachesRule(r, tc.rule) {
			t.Errorf("%s: %s does not bring out %s:\n%s", tc.why, tc.fault, tc.rule, r.AppendText(nil))
		}
	}
}

func with(p harness.Params, a harness.Agent) harness.Params {
	p.Agent = a
	return p
}

func breachesRule(r *sweep.Report, rule string) bool {
	return slices.ContainsFunc(r.Breached(), func(o sweep.Outcome) bool {
		return slices.ContainsFunc(o.Breaches, func(b sweep.Breach) bool { return b.Rule == rule })
	})
}

// The write without a key is found out, wherever a second delivery reaches it, and
// it is the tool that is to blame; nothing else is breached, by either loop.
func TestTheWriteWithoutAKeyIsFoundOut(t *testing.T) {
	for _, a := range []harness.Agent{nil, careless{}} {
		p := paramsOf(t, "checkout/gift")
		if a != nil {
			p.Agent = a
		}
		r := sweepOf(t, sweep.Params{Run: p})
		faults := map[string]bool{}
		for _, o := range r.Breached() {
			name, _, _ := strings.Cut(o.Spec, "@")
			faults[name] = true
			for _, b := range o.Breaches {
				if b.Rule != "W6" || b.Part != "tool" || !strings.HasPrefix(b.What, "send_confirmation: ") {
					t.Errorf("%T, %s: %+v", a, o.Spec, b)
				}
			}
		}
		for _, name := range []string{"model.duplicate_call", "model.endless_loop", "tool.duplicate_delivery", "host.regenerate"} {
			if !faults[name] {
				t.Errorf("%T: %s does not bring it out:\n%s", a, name, r.AppendText(nil))
			}
		}
	}
}

// Without its mistakes the careless loop keeps the contract, and so does the
// reference loop: what a sweep reports is never the sweep's own doing.
func TestTheSweepFindsNothingElse(t *testing.T) {
	for _, name := range []string{"travel/umbrella", "travel/umbrella-stream", "travel/tool-error", "travel/blocked"} {
		for _, a := range []harness.Agent{nil, careless{}} {
			p := paramsOf(t, name)
			if a != nil {
				p.Agent = a
			}
			if r := sweepOf(t, sweep.Params{Run: p}); r.Totals.Breached > 0 || r.Totals.Held == 0 {
				t.Errorf("%s with %T:\n%s", name, a, r.AppendText(nil))
			}
		}
	}
}

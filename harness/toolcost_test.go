package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/journal"
)

func TestToolCost(t *testing.T) {
	of := func(n float64) *float64 { return &n }
	call := func(n int, tool string) *journal.ToolCall { return &journal.ToolCall{Ordinal: n, Tool: tool} }
	try := func(n int, reached bool) *journal.ToolAttempt { return &journal.ToolAttempt{Call: n, Reached: reached} }
	prices := map[string]float64{"search": 0.25, "free": 0}
	for _, tc := range []struct {
		why   string
		calls []*journal.ToolCall
		tries []*journal.ToolAttempt
		each  []*float64
		sum   *float64
	}{
		{"no calls cost nothing", nil, nil, nil, of(0)},
		{"each try costs", []*journal.ToolCall{call(1, "search")}, []*journal.ToolAttempt{try(1, true), try(1, true)}, []*float64{of(0.5)}, of(0.5)},
		{"a try that reached nothing is free", []*journal.ToolCall{call(1, "search")}, []*journal.ToolAttempt{try(1, false), try(1, true)}, []*float64{of(0.25)}, of(0.25)},
		{"what is free is known", []*journal.ToolCall{call(1, "free")}, []*journal.ToolAttempt{try(1, true)}, []*float64{of(0)}, of(0)},
		{
			"an unknown price makes the sum unknown, never less",
			[]*journal.ToolCall{call(1, "search"), call(2, "other"), call(3, "search")},
			[]*journal.ToolAttempt{try(1, true), try(2, true), try(3, true)},
			[]*float64{of(0.25), nil, of(0.25)},
			nil,
		},
		{"but not when nobody was asked", []*journal.ToolCall{call(1, "other")}, nil, []*float64{of(0)}, of(0)},
	} {
		r := &Result{Calls: tc.calls, Attempts: tc.tries}
		r.priceTools(prices)
		var each []*float64
		for _, c := range r.Calls {
			each = append(each, c.Cost)
		}
		if diff := cmp.Diff(tc.each, each) + cmp.Diff(tc.sum, r.ToolCost); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

package harness

import (
	"cmp"
	"slices"

	"github.com/retake-harness/retake/harness/journal"
)

// renumber puts the numbers of tool calls into the order in which the model made
// the calls. On package time an agent may start them from goroutines, and the
// order of arrival is then chance; on a virtual clock it is not. The runs of a task
// stay apart: each begins when the calls of those before have their numbers.
func renumber(j *journal.Journal, begins []begin) {
	run := func(c *journal.ToolCall) int {
		n := 0
		for n < len(begins) && c.Ordinal > begins[n].calls {
			n++
		}
		return n
	}
	place := map[string]int{} // call id → rank among all calls of the model
	for _, m := range journal.Of[*journal.ModelAttempt](j) {
		if m.Response == nil {
			continue
		}
		for _, c := range m.Response.Calls() {
			if _, ok := place[c.ID]; !ok && c.ID != "" {
				place[c.ID] = len(place)
			}
		}
	}
	calls := journal.Of[*journal.ToolCall](j)
	slices.SortStableFunc(calls, func(a, b *journal.ToolCall) int {
		if d := cmp.Compare(run(a), run(b)); d != 0 {
			return d
		}
		pa, oka := place[a.CallID]
		pb, okb := place[b.CallID]
		if oka && okb {
			return cmp.Compare(pa, pb)
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Tool, b.Tool), cmp.Compare(string(a.Args), string(b.Args)))
	})
	number := map[int]int{}
	for i, c := range calls {
		number[c.Ordinal] = i + 1
		c.Ordinal = i + 1
	}
	for _, a := range journal.Of[*journal.ToolAttempt](j) {
		a.Call = number[a.Call]
	}
}

// byNumber puts calls and attempts into the order of their numbers.
func (r *Result) byNumber() {
	slices.SortStableFunc(r.Calls, func(a, b *journal.ToolCall) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	slices.SortStableFunc(r.Attempts, func(a, b *journal.ToolAttempt) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Attempt, b.Attempt))
	})
}

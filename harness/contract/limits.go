package contract

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// budget is W5.
func (r *run) budget() {
	t := &r.Terms
	var tokens, last int64
	for _, a := range r.answers {
		last = a.Response.Usage.Total()
		tokens += last
	}
	made := 0
	for _, a := range r.turns {
		made += len(a.Response.Calls())
	}
	if r.ToolSeam {
		made = len(r.Calls)
	}
	r.within("model turns", int64(len(r.turns)), int64(t.Iterations))
	// The turn that goes over the budget is known only when it is there; what
	// counts is that the run ends then.
	if n := len(r.answers); n == 0 || !r.gaveUpAt(r.answers[n-1]) || tokens-last > t.Tokens {
		r.within("tokens", tokens, t.Tokens)
	}
	r.within("tool calls", int64(made), int64(t.ToolCalls))
	if n := atOnce(r.Calls); t.Parallel > 0 && n > t.Parallel {
		r.breach(Breach{What: fmt.Sprintf("%d tool calls at once, at most %d", n, t.Parallel)})
	}
	r.largeResults()
	r.time()
}

func (r *run) within(what string, got, limit int64) {
	if limit > 0 && got > limit {
		r.breach(Breach{What: fmt.Sprintf("%d %s, budget %d", got, what, limit)})
	}
}

// time tells, beside how long it took, how much of that the provider asked for:
// a loop that obeys a header of an hour keeps W12, and its time is up all the same.
func (r *run) time() {
	limit := r.Terms.Time
	if limit <= 0 || r.Elapsed <= limit {
		return
	}
	what := fmt.Sprintf("%v on the run's clock, budget %v", r.Elapsed.Round(time.Millisecond), limit)
	var asked time.Duration
	for i, q := range r.requests {
		if prev := r.retryOf(i); prev != nil {
			asked += max(0, min(waited(prev, q), prev.RetryAfter))
		}
	}
	if asked > 0 {
		what += fmt.Sprintf("; %v of it were spent waiting as the provider asked", asked.Round(time.Millisecond))
	}
	r.breach(Breach{What: what})
}

// atOnce is the most calls that ran at the same moment.
func atOnce(calls []*journal.ToolCall) int {
	type change struct {
		at  time.Duration
		add int
	}
	var changes []change
	for _, c := range calls {
		if c.Latency > 0 {
			changes = append(changes, change{c.At, 1}, change{c.At + c.Latency, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.add-b.add) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.add
		most = max(most, now)
	}
	return most
}

// largeResults finds results that the model is shown in full though they are too
// large.
func (r *run) largeResults() {
	limit := r.Terms.ResultBytes
	if limit <= 0 {
		return
	}
	for _, q := range r.requests {
		for i := range q.Request.Messages {
			results, at := calls(&q.Request.Messages[i], wire.KindToolResult)
			for k, res := range results {
				if n := len(resultText(res)); n > limit {
					r.breach(Breach{
						Request: q.Ordinal, Block: block(i, at[k]),
						What: fmt.Sprintf("a result of %d bytes is shown to the model, at most %d; cut it with a mark that says so", n, limit),
					})
				}
			}
		}
	}
}

// repeats is W15. That the model makes the call once more is none of the loop's
// doing: it keeps the rule when it ends the run there, and the call does not run.
func (r *run) repeats() {
	seen := map[string]int{}
	for _, a := range r.turns {
		for _, c := range a.Response.Calls() {
			key := sameCall(c.Name, c.Args, c.ArgsText)
			seen[key]++
			if seen[key] == r.Terms.Repeats+1 && (!r.gaveUpAt(a) || r.ranFrom(a)) {
				r.breach(Breach{Request: a.Ordinal, What: fmt.Sprintf("%s comes more than %s with the same arguments", c.Name, times(r.Terms.Repeats))})
			}
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// gaveUpAt tells that the run ended with this answer, and not as if all were done.
func (r *run) gaveUpAt(a *journal.ModelAttempt) bool {
	return r.Ended != nil && r.Ended.Class != failure.None && a == r.requests[len(r.requests)-1]
}

// ranFrom tells whether a call of this answer reached its tool.
func (r *run) ranFrom(a *journal.ModelAttempt) bool {
	return slices.ContainsFunc(r.Calls, func(c *journal.ToolCall) bool { return r.source(c.Ordinal).turn == a && r.reached(c.Ordinal) })
}

// stoppedBy tells that the run ended so.
func (r *run) stoppedBy(c failure.Class) bool { return r.Ended != nil && r.Ended.Class == c }

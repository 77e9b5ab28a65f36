package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// budget is W5.
func (r *run) budget() {
	t := r.Terms
	var tokens int64
	made := 0
	for _, a := range r.answers {
		tokens += a.Response.Usage.Total()
		made += len(a.Response.Calls())
	}
	if r.ToolSeam {
		made = len(r.Calls)
	}
	over := func(what string, got, limit int64) {
		if limit > 0 && got > limit {
			r.breach(Breach{What: fmt.Sprintf("%d %s, budget %d", got, what, limit)})
		}
	}
	over("model turns", int64(len(r.answers)), int64(t.Iterations))
	// The turn that goes over the budget is known only when it is there; what
	// counts is that the run ends then.
	if t.Tokens > 0 && tokens > t.Tokens && (r.Ended == nil || r.Ended.Class != failure.TokenBudget) {
		over("tokens", tokens, t.Tokens)
	}
	over("tool calls", int64(made), int64(t.ToolCalls))
	if t.Time > 0 && r.Elapsed > t.Time {
		r.breach(Breach{What: fmt.Sprintf("%v on the run's clock, budget %v", r.Elapsed.Round(time.Millisecond), t.Time)})
	}
}

// effects is W6.
func (r *run) effects() {
	names := map[string]bool{}
	for n := range r.Ledger {
		names[n] = true
	}
	for n := range r.Terms.Effects {
		names[n] = true
	}
	var sorted []string
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for _, n := range sorted {
		if got, want := r.Ledger[n], r.Terms.Effects[n]; got != want {
			r.breach(Breach{What: fmt.Sprintf("%s: %d effects, expected %d", n, got, want)})
		}
	}
}

// retries is W12: an HTTP attempt that repeats the one before is a retry.
func (r *run) retries() {
	tries := 1
	for i := 1; i < len(r.requests); i++ {
		prev, cur := r.requests[i-1], r.requests[i]
		if r.isRetry(prev, cur) {
			tries++
			r.retry(prev, cur)
			continue
		}
		r.bounded(prev, tries)
		tries = 1
	}
	if n := len(r.requests); n > 0 {
		r.bounded(r.requests[n-1], tries)
	}
}

// bounded holds the attempts of one call, of which last is the last, against
// their bound.
func (r *run) bounded(last *journal.ModelAttempt, tries int) {
	if n := r.Terms.ModelAttempts; n > 0 && tries > n {
		r.breach(Breach{Request: last.Ordinal, What: fmt.Sprintf("%d attempts of one model call, the bound is %d", tries, n)})
	}
}

// retry looks at one repetition: whether it is due, and the wait before it.
func (r *run) retry(prev, cur *journal.ModelAttempt) {
	final := prev.Class == failure.Unauthorized || prev.Class == failure.ClientError && prev.Status != http.StatusConflict
	if final {
		r.breach(Breach{Request: cur.Ordinal, What: fmt.Sprintf("retried after %s (status %d), which does not pass by itself", prev.Class, prev.Status)})
	}
	waited, asked, most := cur.At-prev.At-prev.Latency, prev.RetryAfter, r.Terms.RetryAfterCap
	switch {
	case asked <= 0:
	case waited < asked:
		r.breach(Breach{Request: cur.Ordinal, What: fmt.Sprintf("retried after %v, the provider asked for %v", waited, asked)})
	case most > 0 && asked > most:
		r.breach(Breach{Request: cur.Ordinal, What: fmt.Sprintf(
			"waited %v because the provider asked for it, the policy gives up at more than %v", waited, most)})
	}
}

// retried tells whether any attempt repeats the one before.
func (r *run) retried() bool {
	for i := 1; i < len(r.requests); i++ {
		if r.isRetry(r.requests[i-1], r.requests[i]) {
			return true
		}
	}
	return false
}

func (r *run) isRetry(prev, cur *journal.ModelAttempt) bool {
	return !answered(prev) && len(prev.Request.Messages) == len(cur.Request.Messages) &&
		wire.HasPrefix(cur.Request.Messages, prev.Request.Messages)
}

// repeats is W15.
func (r *run) repeats() {
	seen := map[string]int{}
	for _, a := range r.answers {
		for _, c := range a.Response.Calls() {
			key := sameCall(c.Name, c.Args, c.ArgsText)
			seen[key]++
			if seen[key] == r.Terms.Repeats+1 && !r.stoppedBy(failure.RepeatedCall) {
				r.breach(Breach{Request: a.Ordinal, What: fmt.Sprintf("%s comes more than %d times with the same arguments", c.Name, r.Terms.Repeats)})
			}
		}
	}
}

// stoppedBy tells that the loop itself ended the run for that reason, which is
// what it should do.
func (r *run) stoppedBy(c failure.Class) bool { return r.Ended != nil && r.Ended.Class == c }

// choice is W16.
func (r *run) choice() {
	for _, a := range r.answers {
		if a.Response.Stop != wire.StopDone && a.Response.Stop != wire.StopToolCalls {
			continue
		}
		made := a.Response.Calls()
		if why := brokenChoice(a.Request.ToolChoice, made); why != "" {
			r.breach(Breach{Request: a.Ordinal, What: why, Part: failure.PartModel})
		}
	}
}

func brokenChoice(c wire.ToolChoice, made []wire.Block) string {
	switch {
	case c.Mode == wire.ChoiceNone && len(made) > 0:
		return "tool_choice none, and the model called " + made[0].Name
	case c.Mode == wire.ChoiceAny && len(made) == 0:
		return "tool_choice any, and the model called nothing"
	case c.Mode == wire.ChoiceTool && len(made) == 0:
		return "tool_choice " + c.Name + ", and the model called nothing"
	case c.Mode == wire.ChoiceTool && slices.ContainsFunc(made, func(b wire.Block) bool { return b.Name != c.Name }):
		return "tool_choice " + c.Name + ", and the model called another tool"
	case c.NoParallel && len(made) > 1:
		return fmt.Sprintf("parallel calls are off, and the model made %d", len(made))
	}
	return ""
}

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ids is W9.
func (r *run) ids() {
	bad := func(what, id string) {
		r.breach(Breach{What: fmt.Sprintf("%s %q is not 1 to 64 letters, digits, - or _", what, id), Part: failure.PartHarness})
	}
	if !validID.MatchString(r.Terms.TaskID) {
		bad("task id", r.Terms.TaskID)
	}
	seen := map[string]bool{}
	for _, id := range r.Terms.AttemptIDs {
		if !validID.MatchString(id) {
			bad("attempt id", id)
		}
		if seen[id] {
			r.breach(Breach{What: fmt.Sprintf("attempt id %q is used twice", id), Part: failure.PartHarness})
		}
		seen[id] = true
	}
}

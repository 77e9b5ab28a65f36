package contract

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// retries is W12.
func (r *run) retries() {
	r.modelRetries()
	r.toolRetries()
}

// modelRetries counts the attempts of each model call. An attempt that no
// recording answered is the harness's own affair, and so is what follows it.
func (r *run) modelRetries() {
	tries := make(map[*journal.ModelAttempt]int, len(r.requests)) // with the attempt that is the newest of its call
	for i, q := range r.requests {
		n := 1
		if prev := r.retryOf(i); prev != nil {
			n = tries[prev] + 1
			delete(tries, prev)
			r.retry(prev, q)
		}
		tries[q] = n
	}
	most := r.Terms.ModelAttempts
	for _, q := range r.requests {
		if n := tries[q]; most > 0 && n > most {
			r.breach(Breach{Request: q.Ordinal, What: fmt.Sprintf("%d attempts of one model call, the bound is %d", n, most)})
		}
	}
}

// retryOf is the attempt that request i repeats: the newest one with the same
// conversation, when it was not answered. nil when i begins a call.
func (r *run) retryOf(i int) *journal.ModelAttempt {
	cur := r.requests[i]
	for _, prev := range slices.Backward(r.requests[:i]) {
		if sameRequest(prev, cur) {
			if whole(prev) || prev.Class == failure.CassetteMiss {
				break
			}
			return prev
		}
	}
	var none *journal.ModelAttempt
	return none
}

func sameRequest(a, b *journal.ModelAttempt) bool {
	return len(a.Request.Messages) == len(b.Request.Messages) && a.Request.Model == b.Request.Model &&
		sameSystem(a.Request, b.Request) && wire.HasPrefix(b.Request.Messages, a.Request.Messages)
}

// waited is how long the agent waited between an answer and the next attempt.
func waited(prev, cur *journal.ModelAttempt) time.Duration { return cur.At - prev.At - prev.Latency }

// retry looks at one repetition: whether it is due, and the wait before it. That
// the wait was long is no matter of this rule: its time counts (W5).
func (r *run) retry(prev, cur *journal.ModelAttempt) {
	final := prev.Class == failure.Unauthorized || prev.Class == failure.ClientError && prev.Status != http.StatusConflict
	if final {
		r.breach(Breach{Request: cur.Ordinal, What: fmt.Sprintf("retried after %s (status %d), which does not pass by itself", prev.Class, prev.Status)})
	}
	if w := waited(prev, cur); w < prev.RetryAfter {
		r.breach(Breach{Request: cur.Ordinal, What: fmt.Sprintf("retried after %v, the provider asked for %v", w, prev.RetryAfter)})
	}
}

// retried tells whether anything was tried again.
func (r *run) retried() bool {
	for i := range r.requests {
		if r.retryOf(i) != nil {
			return true
		}
	}
	return slices.ContainsFunc(r.toolTries(), func(tries []*journal.ToolAttempt) bool { return len(tries) > 1 })
}

// toolRetries holds the attempts of each call that the model made against what the
// tool said of them, however the agent went about it: by attempts of one call, or
// by calling again under the same id.
func (r *run) toolRetries() {
	for _, tries := range r.toolTries() {
		first := tries[0]
		request := r.at(first.Call)
		for i, a := range tries[1:] {
			if why := notDue(tries[i]); why != "" {
				r.breach(Breach{Request: request, What: fmt.Sprintf("%s was called again %s", a.Tool, why)})
			}
		}
		if most, ok := r.Terms.ToolAttempts[first.Tool]; ok && len(tries) > max(most, 1) {
			r.breach(Breach{Request: request, What: fmt.Sprintf("%d attempts of one call of %s, the bound is %d", len(tries), first.Tool, max(most, 1))})
		}
	}
}

// notDue says why nothing may follow an attempt, "" when something may.
func notDue(a *journal.ToolAttempt) string {
	switch {
	case a.Outcome == journal.OK:
		return "although it had succeeded"
	case !a.Retryable && a.Outcome == journal.Unknown:
		return fmt.Sprintf("although it may have succeeded (%s)", codeOf(a))
	case !a.Retryable:
		return fmt.Sprintf("after %s, which is not retryable", codeOf(a))
	}
	return ""
}

// codeOf is how an attempt's error is called.
func codeOf(a *journal.ToolAttempt) string { return cmp.Or(a.Code, string(a.Class), "an error") }

// toolTries are the attempts of each call that the model made, in their order. Of
// calls that a turn makes several times in the same words, each counts for itself.
func (r *run) toolTries() [][]*journal.ToolAttempt {
	type key struct {
		turn *journal.ModelAttempt
		as   string
		call int
	}
	index := map[key]int{}
	var out [][]*journal.ToolAttempt
	for _, a := range r.inOrder() {
		k := key{call: a.Call}
		if s := r.source(a.Call); s.turn != nil && !s.many {
			k = key{turn: s.turn, as: s.as}
		}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], a)
	}
	return out
}

// inOrder are the attempts by call and attempt, without those that no recording
// answered.
func (r *run) inOrder() []*journal.ToolAttempt {
	var out []*journal.ToolAttempt
	for _, a := range r.Attempts {
		if a.Class != failure.CassetteMiss {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b *journal.ToolAttempt) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Attempt, b.Attempt))
	})
	return out
}

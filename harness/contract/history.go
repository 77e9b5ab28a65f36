package contract

import (
	"fmt"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// appendOnly is W11.
func (r *run) appendOnly() {
	if r.Terms.Compaction {
		return
	}
	for i, a := range r.requests {
		msgs := a.Request.Messages
		if len(msgs) == 0 || r.goesOn(i) {
			continue
		}
		if prev := r.sameBeginning(i); prev != nil {
			r.breach(Breach{
				Request: a.Ordinal, Block: fmt.Sprintf("messages/%d", firstChange(msgs, prev)),
				What: fmt.Sprintf("the history is not that of request %d with its answer", prev.Ordinal),
			})
		}
	}
}

// goesOn tells whether request i begins with an earlier request and its answer,
// or is an earlier request once more.
func (r *run) goesOn(i int) bool {
	msgs := r.requests[i].Request.Messages
	for k := i - 1; k >= 0; k-- {
		prev := r.requests[k]
		if len(prev.Request.Messages) == len(msgs) && wire.HasPrefix(msgs, prev.Request.Messages) {
			return true
		}
		if answered(prev) && wire.HasPrefix(msgs, history(prev)) {
			return true
		}
	}
	return false
}

// sameBeginning is the newest answered request before i that led the same
// conversation, by its first message; nil when i begins one.
func (r *run) sameBeginning(i int) *journal.ModelAttempt {
	for k := i - 1; k >= 0; k-- {
		prev := r.requests[k]
		if answered(prev) && len(prev.Request.Messages) > 0 && wire.HasPrefix(r.requests[i].Request.Messages, prev.Request.Messages[:1]) &&
			sameSystem(prev.Request, r.requests[i].Request) {
			return prev
		}
	}
	return nil
}

func sameSystem(a, b *wire.Request) bool {
	as := []wire.Message{{Blocks: a.System}}
	return wire.HasPrefix([]wire.Message{{Blocks: b.System}}, as)
}

func answered(m *journal.ModelAttempt) bool { return m.Response != nil && m.Response.Err == nil }

// whole tells that the answer came to its end: after a part of one a further
// attempt is a retry.
func whole(m *journal.ModelAttempt) bool { return answered(m) && m.Response.Complete }

func history(m *journal.ModelAttempt) []wire.Message {
	return append(append([]wire.Message(nil), m.Request.Messages...), m.Response.Message)
}

func firstChange(msgs []wire.Message, prev *journal.ModelAttempt) int {
	want := history(prev)
	for n := 1; n <= len(want); n++ {
		if !wire.HasPrefix(msgs, want[:n]) {
			return n - 1
		}
	}
	return len(want)
}

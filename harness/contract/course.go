package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// asked is W4: each call that reached a tool stands in a complete turn whose
// stop reason asks for tools.
func (r *run) asked() {
	for _, c := range r.Calls {
		if !r.reached(c.Ordinal) {
			continue
		}
		from := r.origin(c)
		switch {
		case from == nil:
			r.breach(Breach{What: fmt.Sprintf("%s ran and no turn of the model asked for it", c.Tool)})
		case !from.Response.Complete:
			r.breach(Breach{Request: from.Ordinal, What: fmt.Sprintf("%s ran and a part of the answer that asked for it is missing", c.Tool)})
		case from.Response.Stop != wire.StopToolCalls:
			r.breach(Breach{Request: from.Ordinal, What: fmt.Sprintf(
				"%s ran and its turn ended with %s (%s)", c.Tool, from.Response.Stop, strings.Join(from.Response.RawStop, ", "))})
		}
	}
}

func (r *run) reached(call int) bool {
	for _, a := range r.Attempts {
		if a.Call == call && a.Reached {
			return true
		}
	}
	return false
}

// origin is the newest answer before the call that contains it: by its id, else
// by tool and arguments.
func (r *run) origin(c *journal.ToolCall) *journal.ModelAttempt {
	want := sameCall(c.Tool, c.Args, c.ArgsText)
	for _, a := range slices.Backward(r.answers) {
		if a.At > c.At {
			continue
		}
		for _, b := range a.Response.Calls() {
			if (c.CallID != "" && b.ID == c.CallID) || (c.CallID == "" && b.Name == c.Tool && sameCall(b.Name, b.Args, b.ArgsText) == want) {
				return a
			}
		}
	}
	return nil
}

// outcomes is W7.
func (r *run) outcomes() {
	for _, a := range r.Attempts {
		switch a.Outcome {
		case journal.OK, journal.Rejected, journal.Failed, journal.Unknown:
		default:
			r.breach(Breach{What: fmt.Sprintf("attempt %d of %s ended as %q", a.Attempt, a.Tool, a.Outcome), Part: failure.PartHarness})
		}
	}
}

// blocked is W13.
func (r *run) blocked() {
	for _, a := range r.Attempts {
		if !a.Reached {
			continue
		}
		if r.Terms.Blocked[a.Tool] || a.Class == failure.ToolBlocked || a.Class == failure.ToolNotApproved {
			r.breach(Breach{What: fmt.Sprintf("%s reached the tool in spite of the policy", a.Tool)})
		}
	}
}

// openEnd is W14.
func (r *run) openEnd() {
	if len(r.answers) == 0 {
		return
	}
	last := r.answers[len(r.answers)-1]
	switch {
	case last.Response.Stop == wire.StopToolCalls:
		r.breach(Breach{Request: last.Ordinal, What: "the run ended as completed, and the model was waiting for the results of its calls"})
	case !last.Response.Complete:
		r.breach(Breach{Request: last.Ordinal, What: "the run ended as completed, and a part of the model's last answer is missing"})
	}
}

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

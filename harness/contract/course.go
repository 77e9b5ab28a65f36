package contract

import (
	"cmp"
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
		source := r.source(c.Ordinal)
		from := source.turn
		switch {
		case from == nil:
			r.breach(Breach{What: fmt.Sprintf("%s ran and no turn of the model asked for it", c.Tool)})
		case !from.Response.Complete:
			r.breach(Breach{Request: from.Ordinal, What: fmt.Sprintf("%s ran and a part of the answer that asked for it is missing", c.Tool)})
		case from.Response.Stop != wire.StopToolCalls:
			r.breach(Breach{Request: from.Ordinal, What: fmt.Sprintf(
				"%s ran and its turn ended with %s", c.Tool, stopWords(from.Response))})
		case source.made.Args == nil && c.Args != nil && !source.many:
			r.breach(Breach{Request: from.Ordinal, What: fmt.Sprintf("%s ran with %s, and the arguments that the model wrote are no JSON", c.Tool, c.Args)})
		}
	}
}

// stopWords spells a stop with the provider's own words for it.
func stopWords(resp *wire.Response) string {
	stop := cmp.Or(string(resp.Stop), "no stop reason")
	if len(resp.RawStop) == 0 {
		return stop
	}
	return stop + " (" + strings.Join(resp.RawStop, ", ") + ")"
}

func (r *run) reached(call int) bool {
	for _, a := range r.Attempts {
		if a.Call == call && a.Reached {
			return true
		}
	}
	return false
}

// source is where a call comes from.
type source struct {
	turn *journal.ModelAttempt // nil: no turn asked for it
	as   string                // how the turn knows the call: by its id, else by tool and arguments
	made wire.Block            // the call as the model wrote it
	many bool                  // several calls of the turn are known so
}

// source finds where a call comes from: the newest answer before it that contains
// it. Each call is looked for once.
func (r *run) source(call int) source {
	if r.sources == nil {
		r.sources = make(map[int]source, len(r.Calls))
		for _, c := range r.Calls {
			r.sources[c.Ordinal] = r.find(c)
		}
	}
	return r.sources[call]
}

func (r *run) find(c *journal.ToolCall) source {
	as := c.CallID
	if as == "" {
		as = sameCall(c.Tool, c.Args, c.ArgsText)
	}
	for _, a := range slices.Backward(r.answers) {
		if a.At > c.At {
			continue
		}
		s := source{turn: a, as: as}
		found := 0
		blocks, what := a.Response.Message.Blocks, r.whats(a, c)
		for i := range blocks {
			if b := &blocks[i]; b.Kind == wire.KindToolCall && (what == nil && b.ID == as || what != nil && what[i] == as) {
				found++
				s.made = *b
			}
		}
		if found > 0 {
			s.many = found > 1
			return s
		}
	}
	return source{as: as}
}

// whats are what the blocks of an answer ask for, for a call without an id; nil
// for one that has an id. They are written out once: a turn may make a thousand
// calls.
func (r *run) whats(a *journal.ModelAttempt, c *journal.ToolCall) []string {
	if c.CallID != "" {
		return nil
	}
	if known, ok := r.asks[a]; ok {
		return known
	}
	blocks := a.Response.Message.Blocks
	out := make([]string, len(blocks))
	for i := range blocks {
		if b := &blocks[i]; b.Kind == wire.KindToolCall {
			out[i] = sameCall(b.Name, b.Args, b.ArgsText)
		}
	}
	if r.asks == nil {
		r.asks = map[*journal.ModelAttempt][]string{}
	}
	r.asks[a] = out
	return out
}

// at is the request whose answer made a call, 0 when none did.
func (r *run) at(call int) int {
	if from := r.source(call).turn; from != nil {
		return from.Ordinal
	}
	return 0
}

// outcomes is W7.
func (r *run) outcomes() {
	type attempt struct{ call, number int }
	ended := map[attempt]bool{}
	for _, a := range r.Attempts {
		what := ""
		k := attempt{a.Call, a.Attempt}
		switch a.Outcome {
		case journal.OK, journal.Rejected, journal.Failed, journal.Unknown:
			if ended[k] {
				what = fmt.Sprintf("once more, as %s", a.Outcome)
			}
		default:
			what = fmt.Sprintf("as %q", a.Outcome)
		}
		ended[k] = true
		if what != "" {
			r.breach(Breach{Request: r.at(a.Call), What: fmt.Sprintf("attempt %d of %s ended %s", a.Attempt, a.Tool, what), Part: failure.PartHarness})
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
			r.breach(Breach{Request: r.at(a.Call), What: fmt.Sprintf("a call of %s %s reached the tool", a.Tool, refusal(r.Terms.Blocked[a.Tool], a.Class))})
		}
	}
}

// refusal says what stood against a call.
func refusal(blocked bool, class failure.Class) string {
	if !blocked && class == failure.ToolNotApproved {
		return "that nobody approved"
	}
	return "that the policy refuses"
}

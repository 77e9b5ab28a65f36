// Package transcript turns the events of a run into the text that goldens hold:
// one event after the other, meant to be read in a pull request.
//
// The text has no times, no token counts and no ids of the provider: calls are
// call-1, call-2 … in the order in which the model made them, arguments and
// results are canonical JSON. It is drawn from the wire, so it is the same for
// the reference loop and for a foreign agent: what a request adds to the
// history is printed, then what the model answered.
//
// The package also holds expected calls against made ones (Match) and shows how
// two transcripts differ (Diff).
package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// Head names what a transcript is of.
type Head struct {
	Scenario string
	Model    string
}

// Build draws the transcript of a run.
func Build(head Head, events []journal.Event) []byte {
	w := &writer{ids: map[string]string{}}
	w.line("scenario", head.Scenario)
	w.line("model", head.Model)
	for _, e := range events {
		switch e := e.(type) {
		case *journal.ModelAttempt:
			w.model(e)
		case *journal.ToolAttempt:
			w.attempt(e)
		case *journal.Fault:
			w.line("fault", strings.TrimSpace(e.Name+" "+e.Place))
		case *journal.Ended:
			w.ended(e)
		}
	}
	return w.out
}

// Conversations draws the conversations of recorded model calls, without a head
// and without an outcome.
func Conversations(events []journal.Event) []byte {
	w := &writer{ids: map[string]string{}}
	for _, e := range events {
		if e, ok := e.(*journal.ModelAttempt); ok {
			w.model(e)
		}
	}
	return w.out
}

// writer draws events. It keeps one history a conversation, because an agent
// may lead several.
type writer struct {
	out   []byte
	ids   map[string]string // the provider's call id → call-n
	calls int
	open  []openCall // the last turn's calls, for results that no id leads to
	convs []*conversation
	tries int    // failed attempts at the model since its last answer
	said  string // text of the model's last answer

	turn         []string // labels of the last turn's calls
	before, seen int      // tool calls of the run before that turn, and until now
}

type openCall struct{ label, id string }

type conversation struct {
	number  int
	asked   *wire.Request // the last one
	history []wire.Message
}

func (w *writer) model(e *journal.ModelAttempt) {
	if e.Response == nil || e.Response.Err != nil || e.Class != "" {
		w.failedAttempt(e)
	}
	if e.Request == nil || e.Response == nil || e.Response.Err != nil {
		return
	}
	w.tries = 0
	conv := w.request(e.Request)
	w.response(e.Response)
	conv.asked = e.Request
	conv.history = append(append([]wire.Message(nil), e.Request.Messages...), e.Response.Message)
}

func (w *writer) failedAttempt(e *journal.ModelAttempt) {
	w.tries++
	what := string(e.Class)
	if e.Status != 0 {
		what += fmt.Sprintf(" (status %d)", e.Status)
	}
	w.line("attempt", fmt.Sprintf("model attempt-%d %s", w.tries, what))
}

// request prints what the request adds to the conversation that it goes on
// with.
func (w *writer) request(r *wire.Request) *conversation {
	conv, from := w.find(r)
	if conv == nil {
		conv = &conversation{number: len(w.convs) + 1}
		same := w.repeated(r)
		w.convs = append(w.convs, conv)
		if same != nil {
			w.line("begin", fmt.Sprintf("conversation %d, by the last request of conversation %d once more", conv.number, same.number))
			return conv
		}
		if conv.number > 1 {
			w.line("begin", fmt.Sprintf("conversation %d", conv.number))
		}
		w.blocks("system", r.System)
	}
	for _, m := range r.Messages[from:] {
		w.blocks(string(m.Role), m.Blocks)
	}
	return conv
}

// find is the newest conversation whose history the request's messages begin
// with, and how many of them it has already.
func (w *writer) find(r *wire.Request) (*conversation, int) {
	for _, c := range slices.Backward(w.convs) {
		if wire.HasPrefix(r.Messages, c.history) {
			return c, len(c.history)
		}
	}
	return nil, 0
}

// repeated is the newest conversation whose last request was this one; it is
// printed already.
func (w *writer) repeated(r *wire.Request) *conversation {
	for _, c := range slices.Backward(w.convs) {
		if len(r.Messages) == len(c.asked.Messages) && wire.HasPrefix(all(r), all(c.asked)) {
			return c
		}
	}
	return nil
}

// all are the messages of a request with its system text before them.
func all(r *wire.Request) []wire.Message {
	return append([]wire.Message{{Role: wire.RoleSystem, Blocks: r.System}}, r.Messages...)
}

func (w *writer) response(r *wire.Response) {
	w.said = r.Text()
	w.open, w.turn, w.before = w.open[:0], w.turn[:0], w.seen
	w.blocks(string(wire.RoleAssistant), r.Message.Blocks)
	stop := cmp.Or(string(r.Stop), "none")
	if !r.Complete {
		stop = "cut off"
		if r.Err == nil && wire.ClassOf(r, nil) == failure.Protocol {
			stop = "damaged"
		}
	}
	if len(r.RawStop) > 0 {
		stop += " (" + strings.Join(r.RawStop, ", ") + ")"
	}
	w.line("stop", stop)
	for _, p := range r.Problems {
		w.line("problem", strings.TrimSpace(string(p.Kind)+" "+p.Detail))
	}
}

// attempt prints only what the result does not tell: in whose name the call is, an
// attempt that was not the call's only one, or did not end well.
func (w *writer) attempt(e *journal.ToolAttempt) {
	w.seen = max(w.seen, e.Call)
	if e.Attempt == 1 && e.Principal != "" {
		w.line("as", w.labelOf(e)+" "+e.Principal)
	}
	if e.Attempt == 1 && (e.Outcome == journal.OK || e.Outcome == journal.Rejected) {
		return
	}
	w.line("attempt", strings.TrimSpace(fmt.Sprintf("%s attempt-%d %s %s", w.labelOf(e), e.Attempt, e.Outcome, e.Class)))
}

// ended prints how the run ended, and what the agent returned where that is not
// what the model said last.
func (w *writer) ended(e *journal.Ended) {
	if e.Answer != "" && strings.TrimSpace(e.Answer) != strings.TrimSpace(w.said) {
		w.line("answer", e.Answer)
	}
	outcome := "completed"
	if e.Class != "" {
		outcome = string(e.Class)
	}
	w.line("outcome", outcome)
}

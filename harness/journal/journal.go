// Package journal is the record of a run: typed events, each with one writer.
// The transcript, the contract, the report and loggers only read it.
//
// An event's time is on the run's clock. Order within a Journal is the order of
// writing; Sorted puts events of parallel calls into the order that a reader
// expects: by time, then by what came of which model attempt, then by the
// ordinal of the call. So the order is right where nothing takes any time, too.
package journal

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// Event is one of the event types of this package.
type Event interface {
	// When is the event's time since the run began, and the ordinal that orders
	// events of the same time.
	When() (at time.Duration, ordinal int)
}

// ModelAttempt is one HTTP attempt at a model call. Writer: the tap at the HTTP
// seam.
type ModelAttempt struct {
	Ordinal int           // number of the HTTP attempt in the run, from 1
	At      time.Duration // when the request went out
	Latency time.Duration // until the whole body was read
	API     wire.API      // "" when no codec knows the request
	Method  string
	URL     string

	Request  *wire.Request  // nil when it cannot be decoded
	Response *wire.Response // nil when no readable answer came
	Status   int            // 0 when no answer came
	// RetryAfter is the wait that the answer asked for, 0 for none.
	RetryAfter time.Duration
	// Err is the transport's or the decoder's error, of the class Class. A
	// provider's own error has a class too, and its text in Response.Err.
	Err   error
	Class failure.Class
	// Hung says that the agent closed the body before its end.
	Hung bool
	// RequestErr says why the request could not be decoded.
	RequestErr error
}

// When implements Event.
func (e *ModelAttempt) When() (time.Duration, int) { return e.At, e.Ordinal }

// Outcome is how an attempt ended.
type Outcome string

// The outcomes of an attempt. Unknown means that nobody can say whether the
// effect happened.
const (
	OK       Outcome = "ok"
	Rejected Outcome = "rejected"
	Failed   Outcome = "failed"
	Unknown  Outcome = "unknown"
)

// ToolAttempt is one attempt at a tool call. Writer: the tool runner.
type ToolAttempt struct {
	Call    int // number of the call in the run, from 1
	Attempt int // number of the attempt in the call, from 1
	Ordinal int // number of the attempt in the run, from 1
	At      time.Duration
	Latency time.Duration

	Tool      string
	CallID    string // the model's id; "" where there is none
	Principal string // in whose name; "" for nobody in particular
	Args      jsontext.Value
	Outcome   Outcome
	Class     failure.Class
	Code      string // the error's code, "" for none
	Detail    string // for the log; never for the model
	Reached   bool   // the executor was called
	// Withheld is what the tool would have shown the model that nobody outside should
	// see: a stack trace, a secret.
	Withheld []string
	// Retryable says that the error may be tried again; false without an error.
	Retryable bool
}

// When implements Event: attempts of the same time are in the order of their
// calls.
func (e *ToolAttempt) When() (time.Duration, int) { return e.At, e.Call }

// ToolCall is a whole tool call: what the agent asked and what it was told.
// Writer: the tool runner.
type ToolCall struct {
	Ordinal   int
	At        time.Duration
	Latency   time.Duration
	Tool      string
	CallID    string
	Args      jsontext.Value
	ArgsText  string // what came, when it is no JSON
	Attempts  int
	Outcome   Outcome
	Class     failure.Class
	Text      string // what the model is told
	IsError   bool
	Retryable bool
	Effect    bool     // the tool counts as a write
	Cost      *float64 // US dollars; nil: the tool was reached and has no price
}

// When implements Event.
func (e *ToolCall) When() (time.Duration, int) { return e.At, e.Ordinal }

// Warning is a doubt that stops nothing. Writer: whoever has it.
type Warning struct {
	At   time.Duration
	Text string
}

// When implements Event.
func (e *Warning) When() (time.Duration, int) { return e.At, 0 }

// Ended is how the agent ended. Writer: the harness.
type Ended struct {
	At         time.Duration
	Class      failure.Class // "" when it completed
	Detail     string
	Answer     string
	Stop       wire.Stop
	Iterations int
}

// When implements Event.
func (e *Ended) When() (time.Duration, int) { return e.At, 0 }

// Journal collects the events of one run. Its zero value is ready; it may be
// used by many goroutines.
type Journal struct {
	mu     sync.Mutex
	events []written
	models int // model attempts so far
	subs   []func(Event)
}

// written is an event and the number of model attempts written until then, its
// own included: what a turn led to comes before the next turn.
type written struct {
	Event
	after int
}

// Subscribe calls f with each further event, in the order of writing, one at a
// time. f must not write to the journal.
func (j *Journal) Subscribe(f func(Event)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.subs = append(j.subs, f)
}

// Write adds an event; the journal owns it from then on.
func (j *Journal) Write(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := e.(*ModelAttempt); ok {
		j.models++
	}
	j.events = append(j.events, written{e, j.models})
	for _, f := range j.subs {
		f(e)
	}
}

// Sorted returns the events so far, each after what it followed from.
func (j *Journal) Sorted() []Event {
	j.mu.Lock()
	events := slices.Clone(j.events)
	j.mu.Unlock()
	slices.SortStableFunc(events, compare)
	out := make([]Event, len(events))
	for i, e := range events {
		out[i] = e.Event
	}
	return out
}

func compare(a, b written) int {
	at, ao := a.When()
	bt, bo := b.When()
	return cmp.Or(
		cmp.Compare(at, bt), cmp.Compare(a.after, b.after), cmp.Compare(rank(a.Event), rank(b.Event)), cmp.Compare(ao, bo))
}

// rank orders events of one moment: a turn, what it led to, the end of all.
func rank(e Event) int {
	switch e.(type) {
	case *ModelAttempt:
		return 0
	case *Ended:
		return 2
	default:
		return 1
	}
}

// Of returns the events of one type, sorted.
func Of[E Event](j *Journal) []E {
	var out []E
	for _, e := range j.Sorted() {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// Fault is an injected fault that has struck. Writer: package fault.
type Fault struct {
	At    time.Duration
	Name  string
	Place string // in words
}

// When implements Event.
func (e *Fault) When() (time.Duration, int) { return e.At, 0 }

package tool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/schema"
)

// Spec is a declared tool with what it takes to run it.
type Spec struct {
	Decl   Decl
	Input  *schema.Schema // compiled Decl.Input; nil checks nothing
	Output *schema.Schema // compiled Decl.Output; nil checks nothing
	// Exec runs the calls. An executor that waits by itself under a virtual clock
	// is given up at its deadline after a second of real time, with a warning in
	// the journal; see clock.Run.
	Exec Executor
	// Instant says that Exec never waits but on the run's clock (a cassette), and
	// needs no such guard.
	Instant bool
}

// Options configure a Box. The zero value blocks nothing and keeps no record.
type Options struct {
	Journal *journal.Journal // nil: a journal of the box's own
	TaskID  string
	// AttemptID names the n-th attempt of the run, from 1; nil leaves it empty.
	AttemptID func(n int) string
	// Guard says whether a call is refused by policy, and why. nil allows all.
	Guard func(c Call) (reason string, blocked bool)
	// Approve asks a person. nil refuses every tool that needs approval.
	Approve func(ctx context.Context, c Call) (bool, error)
	// Decide asks like Approve, and goes before it, where a person may also change
	// the arguments or give a reason.
	Decide func(ctx context.Context, c Call) (Decision, error)
	// Secrets are kept from the model in what tools say that really run; nil: none are
	// known.
	Secrets *redact.Values
	// Post reshapes what a tool answered (redaction, shortening), in order.
	Post []func(c Call, r Result) Result
}

// Box holds the tools of one run and is the only way to call them. It may be
// used by many goroutines.
type Box struct {
	opts  Options
	specs []Spec
	byKey map[string]*Spec

	mu       sync.Mutex
	as       string
	calls    int
	attempts int
	fatal    error
}

// NewBox makes a box of the tools; their names must be distinct.
func NewBox(specs []Spec, opts Options) *Box {
	if opts.Journal == nil {
		opts.Journal = &journal.Journal{}
	}
	b := &Box{opts: opts, specs: specs, byKey: make(map[string]*Spec, len(specs))}
	for i := range specs {
		b.byKey[specs[i].Decl.Name] = &specs[i]
	}
	return b
}

// ActAs says in whose name the calls are that are made from now on.
func (b *Box) ActAs(principal string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.as = principal
}

// Decls are the declarations in their order. The caller must not change them.
func (b *Box) Decls() []Decl {
	out := make([]Decl, len(b.specs))
	for i := range b.specs {
		out[i] = b.specs[i].Decl
	}
	return out
}

// Fatal is the harness's own error that some call ran into (a cassette miss);
// nil without one. It ends the run.
func (b *Box) Fatal() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fatal
}

// Forget drops the error that Fatal gives, where it is this one: what it ended is
// begun again.
func (b *Box) Forget(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if errors.Is(b.fatal, err) {
		b.fatal = nil
	}
}

// Answer is what a call came to, as the agent hands it to the model.
type Answer struct {
	Text    string
	IsError bool
	Outcome journal.Outcome
	Class   failure.Class
	Detail  string // of an error, for the log; never for the model
}

// Call runs one tool call from its checks to its last attempt. args is the text
// that the model gave, valid JSON or not. The error is the harness's own (a
// cassette miss, an ended context) and ends the run; what the tool says, errors
// included, is in the Answer.
func (b *Box) Call(ctx context.Context, name, id, args string) (Answer, error) {
	return b.Prepare(name, id, args).Do(ctx)
}

// Pending is a call that has its number but has not run.
type Pending struct {
	box     *Box
	spec    *Spec // nil: not declared
	call    Call
	args    jsontext.Value // the model's, without what the host adds
	argText string
}

// Prepare gives the call its number, so that calls which then run at the same
// time keep the order in which the model made them.
func (b *Box) Prepare(name, id, args string) *Pending {
	b.mu.Lock()
	b.calls++
	n, as := b.calls, b.as
	b.mu.Unlock()
	return &Pending{
		box: b, spec: b.byKey[name], argText: args,
		call: Call{Tool: name, ID: id, TaskID: b.opts.TaskID, Principal: as, Ordinal: n},
	}
}

// Do runs the call; see Box.Call. It may be called once.
func (p *Pending) Do(ctx context.Context) (Answer, error) {
	start := clock.Now(ctx)
	res, outcome, err := p.run(ctx)
	if err != nil {
		p.box.fail(err)
	}
	ans := p.answer(res, outcome)
	p.box.opts.Journal.Write(p.event(start, clock.Now(ctx)-start, ans, res))
	return ans, err
}

func (b *Box) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fatal == nil {
		b.fatal = err
	}
}

func (p *Pending) answer(res Result, outcome journal.Outcome) Answer {
	if res.Err != nil {
		e := *res.Err
		e.Message = shorten(e.Message, maxMessage)
		return Answer{Text: ErrorText(&e), IsError: true, Outcome: outcome, Class: e.Class, Detail: e.Detail}
	}
	return Answer{Text: shorten(res.Content, p.spec.Decl.Limit()), Outcome: outcome} // only a declared tool has a result
}

func (p *Pending) event(at, took time.Duration, ans Answer, res Result) *journal.ToolCall {
	e := &journal.ToolCall{
		Ordinal: p.call.Ordinal, At: at, Latency: took,
		Tool: p.call.Tool, CallID: p.call.ID, Args: p.args, Attempts: p.call.Attempt,
		Outcome: ans.Outcome, Class: ans.Class, Text: ans.Text, IsError: ans.IsError,
		Effect: p.spec != nil && p.spec.Decl.Writes(),
	}
	if e.Args == nil {
		e.ArgsText = p.argText
	}
	e.Retryable = res.Err != nil && res.Err.Retryable
	return e
}

// ErrorText is the JSON that the model is shown for an error.
func ErrorText(e *Error) string {
	b := []byte(`{"ok":false,"error":{"code":`)
	b, _ = jsontext.AppendQuote(b, e.Code)
	b = append(b, `,"message":`...)
	b, _ = jsontext.AppendQuote(b, e.Message)
	if e.Retryable {
		return string(append(b, `,"retryable":true}}`...))
	}
	return string(append(b, `,"retryable":false}}`...))
}

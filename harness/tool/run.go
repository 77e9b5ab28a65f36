package tool

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/schema"
)

// run checks the call and makes its attempts.
func (p *Pending) run(ctx context.Context) (Result, journal.Outcome, error) {
	if refused, err := p.check(ctx); refused != nil || err != nil {
		p.reject(ctx, refused)
		return Result{Err: refused}, journal.Rejected, err
	}
	policy := p.spec.Decl.Retry
	wait := policy.Backoff
	for {
		res, outcome, err := p.attempt(ctx)
		// When the run ends in the wait, what the last attempt said stands.
		if err != nil || !p.again(res, policy) || clock.Sleep(ctx, wait) != nil {
			return res, outcome, err
		}
		wait *= 2
	}
}

// again says whether a further attempt is due. A write without a key whose
// outcome is unknown is not, see inDoubt: it might happen twice.
func (p *Pending) again(res Result, policy Retry) bool {
	return res.Err != nil && res.Err.Retryable && p.call.Attempt < policy.Attempts
}

// check returns the error for a call that must not reach the tool.
func (p *Pending) check(ctx context.Context) (*Error, error) {
	if p.spec == nil || p.spec.Decl.Provider != nil {
		return &Error{Code: CodeUnknownTool, Class: failure.UnknownTool, Message: fmt.Sprintf(
			"there is no tool %q; the tools are: %s", p.call.Tool, strings.Join(p.box.names(), ", "))}, nil
	}
	args, bad := p.arguments()
	if bad != nil {
		return bad, nil
	}
	p.call.Args, p.args = args, args
	if blocked := p.blocked(); blocked != nil {
		return blocked, nil
	}
	if refused, err := p.approve(ctx); refused != nil || err != nil {
		return refused, err
	}
	if blocked := p.blocked(); blocked != nil { // a person may have changed the arguments
		return blocked, nil
	}
	return nil, p.addHostKey()
}

// blocked is the policy's refusal of the call; nil without one.
func (p *Pending) blocked() *Error {
	g := p.box.opts.Guard
	if g == nil {
		return nil
	}
	if reason, blocked := g(p.call); blocked {
		return &Error{Code: CodeBlocked, Message: reason, Class: failure.ToolBlocked}
	}
	return nil
}

func (b *Box) names() []string {
	out := make([]string, 0, len(b.specs))
	for i := range b.specs {
		if d := &b.specs[i].Decl; d.Provider == nil {
			out = append(out, d.Name)
		}
	}
	return out
}

// arguments reads the argument text: one JSON object that fits the schema.
func (p *Pending) arguments() (jsontext.Value, *Error) {
	v := jsontext.Value(p.argText)
	if !v.IsValid() {
		return nil, &Error{
			Code: CodeValidation, Class: failure.ToolInvalidArguments,
			Message: "the arguments are not valid JSON; send one complete JSON object",
		}
	}
	if v.Kind() != '{' {
		return nil, &Error{
			Code: CodeValidation, Class: failure.ToolInvalidArguments,
			Message: "the arguments must be a JSON object",
		}
	}
	if p.spec.Input == nil {
		return v, nil
	}
	if bad := p.spec.Input.Check(v); len(bad) > 0 {
		p.args = v // for the record
		return nil, &Error{Code: CodeValidation, Message: fieldMessage(bad), Class: failure.ToolInvalidArguments}
	}
	return v, nil
}

func fieldMessage(bad []schema.FieldError) string {
	parts := make([]string, len(bad))
	for i, f := range bad {
		parts[i] = f.String()
	}
	return strings.Join(parts, "; ")
}

// classOf is the class of an error of the user's own code around a tool: its
// own, interrupted for an ended context, else world.
func classOf(err error) failure.Class {
	var own *failure.Error
	switch {
	case errors.As(err, &own):
		return own.Class
	case errors.Is(err, context.Canceled):
		return failure.Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return failure.Timeout
	}
	return failure.World
}

// operation tells calls with equal arguments apart that are not the same.
func (p *Pending) operation() string {
	name := p.call.TaskID + "\x00" + p.call.Tool + "\x00"
	if p.call.Principal != "" {
		name += p.call.Principal + "\x00"
	}
	return name
}

// addHostKey fills in an idempotency key that is the host's to make, in the
// place of whatever the model put there. It derives from the task and the
// logical operation (tool and arguments), so it is the same for every attempt,
// and for the same call under another call id. Only the executor gets it: what
// is written down of the call are the model's arguments.
func (p *Pending) addHostKey() error {
	key := p.spec.Decl.Key
	if key == nil || key.From != KeyFromHost {
		return nil
	}
	args, err := without(p.call.Args, key.Field)
	if err != nil {
		return failure.Errorf(failure.Internal, "tool %s: arguments for the idempotency key: %w", p.call.Tool, err)
	}
	sum := sha256.Sum256([]byte(p.operation() + string(args)))
	id := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
	name, err := jsontext.AppendQuote(nil, key.Field)
	if err != nil {
		return failure.Errorf(failure.ScenarioInvalid, "tool %s: key field %q: %w", p.call.Tool, key.Field, err)
	}
	sep := ","
	if string(args) == "{}" {
		sep = ""
	}
	p.call.Args = jsontext.Value("{" + string(name) + `:"` + id + `"` + sep + string(args[1:]))
	return nil
}

// without is the object in its canonical spelling, without one member.
func without(object jsontext.Value, name string) ([]byte, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	if _, ok := members[name]; !ok {
		return jsondoc.Canonical(nil, object)
	}
	delete(members, name)
	rest, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return jsondoc.Canonical(nil, rest)
}

// attempt makes one try and writes it down.
func (p *Pending) attempt(ctx context.Context) (Result, journal.Outcome, error) {
	n := p.number()
	start := clock.Now(ctx)
	res, err := p.execute(ctx)
	withheld := p.withhold(&res)
	outcome := p.outcomeOf(res, err)
	if outcome == journal.Unknown && err == nil && p.spec.Decl.Writes() {
		res.Err = inDoubt(res.Err, p.spec.Decl.Key != nil)
	}
	e := &journal.ToolAttempt{
		Call: p.call.Ordinal, Attempt: p.call.Attempt, Ordinal: n, At: start, Latency: clock.Now(ctx) - start,
		Tool: p.call.Tool, CallID: p.call.ID, Principal: p.call.Principal, Args: p.args, Outcome: outcome, Reached: true, Withheld: withheld,
	}
	note(e, res.Err)
	if err != nil {
		e.Class, e.Detail = classOf(err), err.Error()
	}
	p.box.opts.Journal.Write(e)
	return res, outcome, err
}

// number counts an attempt and gives it its id.
func (p *Pending) number() int {
	p.call.Attempt++
	p.box.mu.Lock()
	p.box.attempts++
	n := p.box.attempts
	p.box.mu.Unlock()
	if f := p.box.opts.AttemptID; f != nil {
		p.call.AttemptID = f(n)
	}
	return n
}

func (p *Pending) reject(ctx context.Context, refused *Error) {
	n := p.number()
	e := &journal.ToolAttempt{
		Call: p.call.Ordinal, Attempt: p.call.Attempt, Ordinal: n, At: clock.Now(ctx),
		Tool: p.call.Tool, CallID: p.call.ID, Principal: p.call.Principal, Args: p.args, Outcome: journal.Rejected,
	}
	note(e, refused)
	p.box.opts.Journal.Write(e)
}

func note(e *journal.ToolAttempt, err *Error) {
	if err != nil {
		e.Class, e.Code, e.Detail, e.Retryable = err.Class, err.Code, err.Detail, err.Retryable
	}
}

// outcomeOf is what can be said of an attempt. A write that broke off (a panic,
// an error without a word about it) may have had its effect, like one whose time
// ran out, and one whose answer is another than promised.
func (p *Pending) outcomeOf(res Result, err error) journal.Outcome {
	switch {
	case err != nil:
		return journal.Unknown
	case res.Err == nil:
		return journal.OK
	case res.Err.Class == failure.ToolTimeout:
		return journal.Unknown
	case p.spec.Decl.Writes() && brokeOff(res.Err):
		return journal.Unknown
	default:
		return journal.Failed
	}
}

func brokeOff(e *Error) bool {
	return e.Code == CodeUpstream || e.Code == CodeCancelled || e.Code == CodeBadOutput
}

// execute calls the executor within the tool's timeout and checks what it says.
func (p *Pending) execute(outer context.Context) (Result, error) {
	ctx := outer
	if t := p.spec.Decl.Timeout; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = clock.WithTimeout(ctx, t)
		defer cancel()
	}
	res, err := p.guarded(ctx)
	if outer.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		res, err = Result{Err: asError(err)}, nil // the executor waited for the tool, not the run
	}
	if err != nil {
		return Result{Err: harnessError()}, err
	}
	if res.Err == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		res = Result{Err: timeoutError("the answer came after the deadline")}
	}
	if res.Err == nil && p.spec.Output != nil {
		if bad := p.spec.Output.Check([]byte(res.Content)); len(bad) > 0 {
			res = Result{Err: &Error{
				Code: CodeBadOutput, Class: failure.ToolBadOutput,
				Message: "the tool's answer does not have the promised form", Detail: fieldMessage(bad),
			}}
		}
	}
	for _, f := range p.box.opts.Post {
		res = f(p.call, res)
	}
	return res, nil
}

// guarded calls the executor so that a panic, a wait of its own or the end of its
// goroutine is the tool's failure, not the run's.
func (p *Pending) guarded(ctx context.Context) (res Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = brokeDown(fmt.Sprint("panic: ", v)), nil
		}
	}()
	if p.spec.Instant {
		return p.spec.Exec.Execute(ctx, p.call)
	}
	stalled, exited := clock.Run(ctx, func(ctx context.Context) { res, err = p.spec.Exec.Execute(ctx, p.call) })
	if stalled {
		p.box.opts.Journal.Write(&journal.Warning{At: clock.Now(ctx), Text: "tool " + p.call.Tool +
			" waits by itself; use clock.Sleep, or run the agent in a testing/synctest bubble"})
	}
	if exited != nil {
		return brokeDown("the tool " + exited.Error()), nil
	}
	return res, err
}

func brokeDown(detail string) Result {
	return Result{Err: &Error{
		Code: CodeUpstream, Class: failure.ToolUnavailable, Message: "the tool broke down", Detail: detail,
	}}
}

func timeoutError(detail string) *Error {
	return &Error{
		Code: CodeTimeout, Message: "the tool did not answer in time", Retryable: true,
		Class: failure.ToolTimeout, Detail: detail,
	}
}

func harnessError() *Error {
	return &Error{Code: CodeUnavailable, Message: "the tool is not available", Class: failure.ToolUnavailable}
}

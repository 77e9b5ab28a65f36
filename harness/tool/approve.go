package tool

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// Decision is what a person says to a call that needs approval.
type Decision struct {
	Approved bool
	// Args are what the person changed the arguments to; nil leaves them.
	Args jsontext.Value
	// Late says that the person answered when the call was over: it is not made.
	Late bool
	// Shown are the arguments that the person saw; nil: those of the call. A call is
	// only made with what was approved.
	Shown jsontext.Value
	// Reason is what the model is told of a refusal; "" is that nobody has approved.
	Reason string
}

const notApproved = "a person has to approve this call, and has not"

// approve asks for the approval that the tool needs; refused is nil when the
// call may go on.
func (p *Pending) approve(ctx context.Context) (refused *Error, err error) {
	if !p.spec.Decl.Approval {
		return refused, nil
	}
	d, err := p.box.decide(ctx, p.call)
	switch {
	case err != nil:
		return notApprovedError(""), failure.Errorf(classOf(err), "tool %s: asking for approval: %w", p.call.Tool, err)
	case !d.Approved:
		return notApprovedError(d.Reason), nil
	case d.Late:
		return notApprovedError("the approval came when the call was over; it was not made"), nil
	}
	if d.Args != nil {
		if err := p.edit(ctx, d.Args); err != nil {
			return refused, err
		}
	}
	if d.Shown != nil && jsondoc.Hash(d.Shown) != jsondoc.Hash(p.call.Args) {
		return notApprovedError("what was approved is another call than this; it was not made"), nil
	}
	return refused, nil
}

func notApprovedError(reason string) *Error {
	if reason == "" {
		reason = notApproved
	}
	return &Error{Code: CodeNotApproved, Message: reason, Class: failure.ToolNotApproved}
}

func (b *Box) decide(ctx context.Context, c Call) (Decision, error) {
	switch {
	case b.opts.Decide != nil:
		return b.opts.Decide(ctx, c)
	case b.opts.Approve != nil:
		ok, err := b.opts.Approve(ctx, c)
		return Decision{Approved: ok}, err
	}
	return Decision{}, nil
}

// edit lets the call go on with what a person has made of its arguments. What is
// written down of the call are the model's; the change is told beside them.
func (p *Pending) edit(ctx context.Context, args jsontext.Value) error {
	if p.spec.Input != nil {
		if bad := p.spec.Input.Check(args); len(bad) > 0 {
			return failure.Errorf(failure.ScenarioInvalid, "tool %s: the arguments that a person has changed do not fit its schema: %s", p.call.Tool, fieldMessage(bad))
		}
	}
	p.call.Args = args
	p.box.opts.Journal.Write(&journal.Warning{At: clock.Now(ctx), Text: "tool " + p.call.Tool + ": a person has changed the arguments to " + string(args)})
	return nil
}

// Package failure is the closed set of error classes. Every error that ends a
// run or an attempt carries one; code and reports branch on the class, never on
// the text.
package failure

import (
	"errors"
	"fmt"
)

// Class names what kind of thing went wrong. The values are stored in reports:
// a name, once released, keeps its meaning.
type Class string

// The classes. Each says whose word it is; Part tells who is responsible.
const (
	None Class = "" // nothing went wrong

	// The cassette and the world around the run.

	CassetteMiss     Class = "cassette_miss"     // the agent sent what was never recorded
	CassetteUnplayed Class = "cassette_unplayed" // a recording was not asked for
	CassetteInvalid  Class = "cassette_invalid"  // the file cannot be read as a cassette
	ScenarioInvalid  Class = "scenario_invalid"  // the specification is wrong
	GoldenInvalid    Class = "golden_invalid"    // the golden file itself is damaged
	World            Class = "world"             // the world could not be built: I/O, a missing file
	Interrupted      Class = "interrupted"       // a person or a signal stopped the run
	Internal         Class = "internal"          // a defect of retake

	// The model's side, one HTTP attempt at a time.

	Transport     Class = "transport"      // no answer arrived: refused, reset, short body
	Timeout       Class = "timeout"        // the attempt's deadline passed
	RateLimited   Class = "rate_limited"   // 429, or a wait over the policy's cap
	Overloaded    Class = "overloaded"     // 529, 503
	ServerError   Class = "server_error"   // other 5xx
	ClientError   Class = "client_error"   // 400, 404, 409, 413, …
	Unauthorized  Class = "unauthorized"   // 401, 403
	Protocol      Class = "protocol"       // the answer is not what the API promises
	Truncated     Class = "truncated"      // the answer ended before its end
	Refused       Class = "refused"        // the model declined
	Malformed     Class = "malformed"      // the model made a call that cannot be read
	EmptyResponse Class = "empty_response" // a finished turn without content
	UnknownStop   Class = "unknown_stop_reason"
	UnknownTool   Class = "unknown_tool" // the model called a tool that was not declared
	DuplicateCall Class = "duplicate_call_id"

	// Limits.

	IterationCap  Class = "iteration_cap"
	PauseCap      Class = "pause_cap"
	RepeatedCall  Class = "repeated_call"
	TokenBudget   Class = "token_budget"
	CallBudget    Class = "tool_call_budget"
	TimeBudget    Class = "time_budget"
	PartialFailed Class = "partial_failure" // a tool failed and the scenario says to stop then
	ToolErrorCap  Class = "tool_error_cap"

	// The tools' side.

	ToolInvalidArguments Class = "tool_invalid_arguments"
	ToolBlocked          Class = "tool_blocked"
	ToolNotApproved      Class = "tool_not_approved"
	ToolFailed           Class = "tool_failed"      // the tool's own, business error
	ToolUnavailable      Class = "tool_unavailable" // infrastructure: down, refused, panicked
	ToolTimeout          Class = "tool_timeout"
	ToolBadOutput        Class = "tool_bad_output" // the result breaks the output schema

	// What was checked and did not hold.

	Expectation Class = "expectation"
	Golden      Class = "golden"
	Contract    Class = "contract"
	Budget      Class = "budget"
	Agent       Class = "agent"    // the agent under test returned an error of its own
	Diverged    Class = "diverged" // a fault that the model sees has ended the recording
	Unjudged    Class = "unjudged" // a model that was to judge the run gave no allowed answer
)

// Part is the one part of the system that has to act on a failure.
type Part string

// The parts.
const (
	PartAgent    Part = "agent"
	PartModel    Part = "model"
	PartTool     Part = "tool"
	PartScenario Part = "scenario"
	PartCassette Part = "cassette"
	PartHarness  Part = "harness"
)

// Error is an error with a class. Its text is the wrapped error's.
type Error struct {
	Class Class
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an error of the class; the format takes %w like fmt.Errorf.
func Errorf(c Class, format string, args ...any) error {
	return &Error{Class: c, Err: fmt.Errorf(format, args...)}
}

// Wrap gives err the class; nil stays nil.
func Wrap(c Class, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Class: c, Err: err}
}

// Of is the class of the outermost classed error in err's chain; an error
// without one is Internal, nil is None.
func Of(err error) Class {
	if err == nil {
		return None
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Internal
}

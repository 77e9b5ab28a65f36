// Package tool says what a tool is, what it may answer, and what happens around
// a call: schema checks, a guard, an approval, the executor, clean-up of the
// result.
//
// A tool answers with a Result: content, or an Error{Code, Message, Retryable}.
// What the model sees of an error is exactly that, as
// {"ok":false,"error":{…}}; details stay with the caller.
//
// Nothing is claimed that is not known. A write that broke off may have had its
// effect: the model is told that, never that it failed, and it is told to try
// again only where an idempotency key makes a second try safe.
package tool

import (
	"cmp"
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
)

// Effect says whether a tool changes the world.
type Effect string

// The effects. An undeclared one counts as a write.
const (
	EffectUndeclared Effect = ""
	EffectRead       Effect = "read"
	EffectWrite      Effect = "write"
)

// KeySource says who makes an idempotency key.
type KeySource string

// The sources of a key.
const (
	KeyFromModel KeySource = "model" // the model fills the field
	KeyFromHost  KeySource = "host"  // the host fills it, from the task and the logical operation
)

// Key says where a write tool's idempotency key is.
type Key struct {
	Field string // name of the argument
	From  KeySource
}

// Retry is a tool's retry policy. The zero value makes one attempt.
type Retry struct {
	Attempts int           // all tries together; 0 counts as 1
	Backoff  time.Duration // wait before the second try, doubled after each further one
}

// Decl declares a tool.
type Decl struct {
	Name        string
	Description string
	Input       jsontext.Value // JSON Schema of the arguments; nil allows any object
	Output      jsontext.Value // JSON Schema of the result's content; nil checks nothing
	Effect      Effect
	Key         *Key          // nil: no idempotency key
	Timeout     time.Duration // per attempt; 0: none
	Retry       Retry
	// MaxResult is how many bytes of a result the model is shown; 0 is
	// DefaultMaxResult.
	MaxResult int
	// Approval asks a person before each call.
	Approval bool
	// Hints are what the tool's server says of it, which nobody has checked; nil:
	// nothing.
	Hints *Hints
	// Extra are further members of the declaration on the wire (strict, …).
	Extra jsontext.Value
	// Provider is the whole declaration on the wire of a tool that the provider
	// runs (a web search); nil for the host's own. The model's client cannot call
	// it.
	Provider jsontext.Value
}

// Hints are the annotations of a tool of an MCP server. One that the server does
// not give is nil.
type Hints struct {
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// DefaultMaxResult is what the model is shown of a result at most: about 64,000
// tokens, which no result should take of a conversation by accident.
const DefaultMaxResult = 256 << 10

// Limit is how many bytes of a result the model is shown.
func (d *Decl) Limit() int { return cmp.Or(d.MaxResult, DefaultMaxResult) }

// Writes tells whether calls count as effects: all but declared reads do.
func (d *Decl) Writes() bool { return d.Effect != EffectRead }

// Call is one attempt at a tool call, as the executor gets it.
type Call struct {
	Tool      string
	ID        string         // the model's id of the call; "" where the API gives none
	Args      jsontext.Value // a JSON object
	TaskID    string
	AttemptID string
	Principal string // in whose name; "" for nobody in particular
	Attempt   int    // 1 for the first try
	Ordinal   int    // the call's number in the run, from 1
}

// Result is what a call came to.
type Result struct {
	Content string // what the model reads when Err is nil, usually JSON
	Err     *Error
}

// Error is a tool's error as the model may see it.
type Error struct {
	Code      string // VALIDATION_ERROR, UPSTREAM_TIMEOUT, …
	Message   string // clean: no stack, path, address, query
	Retryable bool

	// Class files the error; Detail is for the log only, never for the model.
	Class  failure.Class
	Detail string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// The codes that retake itself gives.
const (
	CodeValidation  = "VALIDATION_ERROR"
	CodeUnknownTool = "UNKNOWN_TOOL"
	CodeBlocked     = "BLOCKED_BY_POLICY"
	CodeNotApproved = "NOT_APPROVED"
	CodeTimeout     = "UPSTREAM_TIMEOUT"
	CodeUnavailable = "UPSTREAM_UNAVAILABLE"
	CodeUpstream    = "UPSTREAM_ERROR"
	CodeBadOutput   = "BAD_TOOL_OUTPUT"
	CodeCancelled   = "CANCELLED"
	CodeToolError   = "TOOL_ERROR" // of an error that the tool gives no code
)

// Executor runs tool calls. An error returned beside the Result is the
// harness's own affair (a cassette miss): it ends the run. What a tool answers,
// errors included, is in the Result. Implementations may be called from several
// goroutines at once.
type Executor interface {
	Execute(ctx context.Context, c Call) (Result, error)
}

// ExecutorFunc is a func as an Executor.
type ExecutorFunc func(ctx context.Context, c Call) (Result, error)

// Execute calls f.
func (f ExecutorFunc) Execute(ctx context.Context, c Call) (Result, error) { return f(ctx, c) }

package harness

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// Agent is the system under test: something that gets a task and works on it
// with a model and tools.
type Agent interface {
	// Run works on env's task until it is done or given up. An error ends the
	// scenario; its class is that of the failure.Error in its chain, else
	// "agent". A run that ended without a result, but as designed (a budget, a
	// refusal), is an Outcome with a class.
	Run(ctx context.Context, env *Env) (Outcome, error)
}

// Func is a func as an Agent: it returns the final answer.
type Func func(ctx context.Context, env *Env) (answer string, err error)

// Run calls f.
func (f Func) Run(ctx context.Context, env *Env) (Outcome, error) {
	answer, err := f(ctx, env)
	return Outcome{Answer: answer, Stop: wire.StopDone}, err
}

// Env is all that an agent gets of the world. It is the agent's own for the
// time of the run.
type Env struct {
	Scenario *scenario.Scenario
	Model    string
	API      wire.API
	// BaseURL is what the API's paths are appended to, without a slash at its end.
	// With both of OpenAI's APIs /v1 is part of it (…/v1 + /chat/completions,
	// /responses); with Anthropic and Gemini the path brings the version
	// (+ /v1/messages, + /v1beta/models/…).
	BaseURL string
	HTTP    *http.Client // the only way to the model; never dials in replay
	Tools   *tool.Box    // the only way to the tools; in the name of the first turn's principal until ActAs says another
	Retry   Retry
	Journal *journal.Journal
	TaskID  string // names the run, as its tools are told
	// Scratch is the folder of the run's own that its tools have; "" where they have none.
	Scratch string
}

// Task is what the user says first.
func (e *Env) Task() string { return e.Scenario.Turns[0].User }

// Retry is the policy for model calls. Retries are made in one place, the
// agent's loop; an SDK's own should be switched off. In Env no field is zero.
type Retry struct {
	Attempts      int           // all tries of one call together; 0 counts as 3
	Backoff       time.Duration // before the second try, doubled each time; 0: 500 ms
	MaxBackoff    time.Duration // 0: 8 s
	RetryAfterCap time.Duration // a longer Retry-After ends the run as rate_limited; 0: 60 s
	Timeout       time.Duration // of one attempt; 0: 10 min
}

// Outcome is how an agent's work ended.
type Outcome struct {
	Class      failure.Class // "" when the task was completed
	Detail     string        // one sentence for a person
	Answer     string        // the final text
	Tokens     *int64        // what the agent believes to have used; nil when it does not count
	Stop       wire.Stop     // the last turn's
	Iterations int           // model turns; 0 lets the harness count them on the wire
}

// PlaceholderKey is what an agent is given that wants to be given a key: the real
// one is put in its place where a request goes to the real API.
const PlaceholderKey = "retake-placeholder-key"

// The policy where the configuration is silent.
const (
	defaultAttempts      = 3
	defaultBackoff       = 500 * time.Millisecond
	defaultMaxBackoff    = 8 * time.Second
	defaultRetryAfterCap = time.Minute
	defaultTimeout       = 10 * time.Minute
)

func (r Retry) withDefaults() Retry {
	return Retry{
		Attempts:      cmp.Or(r.Attempts, defaultAttempts),
		Backoff:       cmp.Or(r.Backoff, defaultBackoff),
		MaxBackoff:    cmp.Or(r.MaxBackoff, defaultMaxBackoff),
		RetryAfterCap: cmp.Or(r.RetryAfterCap, defaultRetryAfterCap),
		Timeout:       cmp.Or(r.Timeout, defaultTimeout),
	}
}

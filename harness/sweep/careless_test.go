package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// careless is a loop of a few lines that makes the mistakes that it is told to,
// each a usual one. With none of them it keeps the contract, so that what a sweep
// finds is the mistake and nothing else.
type careless struct {
	runsCutTurns    bool // runs the calls of a turn whatever its stop reason, and of one that was cut
	emptyForUnread  bool // puts {} in the place of arguments that it cannot read
	dropsFailed     bool // sends no result for a call that failed
	twoMessages     bool // sends each result in a message of its own
	textFirst       bool // says something before its results when one is an error
	retriesAll      bool // tries again after any error of the model's side
	neverStops      bool // and does so without a bound
	impatient       bool // does not wait as long as it is asked to
	repeatsTools    bool // calls a tool again after an error that is final
	freshIDs        bool // calls a tool again under an id of its own when no answer came
	passesErrors    bool // tells the model what the error says
	noCap           bool // counts neither turns nor pauses nor repetitions
	silent          bool // takes whatever is no call for the end of the task
	runsTwice       bool // runs both calls of one id
	forgets         bool // drops the first turn with its results once a call has failed
	goesOnUnsettled bool // ends the task while the model waits for results
	pleads          bool // adds a word to the conversation before it tries again
	invents         bool // answers by itself when the model gives an error
	startsOver      bool // begins the whole task anew after an error of the model's side
}

// the bounds of a loop that does not count.
const carelessTurns, carelessTries = 30, 9

func (c careless) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	cd, ok := codec.For(env.API)
	if !ok {
		return harness.Outcome{}, errors.New("no such API")
	}
	r := &carelessRun{careless: c, env: env, codec: cd, req: &wire.Request{
		Model: env.Model, Stream: env.Scenario.Stream, MaxTokens: env.Scenario.MaxTokens, ToolChoice: env.Scenario.ToolChoice,
	}, repeated: map[string]int{}}
	for _, d := range env.Tools.Decls() {
		r.req.Tools = append(r.req.Tools, wire.Tool{Name: d.Name, Description: d.Description, Schema: d.Input})
	}
	for _, s := range env.Scenario.System {
		r.req.System = append(r.req.System, text(s))
	}
	r.say(wire.RoleUser, text(env.Task()))
	turns := env.Scenario.Limits.Iterations
	if c.noCap {
		turns = carelessTurns
	}
	for range turns {
		resp, err := r.ask(ctx)
		if err != nil {
			if c.silent && failure.Of(err) == failure.Protocol {
				return harness.Outcome{}, nil
			}
			if c.invents {
				return harness.Outcome{Answer: "All done.", Stop: wire.StopDone}, nil
			}
			return harness.Outcome{Class: failure.Of(err), Detail: err.Error()}, nil
		}
		r.req.Messages = append(r.req.Messages, resp.Message)
		done, out := r.turn(ctx, resp)
		if err := env.Tools.Fatal(); err != nil {
			return harness.Outcome{}, err
		}
		if done {
			return out, nil
		}
	}
	return harness.Outcome{Class: failure.IterationCap}, nil
}

func text(s string) wire.Block { return wire.Block{Kind: wire.KindText, Text: s} }

type carelessRun struct {
	careless
	env      *harness.Env
	codec    wire.Codec
	req      *wire.Request
	repeated map[string]int
	calls    int
	pauses   int
	fresh    int
}

func (r *carelessRun) say(role wire.Role, blocks ...wire.Block) {
	r.req.Messages = append(r.req.Messages, wire.Message{Role: role, Blocks: blocks})
}

// turn tells whether the task has ended, and how.
func (r *carelessRun) turn(ctx context.Context, resp *wire.Response) (bool, harness.Outcome) {
	calls := resp.Calls()
	asks := resp.Complete && resp.Stop == wire.StopToolCalls || r.runsCutTurns
	switch {
	case len(calls) > 0 && asks && !r.goesOnUnsettled:
		return r.use(ctx, calls)
	case resp.Complete && resp.Stop == wire.StopPaused && r.pauses < 2:
		if !r.noCap {
			r.pauses++
		}
		return false, harness.Outcome{}
	case r.silent, r.goesOnUnsettled && len(calls) > 0:
	case !resp.Complete:
		return true, harness.Outcome{Class: failure.Truncated}
	case resp.Stop != wire.StopDone:
		return true, harness.Outcome{Class: failure.UnknownStop}
	case resp.Text() == "":
		return true, harness.Outcome{Class: failure.EmptyResponse}
	}
	return true, harness.Outcome{Answer: resp.Text(), Stop: resp.Stop}
}

func (r *carelessRun) use(ctx context.Context, calls []wire.Block) (bool, harness.Outcome) {
	if end := r.refuse(calls); end != failure.None {
		return true, harness.Outcome{Class: end}
	}
	var results []wire.Block
	failed := false
	for _, c := range calls {
		res, bad := r.call(ctx, c)
		failed = failed || bad
		if !bad || !r.dropsFailed {
			results = append(results, res)
		}
	}
	if failed && r.textFirst {
		results = append([]wire.Block{text("Something went wrong:")}, results...)
	}
	if m := r.req.Messages; failed && r.forgets && len(m) > 3 {
		r.req.Messages = append(m[:1:1], m[3:]...)
	}
	if !r.twoMessages {
		r.say(wire.RoleUser, results...)
		return false, harness.Outcome{}
	}
	for _, res := range results {
		r.say(wire.RoleUser, res)
		r.say(wire.RoleAssistant, text("And the next?"))
	}
	return false, harness.Outcome{}
}

// refuse ends a run whose calls go in a circle, or cannot be told apart.
func (r *carelessRun) refuse(calls []wire.Block) failure.Class {
	ids := map[string]bool{}
	r.calls += len(calls)
	if n := r.env.Scenario.Limits.ToolCalls; n > 0 && r.calls > n && !r.noCap {
		return failure.CallBudget
	}
	for _, c := range calls {
		if ids[c.ID] && c.ID != "" && !r.runsTwice {
			return failure.DuplicateCall
		}
		ids[c.ID] = true
		key := c.Name + string(c.Args)
		r.repeated[key]++
		if r.repeated[key] > r.env.Scenario.GiveUp.RepeatedCalls && !r.noCap {
			return failure.RepeatedCall
		}
	}
	return failure.None
}

// call runs one call and makes its result.
func (r *carelessRun) call(ctx context.Context, c wire.Block) (wire.Block, bool) {
	args := string(c.Args)
	if c.Args == nil {
		args = c.ArgsText
		if r.emptyForUnread {
			args = "{}"
		}
	}
	a, _ := r.env.Tools.Call(ctx, c.Name, c.ID, args)
	if a.IsError && r.repeatsTools {
		a, _ = r.env.Tools.Call(ctx, c.Name, c.ID, args)
	}
	if a.Class == failure.ToolTimeout && r.freshIDs {
		r.fresh++
		a, _ = r.env.Tools.Call(ctx, c.Name, fmt.Sprintf("again_%d", r.fresh), args)
	}
	said := a.Text
	if a.IsError && r.passesErrors && a.Detail != "" {
		said = "Error: " + a.Detail
	}
	res := wire.Block{Kind: wire.KindToolResult, ID: c.ID, IsError: a.IsError, Result: []wire.Block{text(said)}}
	if r.env.API == wire.GeminiGenerate {
		res.Name = c.Name
	}
	return res, a.IsError
}

// ask makes one model call, with its retries.
func (r *carelessRun) ask(ctx context.Context) (*wire.Response, error) {
	most := r.env.Retry.Attempts
	if r.neverStops {
		most = carelessTries
	}
	for n := 1; ; n++ {
		resp, wait, err := r.attempt(ctx)
		if err == nil || n >= most || !r.retriesAll && !failure.About(failure.Of(err)).Retryable {
			return resp, err
		}
		if wait > time.Minute {
			return nil, failure.Wrap(failure.RateLimited, err)
		}
		if r.impatient {
			wait = 0
		}
		if r.pleads {
			r.say(wire.RoleUser, text("Please go on."))
		}
		if r.startsOver {
			r.req.Messages = r.req.Messages[:1]
		}
		if err := clock.Sleep(ctx, max(wait, time.Second)); err != nil {
			return nil, failure.Classify(err)
		}
	}
}

func (r *carelessRun) attempt(ctx context.Context) (*wire.Response, time.Duration, error) {
	ctx, cancel := clock.WithTimeout(ctx, time.Minute)
	defer cancel()
	body, err := r.codec.EncodeRequest(nil, r.req)
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.env.BaseURL+r.codec.Path(r.env.Model, r.req.Stream), bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	answer, err := r.env.HTTP.Do(req)
	if err != nil {
		return nil, 0, failure.Classify(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, 0, failure.Classify(err)
	}
	wait := wire.RetryAfter(answer.Header)
	resp, err := r.codec.DecodeResponse(answer.StatusCode, answer.Header.Get("Content-Type"), read)
	switch {
	case err != nil:
		return nil, wait, err
	case resp.Err != nil:
		return nil, wait, failure.Wrap(resp.Err.Class(), resp.Err)
	}
	return resp, wait, nil
}

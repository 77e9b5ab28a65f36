// Package agent is the reference loop: the system under test when the user
// brings none, and the worked example of a loop that ends in no silent way.
//
// It calls the model, appends the turn, and stops unless the turn is complete
// and its stop reason asks for tools. Then it runs every call of the turn, up to
// the cap at once, and puts all results into one message. Whatever else happens
// has an outcome of its own.
package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
)

// Loop is the reference agent. Its zero value is ready, and one Loop may run
// many scenarios at once.
type Loop struct{}

// Run implements harness.Agent.
func (Loop) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	c, ok := codec.For(env.API)
	if !ok {
		return harness.Outcome{}, failure.Errorf(failure.ScenarioInvalid, "model %s: no such API %q", env.Model, env.API)
	}
	r := &run{env: env, codec: c, req: request(env), seen: map[string]int{}}
	for _, turn := range env.Scenario.Turns {
		env.Tools.ActAs(turn.As)
		r.say(turn.User)
		end, err := r.untilDone(ctx)
		if err != nil || end.Class != failure.None {
			return end, err
		}
		r.last = end
	}
	return r.last, nil
}

// run is the state of one run of the loop.
type run struct {
	env   *harness.Env
	codec wire.Codec
	req   *wire.Request
	url   string
	buf   []byte

	iterations int
	pauses     int
	calls      int
	toolErrors int
	tokens     int64
	seen       map[string]int // calls by name and arguments
	last       harness.Outcome
}

func request(env *harness.Env) *wire.Request {
	s := env.Scenario
	req := &wire.Request{
		Model: env.Model, ToolChoice: s.ToolChoice, MaxTokens: s.MaxTokens, Stream: s.Stream, Params: s.Params,
	}
	decls := env.Tools.Decls()
	for i := range decls {
		d := &decls[i]
		req.Tools = append(req.Tools, wire.Tool{
			Name: d.Name, Description: d.Description, Schema: d.Input, Extra: d.Extra, Raw: d.Provider,
		})
	}
	var system []wire.Block
	for _, text := range s.System {
		system = append(system, wire.Block{Kind: wire.KindText, Text: text})
	}
	wire.PlaceSystem(env.API, req, system)
	for _, m := range s.Opening {
		req.Messages = append(req.Messages, wire.Message{Role: m.Role, Blocks: []wire.Block{{Kind: wire.KindText, Text: m.Text}}})
	}
	return req
}

// say adds what the user says. A forced tool choice holds for the first answer
// of each user turn; see relax.
func (r *run) say(text string) {
	r.req.ToolChoice = r.env.Scenario.ToolChoice
	r.req.Messages = append(r.req.Messages,
		wire.Message{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: text}}})
}

// relax lets the model choose freely once it has made the call that was forced
// on it: a choice that stays forced never comes to an end.
func (r *run) relax() {
	if c := &r.req.ToolChoice; c.Mode == wire.ChoiceAny || c.Mode == wire.ChoiceTool {
		*c = wire.ToolChoice{Mode: wire.ChoiceAuto, NoParallel: c.NoParallel, Extra: c.Extra}
	}
}

// untilDone calls the model until a turn ends the exchange. The Outcome has a
// class when the run must not go on.
func (r *run) untilDone(ctx context.Context) (harness.Outcome, error) {
	for {
		if n := r.env.Scenario.Limits.Iterations; n > 0 && r.iterations >= n {
			return r.end(failure.IterationCap, wire.StopNone, fmt.Sprintf("no end after %d model turns", n)), nil
		}
		resp, err := r.call(ctx)
		if err != nil {
			return r.endOf(ctx, err)
		}
		r.iterations++
		r.remember(resp.Message)
		end, goOn := r.turn(ctx, resp)
		if err := r.env.Tools.Fatal(); err != nil {
			return harness.Outcome{Iterations: r.iterations}, err
		}
		if !goOn {
			return end, nil
		}
	}
}

// remember appends the model's turn to the history, as the API takes it back.
func (r *run) remember(turn wire.Message) {
	if r.env.API == wire.OpenAIResponses {
		turn = openairesponses.Resend(r.req, turn)
	}
	r.req.Messages = append(r.req.Messages, turn)
}

// turn decides what a turn of the model means: an end, or one more request.
func (r *run) turn(ctx context.Context, resp *wire.Response) (end harness.Outcome, goOn bool) {
	r.tokens += resp.Usage.Total()
	if n := r.env.Scenario.Limits.Tokens; n > 0 && r.tokens > n {
		return r.end(failure.TokenBudget, resp.Stop, fmt.Sprintf("%d tokens used, budget %d", r.tokens, n)), false
	}
	switch {
	case !resp.Complete:
		return r.incomplete(resp), false
	case resp.Stop == wire.StopToolCalls && argumentsCut(resp):
		return r.end(failure.Truncated, resp.Stop, "the arguments of a call end in the middle; none of the turn's calls was run"), false
	case resp.Stop == wire.StopToolCalls:
		return r.useTools(ctx, resp)
	case resp.Stop == wire.StopPaused:
		r.pauses++
		if n := r.env.Scenario.GiveUp.Pauses; r.pauses > n {
			return r.end(failure.PauseCap, resp.Stop, fmt.Sprintf("the model paused more than %d times", n)), false
		}
		return harness.Outcome{}, true
	}
	return r.finish(resp), false
}

// incomplete is the outcome of an answer of which a part is missing.
func (r *run) incomplete(resp *wire.Response) harness.Outcome {
	class, why := wire.ClassOf(resp, nil), "the answer ended before its end"
	if class == failure.Protocol {
		why = "an event of the answer's stream is no JSON, so a part may be missing"
	}
	return r.end(class, resp.Stop, why+"; none of its calls was run")
}

func argumentsCut(resp *wire.Response) bool {
	return slices.ContainsFunc(resp.Problems, func(p wire.Problem) bool { return p.Kind == wire.ProblemArgsCut })
}

// finish is the outcome of a turn after which nothing is to be done.
func (r *run) finish(resp *wire.Response) harness.Outcome {
	answer := resp.Text()
	switch resp.Stop {
	case wire.StopDone:
		if len(resp.Calls()) > 0 {
			return r.end(failure.Protocol, resp.Stop, fmt.Sprintf("the turn calls a tool and its stop reason (%s) does not ask for it; nothing was run", first(resp.RawStop)))
		}
		if answer == "" {
			return r.end(failure.EmptyResponse, resp.Stop, "the model ended its turn without a word")
		}
		end := r.end(failure.None, resp.Stop, "")
		end.Answer = answer
		return end
	case wire.StopTruncated:
		return r.end(failure.Truncated, resp.Stop, fmt.Sprintf(
			"the answer was cut (%s); none of its calls was run", first(resp.RawStop)))
	case wire.StopRefused:
		return r.end(failure.Refused, resp.Stop, "the model declined"+colon(answer))
	case wire.StopMalformed:
		return r.end(failure.Malformed, resp.Stop, fmt.Sprintf("the model's call cannot be read (%s)", first(resp.RawStop)))
	case wire.StopNone:
		return r.end(failure.Truncated, resp.Stop, "the answer has no stop reason; none of its calls was run")
	default:
		return r.end(failure.UnknownStop, resp.Stop, fmt.Sprintf("stop reason %q is not known; nothing was run", first(resp.RawStop)))
	}
}

func (r *run) end(class failure.Class, stop wire.Stop, detail string) harness.Outcome {
	tokens := r.tokens
	return harness.Outcome{Class: class, Stop: stop, Detail: detail, Iterations: r.iterations, Tokens: &tokens}
}

func first(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return words[0]
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

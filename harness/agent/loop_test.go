package agent_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/agent"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// row is a model's and tools' behaviour, and how the loop must end with it.
type row struct {
	why   string
	turns []script.Turn // Stop may be a neutral stop, see words
	tools []script.Answer
	edit  func(s *scenario.Scenario, p *harness.Params)

	only   []wire.API // none: all four
	stream *bool      // nil: both

	class    failure.Class
	attempts int           // HTTP requests; 0: one for each turn
	reached  int           // tool calls that reached a tool
	at       time.Duration // how long it took on the run's clock
	told     string        // what the first call's result must contain
}

var apis = []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate}

var neutral = []wire.Stop{wire.StopTruncated, wire.StopRefused, wire.StopPaused, wire.StopToolCalls, wire.StopMalformed}

// words are the providers' words for stops. A row with a stop that an API has no
// word for does not apply to it.
var words = map[wire.API]map[wire.Stop]string{
	wire.AnthropicMessages: {
		wire.StopTruncated: "max_tokens", wire.StopRefused: "refusal", wire.StopPaused: "pause_turn", wire.StopToolCalls: "tool_use",
	},
	wire.OpenAIChat: {
		wire.StopTruncated: "length", wire.StopRefused: "content_filter", wire.StopToolCalls: "tool_calls",
	},
	wire.OpenAIResponses: {wire.StopTruncated: "incomplete:max_output_tokens", wire.StopRefused: "incomplete:content_filter"},
	wire.GeminiGenerate: {
		wire.StopTruncated: "MAX_TOKENS", wire.StopRefused: "SAFETY", wire.StopMalformed: "MALFORMED_FUNCTION_CALL",
	},
}

// spoken are the row's turns in an API's words; false when it has none for one.
func (r *row) spoken(api wire.API) ([]script.Turn, bool) {
	turns := make([]script.Turn, len(r.turns))
	for i, t := range r.turns {
		if s := wire.Stop(t.Stop); slices.Contains(neutral, s) {
			if t.Stop = words[api][s]; t.Stop == "" {
				return nil, false
			}
		}
		turns[i] = t
	}
	return turns, true
}

func (r *row) applies(api wire.API, stream bool) bool {
	if r.stream != nil && *r.stream != stream {
		return false
	}
	return len(r.only) == 0 || slices.Contains(r.only, api)
}

// run leads the row's conversation with one API.
func (r *row) run(ctx context.Context, api wire.API, stream bool, turns []script.Turn) *harness.Result {
	s := &scenario.Scenario{
		Name: "loop", File: "loop.yaml", Why: r.why, Owner: "retake", System: []string{"Be brief."},
		Turns: []scenario.Turn{{User: "go"}}, Models: []string{"m"}, API: api, Stream: stream,
		Tools: []tool.Decl{{Name: "look", Effect: tool.EffectRead, Input: jsontext.Value(
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`)}},
		GiveUp: scenario.GiveUp{RepeatedCalls: 3, Pauses: 5}, OnPartial: scenario.PartialReport,
		Expect: scenario.Expect{Outcome: string(r.class)},
	}
	tools := &script.Tools{Answers: map[string][]script.Answer{"look": r.tools}}
	p := harness.Params{
		Scenario: s, Model: "m", API: api, Agent: agent.Loop{},
		Transport: &script.Model{API: api, Name: "m", Turns: turns},
		Executors: map[string]tool.Executor{"look": tools},
	}
	if r.edit != nil {
		r.edit(s, &p)
	}
	return harness.Exec(ctx, p)
}

// check holds a run against the row. That the verdict is a pass says that the
// outcome is the expected one and no rule of the contract was broken.
func (r *row) check(t *testing.T, got *harness.Result) {
	t.Helper()
	want := r.attempts
	if want == 0 {
		want = len(r.turns)
	}
	reached := 0
	for _, a := range got.Attempts {
		if a.Reached {
			reached++
		}
	}
	if got.Outcome.Class != r.class || len(got.Models) != want || reached != r.reached || got.Latency != r.at || got.Verdict != harness.Pass {
		t.Errorf("%s: got %s, class %q, %d attempts at the model, %d calls that reached a tool, after %v;\n"+
			"want pass, class %q, %d, %d, %v\n%s\n%s", r.why, got.Verdict, got.Outcome.Class, len(got.Models), reached, got.Latency,
			r.class, want, r.reached, r.at, report.Explain(got, 2), got.Transcript)
	}
	if r.told != "" && (len(got.Calls) == 0 || !strings.Contains(got.Calls[0].Text, r.told)) {
		t.Errorf("%s: the model was not told %q\n%s", r.why, r.told, got.Transcript)
	}
}

func testRows(t *testing.T, rows []row) {
	t.Helper()
	for i := range rows {
		r := &rows[i]
		ran := 0
		for _, api := range apis {
			turns, ok := r.spoken(api)
			for _, stream := range []bool{false, true} {
				if !ok || !r.applies(api, stream) {
					continue
				}
				ran++
				t.Run(fmt.Sprintf("%s/%s/stream=%v", r.why, api, stream), func(t *testing.T) {
					r.check(t, r.run(t.Context(), api, stream, turns))
				})
			}
		}
		if ran == 0 {
			t.Errorf("%s: no API has the words for it", r.why)
		}
	}
}

// look is a call of the one tool there is.
func look(q string) script.Call { return script.Call{Name: "look", Args: `{"q":"` + q + `"}`} }

var (
	found   = script.Answer{Content: `{"ok":true}`}
	fails   = script.Answer{Err: &tool.Error{Code: "NOT_FOUND", Message: "no such thing", Class: failure.ToolFailed}}
	done    = script.Turn{Text: "done"}
	reset   = script.Turn{Broken: syscall.ECONNRESET}
	refused = func(status int) script.Turn {
		return script.Turn{Status: status, Error: &wire.APIError{Type: "test_error", Message: "no"}}
	}
	streamed = new(true)
	whole    = new(false)
)

func calls(c ...script.Call) script.Turn { return script.Turn{Calls: c} }

func stopped(t script.Turn, stop wire.Stop) script.Turn {
	t.Stop = string(stop)
	return t
}

// damaged puts an event that is no JSON into each answer's stream.
func damaged(_ *scenario.Scenario, p *harness.Params) {
	model := p.Transport
	p.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := model.RoundTrip(req)
		if err == nil {
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("data: <html>\n\n"), resp.Body))
			resp.ContentLength = -1
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// The attempt itself is filed as what it was, whatever the agent makes of it.
func TestAnAttemptWithADamagedStreamIsNoGoodOne(t *testing.T) {
	for _, api := range apis {
		r := row{turns: []script.Turn{done}, edit: damaged, class: failure.Protocol}
		got := r.run(t.Context(), api, true, r.turns)
		if len(got.Models) != 1 || got.Models[0].Class != failure.Protocol || got.Models[0].Hung {
			t.Errorf("%s: %s", api, got.Transcript)
		}
	}
}

// How a turn ends decides what is done with it: calls run when it is complete
// and its stop asks for them, and else never.
func TestStops(t *testing.T) {
	anthropic, chat := []wire.API{wire.AnthropicMessages}, []wire.API{wire.OpenAIChat}
	half := script.Call{Name: "look", Args: `{"q":"a`}
	testRows(t, []row{
		{why: "a finished turn ends the run", turns: []script.Turn{done}},
		{why: "a stop sequence is a finish", turns: []script.Turn{{Text: "done", Stop: "stop_sequence"}}, only: anthropic},
		{why: "calls are run, answered and gone on from", turns: []script.Turn{calls(look("a")), done}, tools: []script.Answer{found}, reached: 1},
		{why: "all calls of a turn are answered at once", turns: []script.Turn{calls(look("a"), look("b")), calls(look("c")), done}, tools: []script.Answer{found, found, found}, reached: 3},
		{why: "a text that is cut is no answer", turns: []script.Turn{stopped(script.Turn{Text: "do"}, wire.StopTruncated)}, class: failure.Truncated},
		{why: "a call in a turn that is cut does not run", turns: []script.Turn{stopped(calls(look("a")), wire.StopTruncated)}, class: failure.Truncated},
		{why: "nor does one whose arguments are cut", turns: []script.Turn{stopped(calls(half), wire.StopTruncated)}, class: failure.Truncated},
		{why: "a full context window cuts, too", turns: []script.Turn{{Calls: []script.Call{look("a")}, Stop: "model_context_window_exceeded"}}, only: anthropic, class: failure.Truncated},
		{why: "a paused turn goes on", turns: []script.Turn{stopped(script.Turn{Text: "well"}, wire.StopPaused), done}},
		{
			why:   "but not for ever",
			turns: []script.Turn{stopped(script.Turn{Text: "well"}, wire.StopPaused), stopped(script.Turn{Text: "well"}, wire.StopPaused), stopped(script.Turn{Text: "well"}, wire.StopPaused)},
			edit:  func(s *scenario.Scenario, _ *harness.Params) { s.GiveUp.Pauses = 2 }, class: failure.PauseCap,
		},
		{why: "a compaction is a pause", turns: []script.Turn{{Text: "well", Stop: "compaction"}, done}, only: anthropic},
		{why: "a refusal ends the run", turns: []script.Turn{stopped(script.Turn{Text: "no"}, wire.StopRefused)}, class: failure.Refused},
		{why: "a call beside a refusal does not run", turns: []script.Turn{stopped(calls(look("a")), wire.StopRefused)}, class: failure.Refused},
		{why: "a call that the provider could not read", turns: []script.Turn{stopped(script.Turn{Text: "x"}, wire.StopMalformed)}, class: failure.Malformed},
		{why: "a stop reason of tomorrow is not guessed at", turns: []script.Turn{{Text: "x", Stop: "bored"}}, class: failure.UnknownStop},
		{why: "and nothing runs under it", turns: []script.Turn{{Calls: []script.Call{look("a")}, Stop: "bored"}}, class: failure.UnknownStop},
		{why: "a turn without a stop reason was cut", turns: []script.Turn{{Calls: []script.Call{look("a")}, NoStop: true}}, only: []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.GeminiGenerate}, class: failure.Truncated},
		{why: "a call does not run when an event of its stream is no JSON", turns: []script.Turn{{Calls: []script.Call{look("a")}}}, stream: streamed, edit: damaged, class: failure.Protocol},
		{why: "nor is what is left of a text an answer", turns: []script.Turn{done}, stream: streamed, edit: damaged, class: failure.Protocol},
		{why: "a stream that ends within the arguments, without its end", turns: []script.Turn{{Calls: []script.Call{half}, NoStop: true, Cut: true}}, stream: streamed, class: failure.Truncated},
		{why: "a stream that ends within the arguments, with its end", turns: []script.Turn{{Calls: []script.Call{half}, NoStop: true}}, stream: streamed, class: failure.Truncated},
		{why: "arguments that are cut in a turn that asks for its calls", turns: []script.Turn{calls(half)}, class: failure.Truncated},
		{why: "one call that is cut holds back the others", turns: []script.Turn{calls(look("a"), half)}, class: failure.Truncated},
		{why: "a stream without its end, although the stop reason came", turns: []script.Turn{{Calls: []script.Call{look("a")}, Cut: true}}, stream: streamed, class: failure.Truncated},
		{why: "a gateway's page is no answer", turns: []script.Turn{{Body: new("<html>Bad gateway</html>")}}, stream: whole, class: failure.Protocol},
		{why: "no more is nothing at all", turns: []script.Turn{{Body: new("")}}, stream: whole, class: failure.Protocol},
		{
			why: "a stream that breaks off in the middle of an event", only: anthropic, stream: streamed, class: failure.Truncated,
			turns: []script.Turn{{Body: new("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\nevent: content_bl")}},
		},
		{
			why: "a later turn of the user's does not come after an end that is none", turns: []script.Turn{stopped(script.Turn{Text: "no"}, wire.StopRefused)},
			edit: func(s *scenario.Scenario, _ *harness.Params) { s.Turns = append(s.Turns, scenario.Turn{User: "sure?"}) }, class: failure.Refused,
		},
		{why: "a finished turn without a word", turns: []script.Turn{{}}, class: failure.EmptyResponse},
		{why: "nor after a result", turns: []script.Turn{calls(look("a")), {}}, tools: []script.Answer{found}, reached: 1, class: failure.EmptyResponse},
		{why: "a call whose stop does not ask for it neither runs nor is the end of the task", turns: []script.Turn{{Text: "x", Calls: []script.Call{look("a")}, Stop: "end_turn"}}, only: anthropic, class: failure.Protocol},
		{why: "a stop that asks for tools, without a call", turns: []script.Turn{stopped(script.Turn{Text: "x"}, wire.StopToolCalls)}, only: append(anthropic, chat...), class: failure.Protocol},
	})
}

// What the loop watches so that it ends.
func TestLimits(t *testing.T) {
	limit := func(l scenario.Limits) func(*scenario.Scenario, *harness.Params) {
		return func(s *scenario.Scenario, _ *harness.Params) { s.Limits = l }
	}
	slow := func(t script.Turn, d time.Duration) script.Turn {
		t.Latency = d
		return t
	}
	testRows(t, []row{
		{
			why: "model turns", turns: []script.Turn{calls(look("a")), calls(look("b"))}, tools: []script.Answer{found, found},
			edit: limit(scenario.Limits{Iterations: 2}), class: failure.IterationCap, reached: 2,
		},
		{
			why: "the same call again and again, however it is spelled", tools: []script.Answer{found, found},
			turns: []script.Turn{calls(look("a")), calls(script.Call{Name: "look", Args: `{ "q": "a" }`}), calls(look("a"))},
			edit:  func(s *scenario.Scenario, _ *harness.Params) { s.GiveUp.RepeatedCalls = 2 }, class: failure.RepeatedCall, reached: 2,
		},
		{
			why: "tokens, used to the last one", tools: []script.Answer{found},
			turns: []script.Turn{{Calls: []script.Call{look("a")}, Usage: script.Usage{Input: 50, Output: 10}}, {Text: "done", Usage: script.Usage{Input: 30, Output: 10}}},
			edit:  limit(scenario.Limits{Tokens: 100}), reached: 1,
		},
		{
			why: "tokens, counted over all turns", tools: []script.Answer{found},
			turns: []script.Turn{{Calls: []script.Call{look("a")}, Usage: script.Usage{Input: 50, Output: 10}}, {Calls: []script.Call{look("b")}, Usage: script.Usage{Input: 30, Output: 11}}},
			edit:  limit(scenario.Limits{Tokens: 100}), class: failure.TokenBudget, reached: 1,
		},
		{
			why: "tool calls: of a turn that goes over the budget none is run", turns: []script.Turn{calls(look("a"), look("b"))},
			edit: limit(scenario.Limits{ToolCalls: 1}), class: failure.CallBudget,
		},
		{
			why: "the run's time, during a model call", turns: []script.Turn{slow(calls(look("a")), 3*time.Second), slow(done, 3*time.Second)}, tools: []script.Answer{found},
			edit: limit(scenario.Limits{Time: 5 * time.Second}), class: failure.TimeBudget, reached: 1, at: 5 * time.Second,
		},
		{
			why: "the run's time, during a tool call", turns: []script.Turn{slow(calls(look("a")), time.Second)}, tools: []script.Answer{{Content: "late", Latency: time.Minute}},
			edit: limit(scenario.Limits{Time: 5 * time.Second}), class: failure.TimeBudget, reached: 1, at: 5 * time.Second,
		},
		{
			why: "the run's time, during the wait before a retry", turns: []script.Turn{{Status: 429, RetryAfter: 20 * time.Second, Error: &wire.APIError{Type: "test_error"}}},
			edit: limit(scenario.Limits{Time: 5 * time.Second}), class: failure.TimeBudget, at: 5 * time.Second,
		},
	})
}

// What may be wrong with a call, or with its tool.
func TestCalls(t *testing.T) {
	second := func(d time.Duration) script.Answer { return script.Answer{Content: "x", Latency: d} }
	testRows(t, []row{
		{
			why: "two calls with one id", turns: []script.Turn{calls(script.Call{ID: "c", Name: "look", Args: `{"q":"a"}`}, script.Call{ID: "c", Name: "look", Args: `{"q":"b"}`})},
			class: failure.DuplicateCall,
		},
		{
			why: "arguments that do not fit are refused before the tool, field by field", turns: []script.Turn{calls(script.Call{Name: "look", Args: `{"q":7}`}), done},
			told: "/q: must be a string",
		},
		{why: "a field that is missing is named", turns: []script.Turn{calls(script.Call{Name: "look", Args: `{}`}), done}, told: "q"},
		{why: "a tool that was not declared is refused with what there is", turns: []script.Turn{calls(script.Call{Name: "peek", Args: `{}`}), done}, told: "look"},
		{
			why: "a call that policy forbids is refused before the tool", turns: []script.Turn{calls(look("a")), done}, told: "BLOCKED_BY_POLICY",
			edit: func(s *scenario.Scenario, _ *harness.Params) {
				s.Guard = []scenario.Block{{Tool: "look", Reason: "not today"}}
			},
		},
		{why: "a tool's error is told, and the model goes on", turns: []script.Turn{calls(look("a")), done}, tools: []script.Answer{fails}, reached: 1, told: `"ok":false`},
		{why: "one of several fails, and the model is told", turns: []script.Turn{calls(look("a"), look("b")), done}, tools: []script.Answer{fails, found}, reached: 2, told: "NOT_FOUND"},
		{
			why: "one of several fails, and the scenario says to stop then", turns: []script.Turn{calls(look("a"), look("b"))}, tools: []script.Answer{found, fails},
			edit: func(s *scenario.Scenario, _ *harness.Params) { s.OnPartial = scenario.PartialStop }, class: failure.PartialFailed, reached: 2,
		},
		{
			why: "a lone call that fails is no partial failure", turns: []script.Turn{calls(look("a")), done}, tools: []script.Answer{fails},
			edit: func(s *scenario.Scenario, _ *harness.Params) { s.OnPartial = scenario.PartialStop }, reached: 1,
		},
		{
			why: "tool errors come to an end", turns: []script.Turn{calls(look("a")), calls(look("b"))}, tools: []script.Answer{fails, fails},
			edit: func(s *scenario.Scenario, _ *harness.Params) { s.GiveUp.ToolErrors = 1 }, class: failure.ToolErrorCap, reached: 2,
		},
		{
			why: "calls of one turn take the time of the longest", turns: []script.Turn{calls(look("a"), look("b")), done},
			tools: []script.Answer{second(time.Second), second(3 * time.Second)}, reached: 2, at: 3 * time.Second,
		},
		{
			why: "a call that runs out of its time is answered with an error beside the others", told: "UPSTREAM_TIMEOUT",
			turns: []script.Turn{calls(look("a"), look("b")), done}, tools: []script.Answer{second(time.Minute), found},
			edit: func(s *scenario.Scenario, _ *harness.Params) { s.Tools[0].Timeout = 2 * time.Second }, reached: 2, at: 2 * time.Second,
		},
		{
			why: "beyond the cap they wait for their turn", turns: []script.Turn{calls(look("a"), look("b"), look("c")), done},
			tools: []script.Answer{second(time.Second), second(3 * time.Second), second(time.Second)},
			edit:  func(s *scenario.Scenario, _ *harness.Params) { s.Limits.Parallel = 2 }, reached: 3, at: 3 * time.Second,
		},
	})
}

// Retries are made here and nowhere else: of what may pass by itself, as often
// as the policy says, and not before the provider wants them.
func TestRetries(t *testing.T) {
	later := func(d time.Duration) script.Turn {
		return script.Turn{Status: 429, RetryAfter: d, Error: &wire.APIError{Type: "test_error", Message: "slow down"}}
	}
	slow := script.Turn{Text: "late", Latency: 5 * time.Second}
	testRows(t, []row{
		{why: "the wait that a 429 asks for is kept", turns: []script.Turn{later(20 * time.Second), done}, at: 20 * time.Second},
		{why: "a wait of days is not", turns: []script.Turn{later(48 * time.Hour)}, class: failure.RateLimited},
		{why: "a 429 that says nothing is waited for as usual", turns: []script.Turn{refused(429), done}, at: 500 * time.Millisecond},
		{why: "overload passes", turns: []script.Turn{refused(529), refused(529), done}, at: 1500 * time.Millisecond},
		{why: "or does not", turns: []script.Turn{refused(529), refused(529), refused(529)}, class: failure.Overloaded, at: 1500 * time.Millisecond},
		{why: "a server error passes", turns: []script.Turn{refused(500), done}, at: 500 * time.Millisecond},
		{why: "or does not, however it is spelled", turns: []script.Turn{refused(500), refused(502), refused(500)}, class: failure.ServerError, at: 1500 * time.Millisecond},
		{why: "a connection that is reset", turns: []script.Turn{reset, done}, at: 500 * time.Millisecond},
		{why: "and again, to the bound", turns: []script.Turn{reset, reset, reset}, class: failure.Transport, at: 1500 * time.Millisecond},
		{why: "the bound is of one model call, not of the run", turns: []script.Turn{reset, reset, calls(look("a")), reset, reset, done}, tools: []script.Answer{found}, reached: 1, at: 3 * time.Second},
		{
			why: "an attempt has its time, and its retries", turns: []script.Turn{slow, slow, done}, at: 2*2*time.Second + 1500*time.Millisecond,
			edit: func(_ *scenario.Scenario, p *harness.Params) { p.Retry.Timeout = 2 * time.Second },
		},
		{
			why: "the policy may be none", turns: []script.Turn{refused(500)}, class: failure.ServerError,
			edit: func(_ *scenario.Scenario, p *harness.Params) { p.Retry.Attempts = 1 },
		},
		{
			why: "the wait grows to its bound", turns: []script.Turn{reset, reset, reset, reset, done}, at: 5500 * time.Millisecond,
			edit: func(_ *scenario.Scenario, p *harness.Params) {
				p.Retry = harness.Retry{Attempts: 5, Backoff: time.Second, MaxBackoff: 1500 * time.Millisecond}
			},
		},
		{why: "a wrong request stays wrong", turns: []script.Turn{refused(400)}, class: failure.ClientError},
		{why: "so does a wrong key", turns: []script.Turn{refused(401)}, class: failure.Unauthorized},
		{why: "and one that may not", turns: []script.Turn{refused(403)}, class: failure.Unauthorized},
		{why: "an error with status 200 is one of its type", turns: []script.Turn{{Error: &wire.APIError{Type: "server_error", Message: "sorry"}}, done}, at: 500 * time.Millisecond},
		{
			why: "overload inside a stream of status 200", turns: []script.Turn{{Error: &wire.APIError{Type: "overloaded_error", Message: "busy"}}, done},
			only: []wire.API{wire.AnthropicMessages}, stream: streamed, at: 500 * time.Millisecond,
		},
	})
}

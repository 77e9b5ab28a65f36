package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

func text(s string) wire.Block { return wire.Block{Kind: wire.KindText, Text: s} }

func call(id, name string) wire.Block {
	return wire.Block{Kind: wire.KindToolCall, ID: id, Name: name, Args: jsontext.Value(`{"n":1}`)}
}

func callWith(id, name, args string) wire.Block {
	return wire.Block{Kind: wire.KindToolCall, ID: id, Name: name, Args: jsontext.Value(args)}
}

func result(id, content string) wire.Block {
	return wire.Block{Kind: wire.KindToolResult, ID: id, Result: []wire.Block{text(content)}}
}

func failed(id, content string) wire.Block {
	b := result(id, content)
	b.IsError = true
	return b
}

func user(blocks ...wire.Block) wire.Message {
	return wire.Message{Role: wire.RoleUser, Blocks: blocks}
}

func assistant(blocks ...wire.Block) wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Blocks: blocks}
}

func done(s string) *wire.Response {
	return &wire.Response{Complete: true, Stop: wire.StopDone, RawStop: []string{"end_turn"}, Message: assistant(text(s))}
}

func calling(blocks ...wire.Block) *wire.Response {
	return &wire.Response{Complete: true, Stop: wire.StopToolCalls, RawStop: []string{"tool_use"}, Message: assistant(blocks...)}
}

// asked is a model attempt with these messages; ordinals and times are set by
// evidence.
func asked(r *wire.Response, messages ...wire.Message) *journal.ModelAttempt {
	return &journal.ModelAttempt{
		API: wire.AnthropicMessages, Status: 200, Response: r, Latency: time.Second, Request: &wire.Request{Messages: messages},
	}
}

func by(api wire.API, m *journal.ModelAttempt) *journal.ModelAttempt { m.API = api; return m }

// errored is an attempt that the provider turned down.
func errored(status int, class failure.Class, messages ...wire.Message) *journal.ModelAttempt {
	m := asked(&wire.Response{Err: &wire.APIError{Status: status}}, messages...)
	m.Status, m.Class = status, class
	return m
}

// evidence gives the attempts their ordinals and, where they have none, a
// second each.
func evidence(models ...*journal.ModelAttempt) contract.Evidence {
	at := time.Duration(0)
	for i, m := range models {
		m.Ordinal = i + 1
		if m.At == 0 {
			m.At = at
		}
		at = m.At + m.Latency
	}
	return contract.Evidence{Models: models, Ended: &journal.Ended{}, Elapsed: at}
}

// row is a run and what one rule says to it.
type row struct {
	why   string
	terms contract.Terms
	seen  contract.Evidence
	state contract.State // "" is held without breaches, breached with
	want  []string       // breaches as they are told
	part  failure.Part   // "" is the agent
}

// check holds each run against its rule, and wants nothing of the other rules
// that is not named in also.
func check(t *testing.T, rule contract.Rule, rows []row) {
	t.Helper()
	for _, tc := range rows {
		var f contract.Finding
		for _, got := range contract.Check(tc.terms, tc.seen) {
			if got.Rule == rule {
				f = got
			}
		}
		want := tc.state
		switch {
		case want == "" && len(tc.want) > 0:
			want = contract.Breached
		case want == "":
			want = contract.Held
		}
		var told []string
		for _, b := range f.Breaches {
			told = append(told, b.String())
			part := tc.part
			if part == "" {
				part = failure.PartAgent
			}
			if b.Part != part {
				t.Errorf("%s: %s: the %s is blamed, want the %s", rule, tc.why, b.Part, part)
			}
		}
		if diff := cmp.Diff(tc.want, told); diff != "" || f.State != want {
			t.Errorf("%s: %s: %s, want %s (-want +got):\n%s", rule, tc.why, f.State, want, diff)
		}
	}
}

func TestW1EveryCallIsAnsweredOnce(t *testing.T) {
	q := user(text("q"))
	ab := assistant(call("a", "f"), call("b", "g"))
	check(t, "W1", []row{
		{why: "without a request nothing is seen", seen: contract.Evidence{}, state: contract.NotObservable},
		{why: "a run without calls", seen: evidence(asked(done("x"), q))},
		{why: "both answered, in any order", seen: evidence(asked(done("x"), q, ab, user(result("b", "2"), result("a", "1"))))},
		{why: "texts after the results do not matter", seen: evidence(asked(done("x"), q, ab, user(result("a", "1"), result("b", "2"), text("go on"))))},
		{
			why:  "an interrupted batch: C was cancelled and is left out",
			seen: evidence(asked(done("x"), q, assistant(call("A", "f"), call("B", "f"), call("C", "f")), user(result("A", "1"), result("B", "2")))),
			want: []string{"W1: request 1, messages/1/2: f (\"C\") has no result in the next message; the API would have answered: 400 `tool_use` ids were found without `tool_result` blocks immediately after"},
		},
		{
			why:  "a call at the end that nobody answers",
			seen: evidence(by(wire.OpenAIChat, asked(done("x"), q, assistant(call("a", "f"))))),
			want: []string{"W1: request 1, messages/1/0: f (\"a\") has no result in the next message; the API would have answered: 400 an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"},
		},
		{
			why:  "the next message is too late",
			seen: evidence(by(wire.OpenAIResponses, asked(done("x"), q, assistant(call("a", "f")), user(text("wait")), user(result("a", "1"))))),
			want: []string{
				"W1: request 1, messages/1/0: f (\"a\") has no result in the next message; the API would have answered: 400 no tool output found for function call",
				"W1: request 1, messages/3/0: a result answers \"a\", which the message before does not call; the API would have answered: 400 no tool call found for function call output",
			},
		},
		{
			why:  "two results for one call",
			seen: evidence(asked(done("x"), q, assistant(call("a", "f")), user(result("a", "1"), result("a", "2")))),
			want: []string{"W1: request 1, messages/1/0: f (\"a\") has 2 results; the API would have answered: 400 each tool_use must have a single result"},
		},
		{
			why:  "a result that nobody asked for",
			seen: evidence(asked(done("x"), user(result("z", "1")))),
			want: []string{"W1: request 1, messages/0/0: a result answers \"z\", which the message before does not call; the API would have answered: 400 unexpected `tool_use_id` found in `tool_result` blocks"},
		},
		{
			why: "a conversation that the provider keeps has its calls there",
			seen: func() contract.Evidence {
				m := by(wire.OpenAIResponses, asked(done("x"), user(result("z", "1"))))
				m.Request.Continues = true
				return evidence(m)
			}(),
		},
		{why: "Gemini's calls have no ids: the number counts", seen: evidence(by(wire.GeminiGenerate, asked(done("x"), q, assistant(call("", "f"), call("", "f")), user(result("", "1"), result("", "2")))))},
		{
			why:  "and here it does not fit",
			seen: evidence(by(wire.GeminiGenerate, asked(done("x"), q, assistant(call("", "f"), call("", "f")), user(result("", "1"))))),
			want: []string{"W1: request 1, messages/1/0: 2 calls, 1 result in the next message; the API would have answered: 400 the number of function response parts must equal the number of function call parts"},
		},
		{
			why: "a defect that stays in the history is told once",
			seen: evidence(
				asked(done("x"), q, assistant(call("a", "f")), user(text("?"))),
				asked(done("y"), q, assistant(call("a", "f")), user(text("?")), assistant(text("x")), user(text("more")))),
			want: []string{"W1: request 1, messages/1/0: f (\"a\") has no result in the next message; the API would have answered: 400 `tool_use` ids were found without `tool_result` blocks immediately after"},
		},
	})
}

func TestW2IDsAreUnique(t *testing.T) {
	oneRejected := ran(evidence(asked(calling(call("a", "f"), call("a", "f")), user(text("q")))), made("a"), made("a"))
	oneRejected.Attempts[1].Reached = false
	again := evidence(asked(done("x"), user(text("q")), assistant(call("a", "f")), user(result("a", "1")), assistant(call("a", "f")), user(result("a", "1"))))
	noIDs := evidence(by(wire.GeminiGenerate, asked(done("x"), user(text("q")), assistant(call("", "f"), call("", "f")))))
	check(t, "W2", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "calls of one conversation with ids of their own", seen: evidence(asked(done("x"), assistant(call("a", "f"), call("b", "f"))))},
		{why: "no ids are not twice the same", seen: noIDs},
		{why: "two conversations may count alike", seen: evidence(asked(done("x"), assistant(call("a", "f"))), asked(done("x"), assistant(call("a", "g"))))},
		{
			why: "an id that the model used twice in a turn, sent back as it came", seen: evidence(asked(done("x"), user(text("q")), assistant(call("a", "f"), call("a", "g")), user(result("a", "1"), result("a", "2")))),
			want: []string{"W2: request 1, messages/1/1: the id \"a\" is used for two calls; the API would have answered: 400 `tool_use` ids must be unique"},
		},
		{
			why: "and both ran", seen: ran(evidence(asked(calling(call("a", "f"), call("a", "f")), user(text("q")))), made("a"), made("a")),
			want: []string{"W2: request 1: the model uses the id \"a\" for two calls, and both ran"},
		},
		{why: "only one of them ran, the other was rejected", seen: oneRejected},
		{why: "one call that was made again ran twice, and is one", seen: ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"), made("a"))},
		{why: "one id for two calls", seen: again, want: []string{"W2: request 1, messages/3/0: the id \"a\" is used for two calls; the API would have answered: 400 `tool_use` ids must be unique"}},
	})
}

func TestW3ResultsComeFirst(t *testing.T) {
	q, c := user(text("q")), assistant(call("a", "f"), call("b", "f"))
	check(t, "W3", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "a text behind them", seen: evidence(asked(done("x"), q, c, user(result("a", "1"), result("b", "1"), text("t"))))},
		{why: "a text before them", seen: evidence(asked(done("x"), q, c, user(text("t"), result("a", "1"), result("b", "1")))), want: []string{"W3: request 1, messages/2/2: something stands before a tool result in its message; the API would have answered: 400 tool results must come first in content"}},
		{why: "between them; this API does not mind, and the history is odd all the same", seen: evidence(by(wire.OpenAIChat, asked(done("x"), q, c, user(result("a", "1"), text("t"), result("b", "1"))))), want: []string{"W3: request 1, messages/2/2: something stands before a tool result in its message"}},
	})
}

// ran is the evidence of the tool seam: calls that reached their tools.
func ran(e contract.Evidence, calls ...*journal.ToolCall) contract.Evidence {
	e.ToolSeam, e.Calls = true, calls
	for i, c := range calls {
		c.Ordinal = i + 1
		if c.At == 0 {
			c.At = e.Elapsed
		}
		e.Attempts = append(e.Attempts, &journal.ToolAttempt{Call: c.Ordinal, Attempt: 1, Tool: c.Tool, CallID: c.CallID, Args: c.Args, Outcome: journal.OK, Reached: true})
	}
	return e
}

// made is a call of f.
func made(id string) *journal.ToolCall {
	return &journal.ToolCall{CallID: id, Tool: "f", Args: jsontext.Value(`{"n":1}`)}
}

func TestW4ToolsRunOnlyWhenAsked(t *testing.T) {
	q := user(text("q"))
	cut := calling(call("a", "f"))
	cut.Complete = false
	with := func(stop wire.Stop, raw string) *wire.Response {
		r := calling(call("a", "f"))
		r.Stop, r.RawStop = stop, []string{raw}
		if raw == "" {
			r.RawStop = nil
		}
		return r
	}
	unreached := ran(evidence(asked(with(wire.StopTruncated, "max_tokens"), q)), made("a"))
	unreached.Attempts[0].Reached = false
	check(t, "W4", []row{
		{why: "no seam, nothing seen", seen: evidence(asked(done("x"), q)), state: contract.NotObservable},
		{why: "no call", seen: ran(evidence(asked(done("x"), q))), state: contract.NotApplicable},
		{why: "asked for", seen: ran(evidence(asked(calling(call("a", "f")), q)), made("a"))},
		{why: "asked for without an id, in another spelling", seen: ran(evidence(by(wire.GeminiGenerate, asked(calling(callWith("", "f", `{ "n": 1 }`)), q))), made(""))},
		{why: "a stream that was cut", seen: ran(evidence(asked(cut, q)), made("a")), want: []string{"W4: request 1: f ran and a part of the answer that asked for it is missing"}},
		{why: "a limit inside the call", seen: ran(evidence(asked(with(wire.StopTruncated, "max_tokens"), q)), made("a")), want: []string{"W4: request 1: f ran and its turn ended with truncated (max_tokens)"}},
		{why: "a refusal beside a call", seen: ran(evidence(asked(with(wire.StopRefused, "refusal"), q)), made("a")), want: []string{"W4: request 1: f ran and its turn ended with refused (refusal)"}},
		{why: "a call that was rejected did not run", seen: unreached},
		{why: "arguments that cannot be read, and {} in their place", seen: ran(evidence(asked(calling(wire.Block{Kind: wire.KindToolCall, ID: "a", Name: "f", ArgsText: `{"n":`}), q)), &journal.ToolCall{CallID: "a", Tool: "f", Args: jsontext.Value(`{}`)}), want: []string{"W4: request 1: f ran with {}, and the arguments that the model wrote are no JSON"}},
		{why: "no stop reason at all", seen: ran(evidence(asked(with(wire.StopNone, ""), q)), made("a")), want: []string{"W4: request 1: f ran and its turn ended with no stop reason"}},
		{why: "a call that the model never made", seen: ran(evidence(asked(done("x"), q)), made("z")), want: []string{"W4: f ran and no turn of the model asked for it"}},
	})
}

func TestW5Budgets(t *testing.T) {
	q := user(text("q"))
	n := int64(60)
	two := func() contract.Evidence {
		e := evidence(asked(calling(call("a", "f"), call("b", "f")), q), asked(done("x"), q))
		for _, m := range e.Models {
			m.Response.Usage = wire.Usage{Input: &n, Output: &n, Reasoning: &n}
		}
		return e
	}
	stopped := two()
	stopped.Ended = &journal.Ended{Class: failure.TokenBudget}
	check(t, "W5", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "without a limit nothing is compared", seen: two(), state: contract.NotApplicable},
		{why: "exactly the limits; reasoning is a part of the output", terms: contract.Terms{Iterations: 2, Tokens: 240, ToolCalls: 2, Time: 2 * time.Second}, seen: two()},
		{
			why: "over all of them", terms: contract.Terms{Iterations: 1, Tokens: 239, ToolCalls: 1, Time: time.Second}, seen: two(),
			want: []string{"W5: 2 model turns, budget 1", "W5: 240 tokens, budget 239", "W5: 2 tool calls, budget 1", "W5: 2s on the run's clock, budget 1s"},
		},
		{why: "the turn that goes over ends the run, as it should", terms: contract.Terms{Tokens: 239}, seen: stopped},
		{why: "the one before went over, and the run went on", terms: contract.Terms{Tokens: 119}, seen: stopped, want: []string{"W5: 240 tokens, budget 119"}},
		{why: "a part of an answer is no turn", terms: contract.Terms{Iterations: 1}, seen: broken()},
		{why: "as many calls at once as allowed, one after another beside them", terms: contract.Terms{Parallel: 2}, seen: together(0, 0, 10)},
		{why: "one too many", terms: contract.Terms{Parallel: 2}, seen: together(0, 5, 9), want: []string{"W5: 3 tool calls at once, at most 2"}},
		{
			why: "an hour that the provider asked for is the run's time, too", terms: contract.Terms{Time: time.Minute},
			seen: evidence(limitedFirst(time.Hour), late(time.Hour+time.Second, asked(done("x"), q))),
			want: []string{"W5: 1h0m2s on the run's clock, budget 1m0s; 1h0m0s of it were spent waiting as the provider asked"},
		},
		{
			why: "what was not waited for is not said to be", terms: contract.Terms{Time: time.Minute},
			seen: evidence(limitedFirst(time.Hour), late(2*time.Minute+time.Second, asked(done("x"), q))),
			want: []string{"W5: 2m2s on the run's clock, budget 1m0s; 2m0s of it were spent waiting as the provider asked"},
		},
		{why: "a result of the size that may be shown", terms: contract.Terms{ResultBytes: 5}, seen: evidence(asked(done("x"), q, assistant(call("a", "f")), user(result("a", "12345"))))},
		{
			why: "a larger one, told once", terms: contract.Terms{ResultBytes: 5},
			seen: evidence(
				asked(done("x"), q, assistant(call("a", "f")), user(result("a", "123456"))),
				asked(done("y"), q, assistant(call("a", "f")), user(result("a", "123456")), assistant(text("x")), user(text("?")))),
			want: []string{"W5: request 1, messages/2/0: a result of 6 bytes is shown to the model, at most 5; cut it with a mark that says so"},
		},
		{why: "a failed attempt is no turn", terms: contract.Terms{Iterations: 1}, seen: evidence(errored(529, failure.Overloaded, q), asked(done("x"), q))},
	})
}

// together is a run with calls of f that begin at these seconds and take ten.
func together(starts ...int) contract.Evidence {
	e := evidence(asked(done("x"), user(text("q"))))
	for _, s := range starts {
		e.Calls = append(e.Calls, &journal.ToolCall{At: time.Duration(s) * time.Second, Latency: 10 * time.Second})
	}
	return e
}

// late is an attempt at that time.
func late(at time.Duration, m *journal.ModelAttempt) *journal.ModelAttempt { m.At = at; return m }

func TestW6Effects(t *testing.T) {
	e := evidence(asked(done("x"), user(text("q"))))
	kept := e
	kept.Ledger = map[string]int{"pay": 2, "mail": 1}
	other := &journal.ToolCall{CallID: "b", Tool: "f", Args: jsontext.Value(`{"n":2}`)}
	check(t, "W6", []row{
		{why: "no ledger", terms: contract.Terms{Effects: map[string]int{}}, seen: e, state: contract.NotObservable},
		{why: "nothing expected of them", seen: kept, state: contract.NotApplicable},
		{why: "as expected", terms: contract.Terms{Effects: map[string]int{"pay": 2, "mail": 1, "look": 0}}, seen: kept},
		{
			why: "too many, and one nobody spoke of", terms: contract.Terms{Effects: map[string]int{"pay": 1}}, seen: kept,
			want: []string{"W6: mail: 1 effect, expected 0", "W6: pay: 2 effects, expected 1"},
		},
		{
			why: "fewer than the answer claims", terms: contract.Terms{Effects: map[string]int{"pay": 2, "mail": 1, "ship": 1}}, seen: kept, part: failure.PartModel,
			want: []string{"W6: ship: 0 effects, expected 1, and the run ended as completed: its answer claims more than was done"},
		},
		{
			why: "fewer, because a tool was down", terms: contract.Terms{Effects: map[string]int{"pay": 2, "mail": 1, "ship": 1}}, seen: ended(kept, failure.ToolErrorCap), part: failure.PartTool,
			want: []string{"W6: ship: 0 effects, expected 1"},
		},
		{why: "fewer, where the run was ended before", terms: contract.Terms{Effects: map[string]int{"pay": 3, "mail": 1, "ship": 1}, AtMost: true}, seen: kept},
		{
			why: "too many, where the run was ended before", terms: contract.Terms{Effects: map[string]int{"pay": 1, "mail": 1, "ship": 1}, AtMost: true}, seen: kept,
			want: []string{"W6: pay: 2 effects, expected 1"},
		},
		{
			why: "a tool that says that it reads, though nothing is expected of effects", terms: contract.Terms{Reads: map[string]bool{"mail": true}}, seen: kept, part: failure.PartTool,
			want: []string{"W6: mail is declared to read only, and had 1 effect"},
		},
		{
			why: "and though its effect is expected; told once", terms: contract.Terms{Effects: map[string]int{"pay": 2, "mail": 1}, Reads: map[string]bool{"mail": true}}, seen: kept, part: failure.PartTool,
			want: []string{"W6: mail is declared to read only, and had 1 effect"},
		},
		{
			why: "nor told again as one too many", terms: contract.Terms{Effects: map[string]int{"pay": 2}, Reads: map[string]bool{"mail": true}}, seen: kept, part: failure.PartTool,
			want: []string{"W6: mail is declared to read only, and had 1 effect"},
		},
		{why: "a tool that reads and does nothing else is no matter of effects", terms: contract.Terms{Reads: map[string]bool{"look": true}}, seen: kept, state: contract.NotApplicable},
		{
			why: "one operation, delivered twice to a tool that cannot know", terms: contract.Terms{Effects: map[string]int{"f": 1}, Unkeyed: map[string]bool{"f": true}},
			seen: delivered(2, made("a")), part: failure.PartTool,
			want: []string{"W6: f: 2 effects, expected 1; without an idempotency key nothing can tell the tool that it has seen the call"},
		},
		{
			why: "with a key it would have known: somebody made another one", terms: contract.Terms{Effects: map[string]int{"f": 1}}, seen: delivered(2, made("a")),
			want: []string{"W6: f: 2 effects, expected 1"},
		},
		{
			why: "two operations are two effects, key or not", terms: contract.Terms{Effects: map[string]int{"f": 1}, Unkeyed: map[string]bool{"f": true}}, seen: delivered(2, made("a"), other),
			want: []string{"W6: f: 2 effects, expected 1"},
		},
	})
}

// ended is the evidence of a run that ended so.
func ended(e contract.Evidence, class failure.Class) contract.Evidence {
	e.Ended = &journal.Ended{Class: class}
	return e
}

// delivered is a run with these calls of f and n effects of it.
func delivered(n int, calls ...*journal.ToolCall) contract.Evidence {
	e := ran(evidence(asked(done("x"), user(text("q")))), calls...)
	e.Ledger = map[string]int{"f": n}
	return e
}

func TestW10EveryFaultStrikes(t *testing.T) {
	terms := func(faults ...contract.Injected) contract.Terms { return contract.Terms{Faults: faults} }
	struck := contract.Injected{Name: "tool.slow@tool=f", Times: 2, Why: "what it says does not matter then"}
	check(t, "W10", []row{
		{why: "no fault", state: contract.NotApplicable},
		{why: "all struck", terms: terms(struck)},
		{
			why: "one did not fit, one was never due", part: failure.PartScenario,
			terms: terms(struck, contract.Injected{Name: "tool.empty@call=1", Why: "f call 1 attempt 1: the tool writes"}, contract.Injected{Name: "model.reset@call=9"}),
			want: []string{
				"W10: the fault tool.empty@call=1 did not strike: f call 1 attempt 1: the tool writes",
				"W10: the fault model.reset@call=9 did not strike: the run never came to its place",
			},
		},
	})
}

func TestW7Outcomes(t *testing.T) {
	e := ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"))
	bad := ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"))
	bad.Attempts[0].Outcome = "maybe"
	twice := ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"))
	late := *twice.Attempts[0]
	late.Outcome = journal.Unknown
	twice.Attempts = append(twice.Attempts, &late)
	check(t, "W7", []row{
		{why: "no seam", seen: evidence(asked(done("x"))), state: contract.NotObservable},
		{why: "ok is one of the four", seen: e},
		{why: "a result that came late is not a second end", seen: twice, want: []string{"W7: request 1: attempt 1 of f ended once more, as unknown"}, part: failure.PartHarness},
		{why: "anything else is our defect", seen: bad, want: []string{`W7: request 1: attempt 1 of f ended as "maybe"`}, part: failure.PartHarness},
	})
}

func TestW9IDs(t *testing.T) {
	e := evidence(asked(done("x")))
	check(t, "W9", []row{
		{why: "no ids", seen: e, state: contract.NotObservable},
		{why: "valid and distinct", terms: contract.Terms{TaskID: "t1", AttemptIDs: []string{"t1-a1", "t1-a2"}}, seen: e},
		{
			why: "a person's name, too long, used twice", seen: e, part: failure.PartHarness,
			terms: contract.Terms{TaskID: "jane@example.org", AttemptIDs: []string{strings.Repeat("x", 65), "a", "a"}},
			want: []string{
				`W9: task id "jane@example.org" is not 1 to 64 letters, digits, - or _`,
				fmt.Sprintf("W9: attempt id %q is not 1 to 64 letters, digits, - or _", strings.Repeat("x", 65)),
				`W9: attempt id "a" is used twice`,
			},
		},
	})
}

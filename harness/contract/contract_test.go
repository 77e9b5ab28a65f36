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
			want: []string{"W1: request 1, messages/1/0: 2 calls, 1 results in the next message; the API would have answered: 400 the number of function response parts must equal the number of function call parts"},
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
	again := evidence(asked(done("x"), user(text("q")), assistant(call("a", "f")), user(result("a", "1")), assistant(call("a", "f")), user(result("a", "1"))))
	noIDs := evidence(by(wire.GeminiGenerate, asked(done("x"), user(text("q")), assistant(call("", "f"), call("", "f")))))
	check(t, "W2", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "calls of one conversation with ids of their own", seen: evidence(asked(done("x"), assistant(call("a", "f"), call("b", "f"))))},
		{why: "no ids are not twice the same", seen: noIDs},
		{why: "two conversations may count alike", seen: evidence(asked(done("x"), assistant(call("a", "f"))), asked(done("x"), assistant(call("a", "g"))))},
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
		e.Attempts = append(e.Attempts, &journal.ToolAttempt{Call: c.Ordinal, Attempt: 1, Tool: c.Tool, Outcome: journal.OK, Reached: true})
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
		{why: "a failed attempt is no turn", terms: contract.Terms{Iterations: 1}, seen: evidence(errored(529, failure.Overloaded, q), asked(done("x"), q))},
	})
}

func TestW6Effects(t *testing.T) {
	e := evidence(asked(done("x"), user(text("q"))))
	kept := e
	kept.Ledger = map[string]int{"pay": 2, "mail": 1}
	check(t, "W6", []row{
		{why: "no ledger", terms: contract.Terms{Effects: map[string]int{}}, seen: e, state: contract.NotObservable},
		{why: "nothing expected of them", seen: kept, state: contract.NotApplicable},
		{why: "as expected", terms: contract.Terms{Effects: map[string]int{"pay": 2, "mail": 1, "look": 0}}, seen: kept},
		{
			why: "too many, one nobody spoke of, one missing", terms: contract.Terms{Effects: map[string]int{"pay": 1, "ship": 1}}, seen: kept,
			want: []string{"W6: mail: 1 effects, expected 0", "W6: pay: 2 effects, expected 1", "W6: ship: 0 effects, expected 1"},
		},
	})
}

func TestW7Outcomes(t *testing.T) {
	e := ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"))
	bad := ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"))
	bad.Attempts[0].Outcome = "maybe"
	check(t, "W7", []row{
		{why: "no seam", seen: evidence(asked(done("x"))), state: contract.NotObservable},
		{why: "ok is one of the four", seen: e},
		{why: "anything else is our defect", seen: bad, want: []string{`W7: attempt 1 of f ended as "maybe"`}, part: failure.PartHarness},
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

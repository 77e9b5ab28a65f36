package contract_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

func TestW8NothingLeaks(t *testing.T) {
	shown := func(b wire.Block) contract.Evidence {
		return evidence(asked(done("x"), user(text("q")), assistant(call("a", "f")), user(b)))
	}
	const place = "W8: request 1, messages/2/0: a tool result shows the model "
	systemText := func(s string) contract.Evidence {
		m := asked(done("x"), user(text("q")))
		m.Request.System = []wire.Block{text(s)}
		return evidence(m)
	}
	told := func(byTool string) contract.Evidence {
		return ran(shown(failed("a", `{"ok":false,"error":{"message":"open /etc/passwd"}}`)), &journal.ToolCall{CallID: "a", Tool: "f", Text: byTool})
	}
	key := "sk-ant-" + "REDACTEDexampleexample0123"
	check(t, "W8", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "a file tool may return paths and addresses", seen: shown(result("a", `{"files":["/home/u/a.txt","C:\\tmp"],"url":"http://localhost:8080/x","log":"goroutine 1 [running]"}`))},
		{why: "an error may not: a path", seen: shown(failed("a", "open /home/u/a.txt: no such file")), want: []string{place + `an absolute path: " /home/u/a.txt"`}, part: failure.PartTool},
		{why: "an error without a mark, by its form", seen: shown(result("a", `{"ok":false,"error":{"message":"open /etc/passwd"}}`)), want: []string{place + `an absolute path: " /etc/passwd"`}, part: failure.PartTool},
		{why: "a stack trace of Go", seen: shown(failed("a", "panic: x\n\ngoroutine 7 [running]:")), want: []string{place + `a stack trace: "panic: "`}, part: failure.PartTool},
		{why: "of Python", seen: shown(failed("a", "Traceback (most recent call last):\n  File")), want: []string{place + `a stack trace: "Traceback (most recent call last)"`}, part: failure.PartTool},
		{why: "an inner address", seen: shown(failed("a", "GET http://10.1.2.3/users failed")), want: []string{place + `an inner address: "http://10.1.2.3/users"`}, part: failure.PartTool},
		{why: "a query", seen: shown(failed("a", "near SELECT name FROM users")), want: []string{place + `a database query: "SELECT name FROM "`}, part: failure.PartTool},
		{why: "a query in small letters", seen: shown(failed("a", "near select * from users")), want: []string{place + `a database query: "select *"`}, part: failure.PartTool},
		{why: "a public address and a route are none", seen: shown(failed("a", "see https://docs.example.com/errors/42 and /v1/orders"))},
		{why: "a sentence is no query", seen: shown(failed("a", "please update the address and select another day from the list, then delete it"))},
		{why: "a key, in an error or not", seen: shown(result("a", "token "+key)), want: []string{place + "what looks like an API key"}, part: failure.PartTool},
		{why: "a secret that we know", terms: contract.Terms{Secrets: []string{"hunter2-hunter2"}}, seen: shown(result("a", "pw=hunter2-hunter2")), want: []string{place + "a secret from the configuration"}, part: failure.PartTool},
		{why: "in an instruction, which is the agent's doing", terms: contract.Terms{Secrets: []string{"hunter2-hunter2"}}, seen: systemText("log in with hunter2-hunter2"), want: []string{"W8: request 1, system/0: a text shows the model a secret from the configuration"}, part: failure.PartAgent},
		{why: "what was told by its tool is the tool's doing", seen: told(`{"ok":false,"error":{"message":"open /etc/passwd"}}`), want: []string{place + `an absolute path: " /etc/passwd"`}, part: failure.PartTool},
		{why: "what its tool did not say is the agent's", seen: told(`{"ok":false,"error":{"message":"no"}}`), want: []string{place + `an absolute path: " /etc/passwd"`}, part: failure.PartAgent},
		{
			why: "what was kept from the model is told as the tool's doing", part: failure.PartTool,
			seen: func() contract.Evidence {
				e := shown(failed("a", "the tool failed"))
				e.Attempts = append(e.Attempts, &journal.ToolAttempt{Tool: "f", Withheld: []string{"a stack trace"}})
				return e
			}(),
			want: []string{"W8: the error of f would have shown the model a stack trace; it was kept from it"},
		},
		{why: "a secret too short to tell from a word", terms: contract.Terms{Secrets: []string{"on"}}, seen: shown(result("a", "based on"))},
		{
			why: "shown first as a result, then as an error", part: failure.PartTool,
			seen: evidence(asked(done("x"), assistant(call("a", "f")), user(result("a", "/etc/passwd")), assistant(call("b", "f")), user(failed("b", "/etc/passwd")))),
			want: []string{`W8: request 1, messages/3/0: a tool result shows the model an absolute path: "/etc/passwd"`},
		},
	})
}

// long is a conversation of n requests; the last has another text where the
// first turn of the model was, when it is edited.
func long(n int, edited bool) contract.Evidence {
	history := []wire.Message{user(text("q"))}
	var models []*journal.ModelAttempt
	for i := range n {
		turn := calling(call(fmt.Sprint("c", i), "f"))
		msgs := slices.Clone(history)
		if edited && i == n-1 {
			msgs[1] = assistant(text("never said"))
		}
		models = append(models, asked(turn, msgs...))
		history = append(history, turn.Message, user(result(fmt.Sprint("c", i), "1")))
	}
	return evidence(models...)
}

func TestW11TheHistoryOnlyGrows(t *testing.T) {
	q, turn, back := user(text("q")), calling(call("a", "f")), user(result("a", "1"))
	edited := evidence(asked(turn, q), asked(done("x"), q, assistant(call("a", "g")), back))
	system := func(m *journal.ModelAttempt, s string) *journal.ModelAttempt {
		m.Request.System = []wire.Block{text(s)}
		return m
	}
	thought := wire.Block{Kind: wire.KindReasoning, Text: "hm", Raw: []byte(`{}`)}
	check(t, "W11", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "it grows", seen: evidence(asked(turn, q), asked(done("x"), q, turn.Message, back))},
		{why: "it grows for long", seen: long(9, false)},
		{why: "a turn that was changed, late", seen: long(9, true), want: []string{"W11: request 9, messages/1: the history is not that of request 8 with its answer"}},
		{why: "a turn that was changed", seen: edited, want: []string{"W11: request 2, messages/1: the history is not that of request 1 with its answer"}},
		{why: "a turn that was left out", seen: evidence(asked(turn, q), asked(done("x"), q, user(text("and?")))), want: []string{"W11: request 2, messages/1: the history is not that of request 1 with its answer"}},
		{why: "a compaction that was agreed", terms: contract.Terms{Compaction: true}, seen: edited},
		{why: "a regenerate is the same request once more", seen: evidence(asked(turn, q), asked(done("x"), q, turn.Message, back), asked(done("y"), q, turn.Message, back))},
		{why: "the whole task once more", seen: evidence(asked(turn, q), asked(done("x"), q, turn.Message, back), asked(turn, q), asked(done("x"), q, turn.Message, back))},
		{why: "a retry", seen: evidence(errored(529, failure.Overloaded, q), asked(done("x"), q))},
		{why: "two conversations in turns", seen: evidence(asked(turn, q), asked(done("s"), user(text("other"))), asked(done("x"), q, turn.Message, back), asked(done("t"), user(text("other")), assistant(text("s")), user(text("more"))))},
		{why: "the same words to a helper with another system text", seen: evidence(system(asked(turn, q), "main"), system(asked(done("s"), q, assistant(text("example")), q), "helper"))},
		{why: "two answers to one question, both followed", seen: evidence(asked(done("a"), q), asked(done("b"), q), asked(done("x"), q, assistant(text("a")), user(text("1"))), asked(done("y"), q, assistant(text("b")), user(text("2"))))},
		{why: "reasoning need not be sent back", seen: evidence(asked(calling(thought, call("a", "f")), q), asked(done("x"), q, assistant(call("a", "f")), back))},
	})
}

// limitedFirst is a rate-limited attempt at the beginning of the run, with what the answer
// asks to wait.
func limitedFirst(wait time.Duration) *journal.ModelAttempt {
	m := errored(429, failure.RateLimited, user(text("q")))
	m.At, m.RetryAfter = 0, wait
	return m
}

func TestW12Retries(t *testing.T) {
	q := user(text("q"))
	var many, reset []*journal.ModelAttempt
	for range 45 {
		many = append(many, errored(529, failure.Overloaded, q))
	}
	for range 3 {
		m := asked(nil, q)
		m.Class, m.Status = failure.Transport, 0
		reset = append(reset, m)
	}
	bound := contract.Terms{ModelAttempts: 3}
	at := func(t time.Duration, m *journal.ModelAttempt) *journal.ModelAttempt { m.At = t; return m }
	check(t, "W12", []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "neither a bound nor a retry: nothing is compared", seen: evidence(asked(done("x"), q)), state: contract.NotApplicable},
		{why: "without a bound, what a retry is due to and how long it waits are", seen: evidence(errored(529, failure.Overloaded, q), asked(done("x"), q))},
		{why: "within the bound", terms: bound, seen: evidence(errored(529, failure.Overloaded, q), errored(500, failure.ServerError, q), asked(done("x"), q))},
		{why: "answers in between are other calls", terms: bound, seen: evidence(errored(529, failure.Overloaded, q), asked(done("x"), q), errored(529, failure.Overloaded, q), asked(done("x"), q), asked(done("x"), q), asked(done("x"), q))},
		{why: "retries multiply: the SDK's by the loop's by the job's", terms: bound, seen: evidence(many...), want: []string{"W12: request 45: 45 attempts of one model call, the bound is 3"}},
		{why: "a try after a part of an answer is a retry", terms: contract.Terms{ModelAttempts: 1}, seen: broken(), want: []string{"W12: request 2: 2 attempts of one model call, the bound is 1"}},
		{why: "one over", terms: contract.Terms{ModelAttempts: 2}, seen: evidence(reset...), want: []string{"W12: request 3: 3 attempts of one model call, the bound is 2"}},
		{why: "what does not pass by itself", terms: bound, seen: evidence(errored(400, failure.ClientError, q), errored(401, failure.Unauthorized, q), asked(done("x"), q)), want: []string{
			"W12: request 2: retried after client_error (status 400), which does not pass by itself",
			"W12: request 3: retried after unauthorized (status 401), which does not pass by itself",
		}},
		{why: "a conflict does", terms: bound, seen: evidence(errored(409, failure.ClientError, q), asked(done("x"), q))},
		{why: "longer than asked", terms: bound, seen: evidence(limitedFirst(20*time.Second), at(25*time.Second, asked(done("x"), q)))},
		{why: "to the moment", terms: bound, seen: evidence(limitedFirst(20*time.Second), at(21*time.Second, asked(done("x"), q)))},
		{why: "a little too early", terms: bound, seen: evidence(limitedFirst(20*time.Second), at(20*time.Second, asked(done("x"), q))), want: []string{"W12: request 2: retried after 19s, the provider asked for 20s"}},
		{why: "far too early", terms: bound, seen: evidence(limitedFirst(20*time.Second), at(6*time.Second, asked(done("x"), q))), want: []string{"W12: request 2: retried after 5s, the provider asked for 20s"}},
		{why: "a wait of days that is obeyed is no matter of this rule: its time counts", terms: bound, seen: evidence(limitedFirst(72*time.Hour), at(72*time.Hour+time.Second, asked(done("x"), q)))},
	})
}

// tries is a run in which the model calls f once, under the id a, and the agent
// makes a call for each of the attempts.
func tries(attempts ...*journal.ToolAttempt) contract.Evidence {
	e := ran(evidence(asked(calling(call("a", "f")), user(text("q")))))
	for i, a := range attempts {
		a.Call, a.Attempt, a.Tool, a.CallID, a.Reached = i+1, 1, "f", "a", true
		e.Calls = append(e.Calls, &journal.ToolCall{Ordinal: i + 1, Tool: "f", CallID: "a", At: e.Elapsed, Args: jsontext.Value(`{"n":1}`)})
		e.Attempts = append(e.Attempts, a)
	}
	return e
}

func TestW12Tools(t *testing.T) {
	down := func() *journal.ToolAttempt {
		return &journal.ToolAttempt{Outcome: journal.Failed, Code: "UPSTREAM_UNAVAILABLE", Retryable: true}
	}
	fine := func() *journal.ToolAttempt { return &journal.ToolAttempt{Outcome: journal.OK} }
	no := func() *journal.ToolAttempt { return &journal.ToolAttempt{Outcome: journal.Failed, Code: "NO_FUNDS"} }
	doubt := func() *journal.ToolAttempt {
		return &journal.ToolAttempt{Outcome: journal.Unknown, Code: "UPSTREAM_TIMEOUT"}
	}
	miss := func() *journal.ToolAttempt {
		return &journal.ToolAttempt{Outcome: journal.Unknown, Class: failure.CassetteMiss}
	}
	one := func(e contract.Evidence) contract.Evidence { // all attempts in one call
		for i, a := range e.Attempts {
			a.Call, a.Attempt = 1, i+1
		}
		e.Calls = e.Calls[:1]
		return e
	}
	noID := func(e contract.Evidence) contract.Evidence {
		e.Models[0].Response.Message.Blocks[0].ID = ""
		for i := range e.Calls {
			e.Calls[i].CallID, e.Attempts[i].CallID = "", ""
		}
		return e
	}
	twice := func() contract.Evidence { // the task was run again
		q := user(text("q"))
		e := evidence(asked(calling(call("a", "f")), q), asked(calling(call("a", "f")), q))
		e = ran(e, &journal.ToolCall{Tool: "f", CallID: "a", At: time.Millisecond * 1500}, made("a"))
		e.Models[1].At, e.Calls[0].At = 2*time.Second, time.Second
		return e
	}
	double := func() contract.Evidence {
		e := tries(fine(), fine())
		e.Models[0].Response.Message.Blocks = []wire.Block{call("a", "f"), call("a", "f")}
		return e
	}
	bound := contract.Terms{ToolAttempts: map[string]int{"f": 2}}
	check(t, "W12", []row{
		{why: "one attempt and no bound: nothing is compared", seen: tries(no()), state: contract.NotApplicable},
		{why: "a bound that is kept", terms: bound, seen: tries(down(), fine())},
		{why: "in one call", terms: bound, seen: one(tries(down(), fine()))},
		{why: "a bound that is not", terms: bound, seen: tries(down(), down(), fine()), want: []string{"W12: request 1: 3 attempts of one call of f, the bound is 2"}},
		{why: "no policy is one attempt", terms: contract.Terms{ToolAttempts: map[string]int{"f": 0}}, seen: one(tries(down(), fine())), want: []string{"W12: request 1: 2 attempts of one call of f, the bound is 1"}},
		{why: "a final error in one call", seen: one(tries(no(), fine())), want: []string{"W12: request 1: f was called again after NO_FUNDS, which is not retryable"}},
		{why: "and under the same id", seen: tries(no(), fine()), want: []string{"W12: request 1: f was called again after NO_FUNDS, which is not retryable"}},
		{why: "where the API gives no ids", seen: noID(tries(no(), fine())), want: []string{"W12: request 1: f was called again after NO_FUNDS, which is not retryable"}},
		{why: "what may have happened", seen: tries(doubt(), fine()), want: []string{"W12: request 1: f was called again although it may have succeeded (UPSTREAM_TIMEOUT)"}},
		{why: "what has happened", seen: tries(fine(), fine()), want: []string{"W12: request 1: f was called again although it had succeeded"}},
		{why: "two calls that the model makes under one id are no repetition (W2 has them)", terms: bound, seen: double()},
		{why: "a miss is nobody's", terms: bound, seen: tries(down(), miss(), fine())},
		{why: "the same id in another run of the task is another call", terms: bound, seen: twice()},
	})
}

// An attempt that no recording answered is the harness's affair.
func TestW12Misses(t *testing.T) {
	q := user(text("q"))
	missed := asked(nil, q)
	missed.Class, missed.Status, missed.Response = failure.CassetteMiss, 0, nil
	other := by(wire.AnthropicMessages, asked(done("x"), q))
	other.Request.Model = "fallback"
	limited := errored(529, failure.Overloaded, user(text("b")))
	check(t, "W12", []row{
		{why: "an SDK tries again after a miss", terms: contract.Terms{ModelAttempts: 1}, seen: evidence(missed, asked(done("x"), q))},
		{why: "another model is another call", terms: contract.Terms{ModelAttempts: 1}, seen: evidence(errored(529, failure.Overloaded, q), other)},
		{
			why: "two conversations in turns, each with its retries", terms: contract.Terms{ModelAttempts: 1},
			seen: evidence(errored(529, failure.Overloaded, q), limited, asked(done("x"), q), asked(done("x"), user(text("b")))),
			want: []string{"W12: request 3: 2 attempts of one model call, the bound is 1", "W12: request 4: 2 attempts of one model call, the bound is 1"},
		},
	})
}

func TestW13Policy(t *testing.T) {
	reached := func(class failure.Class) contract.Evidence {
		e := ran(evidence(asked(calling(call("a", "f")), user(text("q")))), made("a"))
		e.Attempts[0].Class = class
		return e
	}
	kept := reached(failure.ToolBlocked)
	kept.Attempts[0].Reached = false
	check(t, "W13", []row{
		{why: "no seam", seen: evidence(asked(done("x"))), state: contract.NotObservable},
		{why: "allowed", seen: reached(failure.None)},
		{why: "blocked, and kept from the tool", terms: contract.Terms{Blocked: map[string]bool{"f": true}}, seen: kept},
		{why: "blocked, and not kept from it", terms: contract.Terms{Blocked: map[string]bool{"f": true}}, seen: reached(failure.None), want: []string{"W13: request 1: a call of f that the policy refuses reached the tool"}},
		{why: "not approved, and not kept from it", seen: reached(failure.ToolNotApproved), want: []string{"W13: request 1: a call of f that nobody approved reached the tool"}},
	})
}

func TestW14TheEnd(t *testing.T) {
	open := evidence(asked(calling(call("a", "f")), user(text("q"))))
	gaveUp := open
	gaveUp.Ended = &journal.Ended{Class: failure.IterationCap}
	part := done("x")
	part.Complete = false
	unknown := open
	unknown.Ended = nil
	stopped := func(stop wire.Stop, raw string) *wire.Response {
		r := done("x")
		r.Stop, r.RawStop = stop, []string{raw}
		return r
	}
	on := func(r *wire.Response, answer string) contract.Evidence {
		m := asked(r, user(text("q")))
		if r == nil {
			m.Class = failure.Protocol
		}
		e := evidence(m)
		e.Ended.Answer = answer
		return e
	}
	check(t, "W14", []row{
		{why: "not known how it ended", seen: unknown, state: contract.NotObservable},
		{why: "given up, and said so", seen: gaveUp, state: contract.NotApplicable},
		{why: "on an answer", seen: evidence(asked(done("x")))},
		{why: "on a part of an answer, as if it were all", seen: evidence(asked(part, user(text("q")))), want: []string{"W14: request 1: the run ended as completed, and a part of the model's last answer is missing"}},
		{why: "on an answer that its limit cut", seen: on(stopped(wire.StopTruncated, "max_tokens"), ""), want: []string{"W14: request 1: the run ended as completed, and the model's last answer was cut by its limit: truncated (max_tokens)"}},
		{why: "on a stop reason that nobody knows", seen: on(stopped(wire.StopUnknown, "new_word"), "hi"), want: []string{"W14: request 1: the run ended as completed, and nobody knows what the model's stop reason means: unknown (new_word)"}},
		{why: "without any", seen: on(stopped(wire.StopNone, ""), "hi"), want: []string{"W14: request 1: the run ended as completed, and the model's last answer has no stop reason"}},
		{why: "on a pause", seen: on(stopped(wire.StopPaused, "pause_turn"), "hi"), want: []string{"W14: request 1: the run ended as completed, and the model had only paused: paused (pause_turn)"}},
		{why: "on a call that cannot be read", seen: on(stopped(wire.StopMalformed, "MALFORMED_FUNCTION_CALL"), "hi"), want: []string{"W14: request 1: the run ended as completed, and the model's last call cannot be read: malformed (MALFORMED_FUNCTION_CALL)"}},
		{why: "on a refusal, which is an answer", seen: on(stopped(wire.StopRefused, "refusal"), "")},
		{why: "on a call with the stop reason of an end", seen: on(&wire.Response{Complete: true, Stop: wire.StopDone, Message: assistant(call("a", "f"))}, "hi"), want: []string{"W14: request 1: the run ended as completed, and the model was waiting for the results of its calls"}},
		{why: "on an empty turn", seen: on(&wire.Response{Complete: true, Stop: wire.StopDone}, ""), want: []string{"W14: request 1: the run ended as completed, and the model's last turn was empty"}},
		{why: "on thoughts alone", seen: on(&wire.Response{Complete: true, Stop: wire.StopDone, Message: assistant(wire.Block{Kind: wire.KindReasoning, Text: "hm"})}, ""), want: []string{"W14: request 1: the run ended as completed, and the model's last turn was empty"}},
		{why: "on a picture", seen: on(&wire.Response{Complete: true, Stop: wire.StopDone, Message: assistant(wire.Block{Kind: wire.KindOpaque})}, "")},
		{why: "on an empty turn, with an answer of the agent's own", seen: on(&wire.Response{Complete: true, Stop: wire.StopDone}, "done")},
		{why: "on an attempt that failed", seen: evidence(errored(529, failure.Overloaded, user(text("q")))), want: []string{"W14: request 1: the run ended as completed, and its last model call was not answered (overloaded, status 529)"}},
		{why: "on one that cannot be read", seen: on(nil, ""), want: []string{"W14: request 1: the run ended as completed, and its last model call was not answered (protocol, status 200)"}},
		{why: "on one that failed, with an answer of the agent's own", seen: on(nil, "I could not reach it")},
		{why: "on a call, as if it were done", seen: open, want: []string{"W14: request 1: the run ended as completed, and the model was waiting for the results of its calls"}},
	})
}

func TestW15Repeats(t *testing.T) {
	same := func(ended failure.Class, args ...string) contract.Evidence {
		var m []*journal.ModelAttempt
		for _, a := range args {
			m = append(m, asked(calling(callWith("", "f", a))))
		}
		e := evidence(m...)
		e.Ended = &journal.Ended{Class: ended}
		return e
	}
	check(t, "W15", []row{
		{why: "nothing seen", terms: contract.Terms{Repeats: 1}, state: contract.NotObservable},
		{why: "without a limit nothing is compared", seen: same("", `{}`, `{}`, `{}`), state: contract.NotApplicable},
		{why: "as often as allowed", terms: contract.Terms{Repeats: 2}, seen: same("", `{}`, `{}`)},
		{why: "other arguments are another call", terms: contract.Terms{Repeats: 1}, seen: same("", `{"n":1}`, `{"n":2}`)},
		{why: "another spelling is not; told once", terms: contract.Terms{Repeats: 2}, seen: same("", `{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a":1, "b":2}`, `{"a":1,"b":2}`), want: []string{"W15: request 3: f comes more than 2 times with the same arguments"}},
		{why: "the loop noticed and gave up", terms: contract.Terms{Repeats: 2}, seen: same(failure.RepeatedCall, `{}`, `{}`, `{}`)},
		{why: "or gave up for another reason", terms: contract.Terms{Repeats: 2}, seen: same(failure.CallBudget, `{}`, `{}`, `{}`)},
		{why: "a part of an answer does not count, it comes once more", terms: contract.Terms{Repeats: 1}, seen: partly()},
		{why: "it gave up too late", terms: contract.Terms{Repeats: 2}, seen: same(failure.RepeatedCall, `{}`, `{}`, `{}`, `{}`), want: []string{"W15: request 3: f comes more than 2 times with the same arguments"}},
		{why: "it gave up, and let the call run before", terms: contract.Terms{Repeats: 1}, seen: ran(same(failure.IterationCap, `{"n":1}`, `{"n":1}`), made("")), want: []string{"W15: request 2: f comes more than once with the same arguments"}},
	})
}

func TestW16ToolChoice(t *testing.T) {
	chose := func(c wire.ToolChoice, r *wire.Response) contract.Evidence {
		m := asked(r, user(text("q")))
		m.Request.ToolChoice = c
		return evidence(m)
	}
	one, two := calling(call("a", "f")), calling(call("a", "f"), call("b", "f"))
	cut := done("I wi")
	cut.Stop = wire.StopTruncated
	must := wire.ToolChoice{Mode: wire.ChoiceTool, Name: "f"}
	rows := []row{
		{why: "nothing seen", state: contract.NotObservable},
		{why: "free", seen: chose(wire.ToolChoice{}, two)},
		{why: "none, honoured", seen: chose(wire.ToolChoice{Mode: wire.ChoiceNone}, done("x"))},
		{why: "none, and a call", seen: chose(wire.ToolChoice{Mode: wire.ChoiceNone}, one), want: []string{"W16: request 1: tool_choice none, and the model called f"}},
		{why: "any, honoured", seen: chose(wire.ToolChoice{Mode: wire.ChoiceAny}, two)},
		{why: "any, and only words", seen: chose(wire.ToolChoice{Mode: wire.ChoiceAny}, done("x")), want: []string{"W16: request 1: tool_choice any, and the model called nothing"}},
		{why: "any, and no room left to call: that is the limit's doing", seen: chose(wire.ToolChoice{Mode: wire.ChoiceAny}, cut)},
		{why: "a tool, honoured", seen: chose(must, one)},
		{why: "a tool, and only words", seen: chose(must, done("x")), want: []string{"W16: request 1: tool_choice f, and the model called nothing"}},
		{why: "a tool, and another", seen: chose(wire.ToolChoice{Mode: wire.ChoiceTool, Name: "g"}, one), want: []string{"W16: request 1: tool_choice g, and the model called another tool"}},
		{why: "one at a time, honoured", seen: chose(wire.ToolChoice{Mode: wire.ChoiceAuto, NoParallel: true}, one)},
		{why: "one at a time, and two", seen: chose(wire.ToolChoice{Mode: wire.ChoiceAuto, NoParallel: true}, two), want: []string{"W16: request 1: parallel calls are off, and the model made 2"}},
	}
	for i := range rows {
		rows[i].part = failure.PartModel
	}
	check(t, "W16", rows)
}

// Breaches of all rules come in the order of the requests.
func TestBreachesByRequest(t *testing.T) {
	findings := contract.Check(contract.Terms{Iterations: 1}, evidence(
		asked(calling(call("a", "f")), user(text("q"))),
		asked(done("x"), user(text("q")), assistant(call("a", "f")), user(text("?"))),
	))
	last := 0
	breaches := contract.Breaches(findings)
	for _, b := range breaches {
		if b.Request < last {
			t.Errorf("%v comes late", b)
		}
		last = b.Request
	}
	if len(breaches) != 2 || len(findings) != 16 {
		t.Errorf("%d findings with %v", len(findings), breaches)
	}
	for _, f := range findings {
		if f.Title == "" {
			t.Errorf("%s has no title", f.Rule)
		}
	}
}

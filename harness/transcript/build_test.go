package transcript_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sebdah/goldie/v2"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

func text(s string) wire.Block { return wire.Block{Kind: wire.KindText, Text: s} }

func call(id, name, args string) wire.Block {
	return wire.Block{Kind: wire.KindToolCall, ID: id, Name: name, Args: jsontext.Value(args)}
}

func result(id, content string) wire.Block {
	return wire.Block{Kind: wire.KindToolResult, ID: id, Result: []wire.Block{text(content)}}
}

func says(role wire.Role, blocks ...wire.Block) wire.Message {
	return wire.Message{Role: role, Blocks: blocks}
}

func answer(stop wire.Stop, raw string, blocks ...wire.Block) *wire.Response {
	r := &wire.Response{Complete: true, Stop: stop, Message: says(wire.RoleAssistant, blocks...)}
	if raw != "" {
		r.RawStop = []string{raw}
	}
	return r
}

// talk makes the model attempts of a conversation: each request adds its message
// to all that was said before.
type talk struct {
	system   []wire.Block
	messages []wire.Message
}

func (c *talk) ask(r *wire.Response, add ...wire.Message) *journal.ModelAttempt {
	c.messages = append(c.messages, add...)
	e := &journal.ModelAttempt{Status: 200, Response: r, Request: &wire.Request{
		System: c.system, Messages: append([]wire.Message(nil), c.messages...),
	}}
	c.messages = append(c.messages, r.Message)
	return e
}

// One of everything that a transcript can show.
func TestOneOfEverything(t *testing.T) {
	c := &talk{system: []wire.Block{text("Be brief.\nAnd kind.")}}
	image := wire.Block{Kind: wire.KindOpaque, Raw: jsontext.Value(`{"source":{"data":"AAAA"},"type":"image"}`)}
	cut := wire.Block{Kind: wire.KindToolCall, ID: "d", Name: "write", ArgsText: `{"path":"a.txt","content":"Gre`}
	failed := wire.Block{Kind: wire.KindToolResult, ID: "b", IsError: true, Result: []wire.Block{text(`{"ok":false,"error":{"retryable":false,"code":"X"}}`)}}
	events := []journal.Event{
		&journal.ModelAttempt{Class: failure.Transport, Err: errors.New("reset")},
		&journal.ModelAttempt{Class: failure.Overloaded, Status: 529, Response: &wire.Response{Err: &wire.APIError{Type: "overloaded_error"}}},
		c.ask(answer(wire.StopToolCalls, "tool_use",
			wire.Block{Kind: wire.KindReasoning, Text: "Two look-ups.", Raw: jsontext.Value(`{}`)},
			text("I look it up.\nOne moment."), call("a", "find", `{"z": 1.50, "a": [1 , 2]}`), call("b", "find", `{}`)),
			says(wire.RoleDeveloper, text("Today is Monday.")), says(wire.RoleUser, text("Where?"), image)),
		&journal.ToolAttempt{Call: 1, Attempt: 1, CallID: "a", Tool: "find", Principal: "alice", Outcome: journal.OK},
		&journal.ToolAttempt{Call: 2, Attempt: 1, CallID: "b", Tool: "find", Outcome: journal.Unknown, Class: failure.ToolTimeout},
		&journal.ToolAttempt{Call: 2, Attempt: 2, CallID: "b", Tool: "find", Outcome: journal.Failed, Class: failure.ToolFailed},
		c.ask(answer(wire.StopRefused, "refusal", wire.Block{Kind: wire.KindRefusal, Text: "I would rather not."}),
			says(wire.RoleUser, result("a", `{"b": 2, "a": 1}`), failed, wire.Block{Kind: wire.KindToolResult, ID: "x", Result: []wire.Block{image}},
				wire.Block{Kind: wire.KindToolResult, ID: "y", Name: "gone"})),
		c.ask(&wire.Response{Message: says(wire.RoleAssistant, cut), Problems: []wire.Problem{{Kind: wire.ProblemArgsCut, Block: 0, Detail: "write"}}},
			says(wire.RoleUser, text("Then write it down."))),
		&journal.Ended{Class: failure.Truncated},
	}
	goldie.New(t, goldie.WithNameSuffix(".golden")).Assert(t, "everything", transcript.Build(transcript.Head{Scenario: "a/b", Model: "m-1"}, events))
}

// Two conversations of one run are told apart, and a request that is made once
// more is not printed once more.
func TestSeveralConversations(t *testing.T) {
	main, side := &talk{}, &talk{system: []wire.Block{text("Summarise.")}}
	events := []journal.Event{
		main.ask(answer(wire.StopToolCalls, "tool_use", call("a", "ask_expert", `{}`)), says(wire.RoleUser, text("Help me."))),
		side.ask(answer(wire.StopDone, "end_turn", text("Short.")), says(wire.RoleUser, text("A long text."))),
		main.ask(answer(wire.StopDone, "end_turn", text("Done.")), says(wire.RoleUser, result("a", "Short."))),
		side.ask(answer(wire.StopDone, "end_turn", text("Shorter.")), says(wire.RoleUser, text("Shorter, please."))),
	}
	again := *events[3].(*journal.ModelAttempt) // the same question once more
	again.Response = answer(wire.StopDone, "end_turn", text("Shortest."))
	other := &talk{system: []wire.Block{text("Translate.")}} // the same text for another purpose
	events = append(events, &again, other.ask(answer(wire.StopDone, "end_turn", text("Kurz.")), says(wire.RoleUser, text("A long text."))))
	goldie.New(t, goldie.WithNameSuffix(".golden")).Assert(t, "conversations", transcript.Conversations(events))
}

// Where the API gives no ids, an attempt is named by the number of its call, and
// that does not use up the name of a result.
func TestAttemptsWithoutIDs(t *testing.T) {
	c := &talk{}
	turn := func(n int) *journal.ModelAttempt {
		e := c.ask(answer(wire.StopToolCalls, "STOP", call("", "f", `{"n":1}`), call("", "g", `{"n":2}`)), says(wire.RoleUser, text("go")))
		e.At = time.Duration(n)
		return e
	}
	first := turn(0)
	second := c.ask(answer(wire.StopToolCalls, "STOP", call("", "f", `{"n":3}`)), says(wire.RoleUser, result("", "one"), result("", "two")))
	third := c.ask(answer(wire.StopDone, "STOP", text("ok")), says(wire.RoleUser, result("", "three")))
	events := []journal.Event{
		first,
		&journal.ToolAttempt{Call: 2, Attempt: 1, Tool: "g", Outcome: journal.Failed, Class: failure.ToolUnavailable},
		&journal.ToolAttempt{Call: 1, Attempt: 1, Tool: "f", Outcome: journal.OK},
		&journal.ToolAttempt{Call: 2, Attempt: 2, Tool: "g", Outcome: journal.OK},
		second,
		&journal.ToolAttempt{Call: 3, Attempt: 1, Tool: "f", Outcome: journal.Failed, Class: failure.ToolFailed},
		third,
	}
	goldie.New(t, goldie.WithNameSuffix(".golden")).Assert(t, "without-ids", transcript.Build(transcript.Head{}, events))
}

// What a model, a tool or a recording says cannot look like a line of the
// transcript, nor reach a terminal.
func TestHostileText(t *testing.T) {
	c := &talk{}
	evil := "a\nstop      done (end_turn)\x1b[2J\u202e\u2028\x9b\xff\r\U000e0041"
	events := []journal.Event{
		c.ask(answer(wire.StopUnknown, evil, text(evil), call("a", evil, `{"k":"\u001b[2J \u202e"}`), wire.Block{Kind: wire.KindToolCall, Name: "f", ArgsText: evil}),
			wire.Message{Role: wire.Role("user\noutcome   completed"), Blocks: []wire.Block{text(evil)}}),
		c.ask(&wire.Response{Complete: true, Problems: []wire.Problem{{Kind: wire.ProblemBadEvent, Detail: evil}}}, says(wire.RoleUser, result("a", evil))),
	}
	got := transcript.Build(transcript.Head{Scenario: evil, Model: evil}, events)
	checkSafe(t, got)
	goldie.New(t, goldie.WithNameSuffix(".golden")).Assert(t, "hostile", got)
}

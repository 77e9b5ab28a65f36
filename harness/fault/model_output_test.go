package fault_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// turned checks an answer that can be read and is whole.
func turned(stop wire.Stop, check func(t *testing.T, x *exchange, r *wire.Response)) func(t *testing.T, x *exchange) {
	return func(t *testing.T, x *exchange) {
		t.Helper()
		r := x.first.answer
		if x.first.err != nil || r == nil {
			t.Fatalf("got %v, %v: %s", x.first.err, x.first.decodErr, x.first.body)
		}
		if r.Stop != stop || !r.Complete || r.Streamed != x.stream || r.Err != nil {
			t.Errorf("stop %q (%v), complete %v, streamed %v; want %q: %s", r.Stop, r.RawStop, r.Complete, r.Streamed, stop, x.first.body)
		}
		if check != nil {
			check(t, x, r)
		}
	}
}

// refused checks that the schema refuses the arguments of the one call, and why.
func refused(want string) func(t *testing.T, x *exchange) {
	return turned(wire.StopToolCalls, func(t *testing.T, x *exchange, r *wire.Response) {
		t.Helper()
		s := weatherInput(t)
		calls := r.Calls()
		if len(calls) != 1 || calls[0].ID != "call_1" || r.Text() != "Let me look." {
			t.Fatalf("calls %+v", calls)
		}
		bad := s.Check(calls[0].Args)
		if len(bad) != 1 || !strings.Contains(bad[0].String(), want) {
			t.Errorf("%s: %v, want %q", calls[0].Args, bad, want)
		}
	})
}

func ids(calls []wire.Block) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func hasProblem(r *wire.Response, kind wire.ProblemKind) bool {
	return slices.ContainsFunc(r.Problems, func(p wire.Problem) bool { return p.Kind == kind })
}

func booking() *wire.Response { return said("I book it.", called("call_1", "book", `{"room":7}`)) }

// withItem is a call that is an item with an id of its own, as in the Responses API.
func withItem() *wire.Response {
	c := called("call_1", "get_weather", `{"city":"Paris"}`)
	c.Extra = []byte(`{"id":"fc_1"}`)
	return said("", c)
}

// cutRecording is an answer whose stream has no end.
func cutRecording() *wire.Response {
	r := said("Let me look.")
	r.Complete, r.Stop, r.Problems = false, wire.StopNone, []wire.Problem{{Kind: wire.ProblemNoTerminal, Block: -1}}
	return r
}

func always(*exchange) bool { return true }

func outputRows() []strikeRow {
	return slices.Concat(argumentRows(), callRows(), stopRows(), choiceRows())
}

// choiceRows are answers that the request rules out: no provider gives them.
func choiceRows() []strikeRow {
	single := wire.ToolChoice{Mode: wire.ChoiceAuto, NoParallel: true}
	forced := wire.ToolChoice{Mode: wire.ChoiceAny}
	named := wire.ToolChoice{Mode: wire.ChoiceTool, Name: "get_weather"}
	canSay := func(x *exchange) bool { return !x.gemini() }
	return []strikeRow{
		{name: "model.duplicate_id", why: "one call is allowed", choice: single, unfit: canSay, check: turned(wire.StopToolCalls, nil)},
		{name: "model.duplicate_call", why: "one call is allowed", choice: single, unfit: canSay, check: turned(wire.StopToolCalls, nil)},
		{name: "model.parallel_burst", why: "one call is allowed", choice: single, unfit: canSay, check: turned(wire.StopToolCalls, nil)},
		{name: "model.empty_turn", why: "a call is forced", choice: forced, unfit: always},
		{name: "model.false_claim", why: "a call is forced", choice: forced, answer: booking(), unfit: always},
		{name: "model.unknown_tool", why: "the tool is named", choice: named, unfit: always},
	}
}

func argumentRows() []strikeRow {
	unreadableArgs := turned(wire.StopToolCalls, func(t *testing.T, x *exchange, r *wire.Response) {
		t.Helper()
		c := r.Calls()[0]
		if c.Args != nil || c.ArgsText != `{"city":"Par` || !hasProblem(r, wire.ProblemArgsCut) {
			t.Errorf("arguments %q, text %q, problems %v", c.Args, c.ArgsText, r.Problems)
		}
	})
	return []strikeRow{
		{name: "model.unknown_tool", why: "a name made of the tool's", check: turned(wire.StopToolCalls, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if c := r.Calls()[0]; c.Name != "get_weather_legacy" || c.ID != "call_1" || string(c.Args) != `{"city":"Paris","days":3}` {
				t.Errorf("call %+v", c)
			}
		})},
		{name: "model.unknown_tool", why: "the name that is given", params: fault.Params{Text: "launch"}, check: turned(wire.StopToolCalls, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if c := r.Calls()[0]; c.Name != "launch" {
				t.Errorf("call %+v", c)
			}
		})},
		{name: "model.unknown_tool", why: "a name that is declared", params: fault.Params{Text: "book"}, unfit: always},
		{name: "model.unknown_tool", why: "no call", answer: said("hi"), unfit: always},
		{name: "model.bad_args", why: "the first that is refused", check: refused("/city: is required")},
		{
			name: "model.bad_args", why: "a field that may be left out is none that is missing",
			answer: said("Let me look.", called("call_1", "get_weather", `{"days":3,"city":"Paris"}`)), check: refused("/city: is required"),
		},
		{name: "model.bad_args", why: "wrong type", params: fault.Params{Kind: "wrong_type"}, check: refused("/city: must be")},
		{name: "model.bad_args", why: "extra", params: fault.Params{Kind: "extra"}, check: refused("/unexpected")},
		{name: "model.bad_args", why: "out of range", params: fault.Params{Kind: "out_of_range"}, check: refused("/city")},
		{name: "model.bad_args", why: "a schema that allows all", answer: booking(), unfit: always},
		{name: "model.bad_args", why: "no such kind", params: fault.Params{Kind: "odd"}, unfit: always},
		{name: "model.args_not_json", why: "cut text", unfit: func(x *exchange) bool { return !x.text() }, check: unreadableArgs},
		{name: "model.cut_in_tool_use", why: "cut text", check: turned(wire.StopTruncated, func(t *testing.T, x *exchange, r *wire.Response) {
			t.Helper()
			c := r.Calls()[0]
			if x.text() && (c.Args != nil || c.ArgsText != `{"city":"Par`) || !x.text() && string(c.Args) != "{}" {
				t.Errorf("arguments %q, text %q", c.Args, c.ArgsText)
			}
			if !x.gemini() && !hasProblem(r, wire.ProblemArgsCut) {
				t.Errorf("problems %v", r.Problems)
			}
		})},
		{name: "model.cut_in_tool_use", why: "no call", answer: said("hi"), unfit: always},
	}
}

func callRows() []strikeRow {
	two := func() *wire.Response {
		return said("", called("call_1", "get_weather", `{"city":"Paris"}`), called("call_2", "get_weather", `{"city":"Rome"}`))
	}
	return []strikeRow{
		{name: "model.duplicate_id", why: "two calls", answer: two(), check: turned(wire.StopToolCalls, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if got := ids(r.Calls()); !slices.Equal(got, []string{"call_1", "call_1"}) || !hasProblem(r, wire.ProblemDuplicateID) {
				t.Errorf("ids %v, problems %v", got, r.Problems)
			}
		})},
		{name: "model.duplicate_id", why: "the only call twice", check: turned(wire.StopToolCalls, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if !hasProblem(r, wire.ProblemDuplicateID) {
				t.Errorf("calls %v, problems %v", ids(r.Calls()), r.Problems)
			}
		})},
		{
			name: "model.duplicate_id", why: "no id", answer: said("", called("", "get_weather", `{"city":"Paris"}`)),
			unfit: always,
		},
		{name: "model.duplicate_call", why: "in one turn", check: turned(wire.StopToolCalls, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			calls := r.Calls()
			if got := ids(calls); !slices.Equal(got, []string{"call_1", "call_1_again1"}) || string(calls[0].Args) != string(calls[1].Args) || len(r.Problems) > 0 {
				t.Errorf("calls %+v, problems %v", calls, r.Problems)
			}
		})},
		{name: "model.duplicate_call", why: "in the next turn", params: fault.Params{Kind: "next"}, check: func(t *testing.T, x *exchange) {
			t.Helper()
			if got := ids(x.first.answer.Calls()); !slices.Equal(got, []string{"call_1"}) {
				t.Errorf("the first turn's ids are %v", got)
			}
			r := x.next(t, "second").answer
			if got := ids(r.Calls()); !slices.Equal(got, []string{"call_1_again1"}) || string(r.Calls()[0].Args) != `{"city":"Paris","days":3}` || x.asked != 1 {
				t.Errorf("the second turn's calls are %+v after %d requests to the model", r.Calls(), x.asked)
			}
			if r := x.next(t, "third").answer; r.Text() != "the end" {
				t.Errorf("the third turn is %+v", r)
			}
			if at := x.inj.Fired()[0].At.String(); at != "call 2 attempt 1" {
				t.Errorf("it fired at %s", at)
			}
		}},
		{
			name: "model.duplicate_call", why: "an item has an id of its own", answer: withItem(),
			check: turned(wire.StopToolCalls, func(t *testing.T, x *exchange, _ *wire.Response) {
				t.Helper()
				if x.api == wire.OpenAIResponses && !strings.Contains(x.first.body, `"fc_1_again1"`) {
					t.Errorf("two items have one id: %s", x.first.body)
				}
			}),
		},
		{name: "model.parallel_burst", why: "ten calls", check: turned(wire.StopToolCalls, burst(10))},
		{name: "model.parallel_burst", why: "as many as asked for", params: fault.Params{Count: 4}, check: turned(wire.StopToolCalls, burst(4))},
		{name: "model.parallel_burst", why: "a write", answer: booking(), unfit: always},
		{name: "model.endless_loop", why: "for ever", check: func(t *testing.T, x *exchange) {
			t.Helper()
			got := ids(x.first.answer.Calls())
			for _, text := range []string{"second", "third"} {
				r := x.next(t, text).answer
				if r.Stop != wire.StopToolCalls || len(r.Calls()) != 1 || string(r.Calls()[0].Args) != `{"city":"Paris","days":3}` {
					t.Fatalf("%s: %+v", text, r)
				}
				got = append(got, r.Calls()[0].ID)
			}
			if !slices.Equal(got, []string{"call_1", "call_1_loop2", "call_1_loop3"}) || x.asked != 1 {
				t.Errorf("ids %v after %d requests to the model", got, x.asked)
			}
		}},
		{name: "model.endless_loop", why: "no call", answer: said("hi"), unfit: always},
	}
}

// burst checks n calls with ids and arguments of their own, which the tool gets as
// the original ones.
func burst(n int) func(t *testing.T, x *exchange, r *wire.Response) {
	return func(t *testing.T, x *exchange, r *wire.Response) {
		t.Helper()
		s := weatherInput(t)
		seen := map[string]bool{}
		for k, c := range r.Calls() {
			seen[c.ID], seen[string(c.Args)] = true, true
			if bad := s.Check(c.Args); c.Name != "get_weather" || len(bad) > 0 {
				t.Errorf("%s %s: %v", c.Name, c.Args, bad)
			}
			if _, err := x.exec[c.Name].Execute(x.ctx, tool.Call{Tool: c.Name, ID: c.ID, Args: c.Args, Attempt: 1, Ordinal: k + 1}); err != nil {
				t.Fatal(err)
			}
		}
		if len(seen) != 2*n {
			t.Errorf("%d different ids and arguments, want %d", len(seen), 2*n)
		}
		for _, c := range x.ran {
			if string(c.Args) != `{"city":"Paris","days":3}` {
				t.Errorf("the tool got %s", c.Args)
			}
		}
	}
}

func stopRows() []strikeRow {
	return []strikeRow{
		{name: "model.empty_turn", why: "no word", check: turned(wire.StopDone, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if len(r.Message.Blocks) != 0 {
				t.Errorf("blocks %+v", r.Message.Blocks)
			}
		})},
		{name: "model.empty_turn", why: "a recording that is cut already", answer: cutRecording(), unfit: func(x *exchange) bool {
			return x.stream
		}, check: turned(wire.StopDone, nil)},
		{name: "model.refusal", why: "with the call", check: turned(wire.StopRefused, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if len(r.Calls()) != 1 {
				t.Errorf("blocks %+v", r.Message.Blocks)
			}
		})},
		{name: "model.refusal", why: "bare", params: fault.Params{Kind: "bare"}, check: turned(wire.StopRefused, noCallsLeft)},
		{name: "model.refusal", why: "of a text", answer: said("hi"), check: turned(wire.StopRefused, noCallsLeft)},
		{name: "model.refusal", why: "with a call that is not there", params: fault.Params{Kind: "with_call"}, answer: said("hi"), unfit: always},
		{name: "model.pause", why: "for ever", unfit: func(x *exchange) bool { return !x.anthropic() }, check: func(t *testing.T, x *exchange) {
			t.Helper()
			turned(wire.StopPaused, noCallsLeft)(t, x)
			if r := x.next(t, "second").answer; r.Stop != wire.StopPaused || x.asked != 1 {
				t.Errorf("the second turn is %+v", r)
			}
		}},
		{name: "model.context_exceeded", why: "a whole call", check: turned(wire.StopTruncated, func(t *testing.T, x *exchange, r *wire.Response) {
			t.Helper()
			if len(r.Calls()) != 1 || r.Calls()[0].Args == nil {
				t.Errorf("blocks %+v", r.Message.Blocks)
			}
			if x.anthropic() && r.RawStop[0] != "model_context_window_exceeded" {
				t.Errorf("the provider says %v", r.RawStop)
			}
		})},
		{name: "model.unknown_stop", why: "a word of ours", check: turned(wire.StopUnknown, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if r.RawStop[0] != "suspended" || len(r.Calls()) != 1 {
				t.Errorf("stop %v, calls %v", r.RawStop, r.Calls())
			}
		})},
		{name: "model.unknown_stop", why: "a word that is given", params: fault.Params{Text: "tired"}, answer: said("hi"), check: turned(wire.StopUnknown, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			if r.RawStop[0] != "tired" {
				t.Errorf("stop %v", r.RawStop)
			}
		})},
		{name: "model.unknown_stop", why: "a word that Anthropic has", params: fault.Params{Text: "max_tokens"}, unfit: func(x *exchange) bool {
			return x.anthropic() || x.api == wire.OpenAIChat
		}, check: turned(wire.StopUnknown, nil)},
		{name: "model.false_claim", why: "of a write", answer: booking(), check: turned(wire.StopDone, func(t *testing.T, _ *exchange, r *wire.Response) {
			t.Helper()
			noCallsLeft(t, nil, r)
			if !strings.Contains(r.Text(), "Done") || strings.Contains(r.Text(), "I book it") {
				t.Errorf("it says %q", r.Text())
			}
		})},
		{name: "model.false_claim", why: "of a read", unfit: always},
	}
}

func noCallsLeft(t *testing.T, _ *exchange, r *wire.Response) {
	t.Helper()
	if len(r.Calls()) != 0 {
		t.Errorf("calls %+v", r.Calls())
	}
}

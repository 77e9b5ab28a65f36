package script_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

const (
	fine = `{"ok":true,"n":1}`
	late = `{"ok":false,"error":{"code":"UPSTREAM_TIMEOUT","message":"late","retryable":true}}`
)

// conversation is a user's text, and for each round the calls of a turn with what
// they came to: f and g in turn.
func conversation(rounds ...[]string) []wire.Message {
	out := []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: "go"}}}}
	for n, round := range rounds {
		var calls, results []wire.Block
		for i, text := range round {
			id, name := "c"+string(rune('a'+n))+string(rune('0'+i)), []string{"f", "g"}[i]
			calls = append(calls, wire.Block{Kind: wire.KindToolCall, ID: id, Name: name, Args: []byte("{}")})
			results = append(results, wire.Block{
				Kind: wire.KindToolResult, ID: id, Name: name, IsError: text == late,
				Result: []wire.Block{{Kind: wire.KindText, Text: text}},
			})
		}
		out = append(out, wire.Message{Role: wire.RoleAssistant, Blocks: calls}, wire.Message{Role: wire.RoleUser, Blocks: results})
	}
	return out
}

// say sends the conversation and gives the text of the answer, or the error.
func say(t *testing.T, m *script.Model, messages []wire.Message) string {
	t.Helper()
	c, _ := codec.For(m.API)
	body, err := c.EncodeRequest(nil, &wire.Request{Model: m.Name, MaxTokens: 64, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(clock.Virtual(t.Context()), http.MethodPost, "https://model.example"+c.Path(m.Name, false), strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := m.RoundTrip(req)
	if err != nil {
		if failure.Of(err) != failure.ScenarioInvalid {
			t.Errorf("class %s: %v", failure.Of(err), err)
		}
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.DecodeResponse(resp.StatusCode, "", text)
	if err != nil {
		t.Fatal(err)
	}
	return got.Text()
}

func TestTurnsWithConditions(t *testing.T) {
	turns := []script.Turn{
		{Text: "timed out", When: script.When{Code: "UPSTREAM_TIMEOUT"}},
		{Text: "g is fine", When: script.When{Tool: "g", Code: script.CodeOK}},
		{Text: "third", When: script.When{Call: 3}},
		{Text: "whatever"},
	}
	for _, api := range []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate} {
		for _, tc := range []struct {
			why  string
			asks [][]wire.Message
			want []string
			left []int
		}{
			{"no result fits no condition on one", [][]wire.Message{conversation()}, []string{"whatever"}, []int{1, 2, 3}},
			{"an error's code", [][]wire.Message{conversation([]string{late})}, []string{"timed out"}, []int{2, 3, 4}},
			{"one of two results", [][]wire.Message{conversation([]string{fine, late})}, []string{"timed out"}, []int{2, 3, 4}},
			{"tool and code belong together", [][]wire.Message{conversation([]string{fine, fine})}, []string{"g is fine"}, []int{1, 3, 4}},
			{"another tool's result does not fit", [][]wire.Message{conversation([]string{fine})}, []string{"whatever"}, []int{1, 2, 3}},
			{"only the last turn's results count", [][]wire.Message{conversation([]string{late}, []string{fine})}, []string{"whatever"}, []int{1, 2, 3}},
			{
				"each turn is said once, and the third call has its own",
				[][]wire.Message{conversation([]string{late}), conversation([]string{late}, []string{late}), conversation(nil, []string{late}, []string{fine})},
				[]string{"timed out", "whatever", "third"},
				[]int{2},
			},
			{
				"a request that comes again is the same call",
				[][]wire.Message{conversation([]string{late}), conversation([]string{late}), conversation([]string{late})},
				[]string{"timed out", "whatever", "script: model call 1, request 3 to the script, which brings f UPSTREAM_TIMEOUT: no turn fits; turn 2 waits for g ok, turn 3 waits for call 3; write one more, or change a condition"},
				[]int{2, 3},
			},
		} {
			m := &script.Model{API: api, Name: "m-1", Turns: turns}
			var got []string
			for _, messages := range tc.asks {
				got = append(got, say(t, m, messages))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", api, tc.why, diff)
			}
			if diff := cmp.Diff(tc.left, m.Left()); diff != "" {
				t.Errorf("%s: %s: left (-want +got):\n%s", api, tc.why, diff)
			}
		}
	}
}

func TestErrorsWithoutACodeAreNoSuccess(t *testing.T) {
	m := &script.Model{API: wire.OpenAIChat, Name: "m-1", Turns: []script.Turn{{Text: "ok", When: script.When{Code: script.CodeOK}}}}
	got := say(t, m, conversation([]string{`{"ok":false,"message":"no"}`}))
	if want := "script: model call 1, which brings f error: no turn fits; turn 1 waits for ok; write one more, or change a condition"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What a script has no turn for is told with the number that it has in the run.
func TestNoTurnIsLeft(t *testing.T) {
	for _, tc := range []struct {
		why   string
		turns []script.Turn
		want  string
	}{
		{"no turn at all", nil, "script: model call 7, request 1 to the script, which brings f UPSTREAM_TIMEOUT: there are no turns; write one"},
		{"one turn", []script.Turn{{Text: "a"}}, "script: model call 7, request 2 to the script, which brings f UPSTREAM_TIMEOUT: the only turn has been said; write one more"},
		{"two turns", []script.Turn{{Text: "a"}, {Text: "b"}}, "script: model call 7, request 3 to the script, which brings f UPSTREAM_TIMEOUT: all 2 turns have been said; write one more"},
	} {
		m := &script.Model{API: wire.GeminiGenerate, Name: "m-1", Number: func() int { return 7 }, Turns: tc.turns}
		for range tc.turns {
			say(t, m, conversation([]string{fine}))
		}
		if got := say(t, m, conversation([]string{late})); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.why, got, tc.want)
		}
	}
}

// A script that goes on with a conversation numbers its calls as the run does, and
// gives ids that the script before it did not give.
func TestGoingOn(t *testing.T) {
	before := &script.Model{API: wire.AnthropicMessages, Name: "m-1", Turns: []script.Turn{{Calls: []script.Call{{Name: "f", Args: "{}"}}}}}
	after := &script.Model{API: wire.AnthropicMessages, Name: "m-1", Number: func() int { return 4 }, Turns: []script.Turn{
		{Text: "four", Calls: []script.Call{{Name: "f", Args: "{}"}}, When: script.When{Call: 4}},
	}}
	ctx := clock.Virtual(t.Context())
	first, _, err := ask(t, ctx, before, false)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := ask(t, ctx, after, false)
	if err != nil || second.Text() != "four" {
		t.Fatal(second, err)
	}
	if a, b := first.Calls()[0].ID, second.Calls()[0].ID; a == b || first.ID == second.ID {
		t.Errorf("the ids are %s and %s", a, b)
	}
}

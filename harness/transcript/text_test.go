package transcript_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

// A result's line names the call that it answers.
func TestResultNamesItsCall(t *testing.T) {
	for _, tc := range []struct {
		why            string
		calls, results []string // ids
		want           string
	}{
		{"by their ids, in any order", []string{"a", "b"}, []string{"b", "a"}, "call-2 call-1"},
		{"by their order, where there are none", []string{"", ""}, []string{"", ""}, "call-1 call-2"},
		{"by their order, where only the client has ids", []string{"", ""}, []string{"1", "2"}, "call-1 call-2"},
		{"by their order, where only the provider has", []string{"a", "b"}, []string{"", ""}, "call-1 call-2"},
		{"an id that no call has", []string{"a"}, []string{"x"}, "call-?"},
	} {
		var turn, results wire.Message
		turn.Role, results.Role = wire.RoleAssistant, wire.RoleUser
		for _, id := range tc.calls {
			turn.Blocks = append(turn.Blocks, wire.Block{Kind: wire.KindToolCall, ID: id, Name: "f", Args: jsontext.Value(`{}`)})
		}
		for _, id := range tc.results {
			results.Blocks = append(results.Blocks, wire.Block{Kind: wire.KindToolResult, ID: id})
		}
		text := string(transcript.Conversations([]journal.Event{
			&journal.ModelAttempt{Request: &wire.Request{}, Response: &wire.Response{Message: turn, Complete: true}},
			&journal.ModelAttempt{Request: &wire.Request{Messages: []wire.Message{turn, results}}, Response: &wire.Response{Complete: true}},
		}))
		var got []string
		for line := range strings.Lines(text) {
			if after, ok := strings.CutPrefix(line, "result"); ok {
				got = append(got, strings.Fields(after)[0])
			}
		}
		if g := strings.Join(got, " "); g != tc.want {
			t.Errorf("%s: got %s, want %s\n%s", tc.why, g, tc.want, text)
		}
	}
}

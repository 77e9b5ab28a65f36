package wire_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
)

func TestHasPrefix(t *testing.T) {
	call := func(id, args string) wire.Block {
		return wire.Block{Kind: wire.KindToolCall, ID: id, Name: "add", Args: jsontext.Value(args)}
	}
	result := func(id, name string) wire.Block {
		return wire.Block{Kind: wire.KindToolResult, ID: id, Name: name, Result: []wire.Block{{Kind: wire.KindText, Text: "5"}}}
	}
	text := func(s string) wire.Block { return wire.Block{Kind: wire.KindText, Text: s} }
	thought := wire.Block{Kind: wire.KindReasoning, Text: "hm", Raw: jsontext.Value(`{}`)}
	turn := func(blocks ...wire.Block) []wire.Message {
		return []wire.Message{{Role: wire.RoleAssistant, Blocks: blocks}}
	}
	for _, tc := range []struct {
		why               string
		messages, history []wire.Message
		want              bool
	}{
		{"the same", turn(text("a")), turn(text("a")), true},
		{"more of it", append(turn(text("a")), turn(text("b"))...), turn(text("a")), true},
		{"less of it", nil, turn(text("a")), false},
		{"another word", turn(text("a")), turn(text("b")), false},
		{"arguments spelled otherwise", turn(call("1", `{"a":1,"b":2}`)), turn(call("1", `{ "b": 2, "a": 1 }`)), true},
		{"other arguments", turn(call("1", `{"a":1}`)), turn(call("1", `{"a":2}`)), false},
		{"another call's id", turn(call("1", `{}`)), turn(call("2", `{}`)), false},
		{"an id that the client made up where the API gives none", turn(call("1", `{}`)), turn(call("", `{}`)), true},
		{"a result's name is not said by every API", turn(result("1", "add")), turn(result("1", "")), true},
		{"reasoning may be left out", turn(call("1", `{}`)), turn(thought, call("1", `{}`)), true},
	} {
		if got := wire.HasPrefix(tc.messages, tc.history); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.why, got, tc.want)
		}
	}
}

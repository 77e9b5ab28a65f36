package wire_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/wire"
)

// noDefaults is the part of a codec that Normal needs, for an API without
// defaults.
type noDefaults struct{ wire.Codec }

func (noDefaults) Canonical(*wire.Request) {}

// conversation has n turns of a call and its result, whose ids are the names'.
func conversation(n int, name func(i int) string) *wire.Request {
	r := &wire.Request{Model: "m"}
	for i := range n {
		r.Messages = append(r.Messages,
			wire.Message{Role: wire.RoleAssistant, Blocks: []wire.Block{{Kind: wire.KindToolCall, ID: name(i), Name: "t"}}},
			wire.Message{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindToolResult, ID: name(i)}}})
	}
	return r
}

// However many calls there are and whatever they are called, only which of them
// are the same counts.
func TestNormalRenamesIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		which := rapid.SliceOfN(rapid.IntRange(0, 39), 1, 60).Draw(t, "which")
		salt := rapid.StringMatching(`[a-z"é]{1,8}`).Draw(t, "salt")
		want := wire.Normal(nil, noDefaults{}, conversation(len(which), func(i int) string { return fmt.Sprint("call_", which[i]) }))
		got := wire.Normal(nil, noDefaults{}, conversation(len(which), func(i int) string { return fmt.Sprint(which[i], salt) }))
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("other ids, other text (-want +got):\n%s", diff)
		}
	})
}

func TestNormalKeepsCallsApart(t *testing.T) {
	for _, tc := range []struct {
		why string
		n   int
	}{{"few", 3}, {"as many as are searched", 17}, {"many", 200}} {
		mixed := conversation(tc.n, func(i int) string { return fmt.Sprint("call_", i) })
		last := &mixed.Messages[len(mixed.Messages)-1].Blocks[0]
		before := string(wire.Normal(nil, noDefaults{}, mixed))
		last.ID = "call_0"
		if before == string(wire.Normal(nil, noDefaults{}, mixed)) {
			t.Errorf("%s: a result for the first call means the same as one for the last", tc.why)
		}
	}
}

func BenchmarkNormalLong(b *testing.B) {
	r := conversation(1000, func(i int) string { return fmt.Sprintf("toolu_01AbCdEfGhIjKlMnOp%06d", i) })
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = wire.Normal(dst[:0], noDefaults{}, r)
	}
}

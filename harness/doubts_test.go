package harness

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

func TestOtherModels(t *testing.T) {
	for _, tc := range []struct{ why, asked, came, want string }{
		{"the same", "claude-opus-4-8", "claude-opus-4-8", ""},
		{"a dated version", "gpt-5.5-mini", "gpt-5.5-mini-2026-09-01", ""},
		{"a dated version was asked", "gpt-5.5-mini-2026-09-01", "gpt-5.5-mini", ""},
		{"not told", "claude-opus-4-8", "", ""},
		{"Gemini's spelling", "models/gemini-3-flash", "gemini-3-flash", ""},
		{"another", "claude-opus-4-8", "claude-haiku-4-5", `answer #1 comes from the model "claude-haiku-4-5", asked was "claude-opus-4-8"`},
	} {
		a := &journal.ModelAttempt{Ordinal: 1, Request: &wire.Request{Model: tc.asked}, Response: &wire.Response{Model: tc.came}}
		again := *a
		again.Ordinal = 2
		if got := strings.Join(otherModels([]*journal.ModelAttempt{{}, a, &again}), "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/lint"
)

func TestFold(t *testing.T) {
	at := func(server, tool, in, rule, message string) lint.Finding {
		return lint.Finding{Rule: rule, Tool: tool, Message: message, Place: lint.Place{In: fmt.Sprintf("server %q, tool %q%s", server, tool, in)}}
	}
	excused := at("s", "b", "", "r", "no")
	excused.Excuse = "It is old."
	noTool := lint.Finding{Rule: "r", Message: "no", Place: lint.Place{In: `server "s", widget "w"`}}
	var many []lint.Finding
	for i := range 9 {
		many = append(many, at("s", string(rune('a'+i)), "", "r", "no"))
	}
	for _, tc := range []struct {
		why   string
		given []lint.Finding
		want  string
	}{
		{"two tools", []lint.Finding{at("s", "a", "", "r", "no"), at("s", "b", "", "r", "no")}, `server "s", 2 tools: a, b: no`},
		{"inside of them", []lint.Finding{at("s", "a", ", /x", "r", "no"), at("s", "b", ", /x", "r", "no")}, `server "s", 2 tools: a, b, /x: no`},
		{"two places", []lint.Finding{at("s", "a", ", /x", "r", "no"), at("s", "b", ", /y", "r", "no")}, "server \"s\", tool \"a\", /x: no\nserver \"s\", tool \"b\", /y: no"},
		{"two servers", []lint.Finding{at("s", "a", "", "r", "no"), at("t", "b", "", "r", "no")}, "server \"s\", tool \"a\": no\nserver \"t\", tool \"b\": no"},
		{"two rules", []lint.Finding{at("s", "a", "", "r", "no"), at("s", "b", "", "q", "no")}, "server \"s\", tool \"a\": no\nserver \"s\", tool \"b\": no"},
		{"two messages", []lint.Finding{at("s", "a", "", "r", "no"), at("s", "b", "", "r", "never")}, "server \"s\", tool \"a\": no\nserver \"s\", tool \"b\": never"},
		{"two bare exceptions", []lint.Finding{at("s", "a", "", "probe/error-form", "no"), at("s", "b", "", "probe/error-form", "never"), at("s", "c", "", "probe/error-form", "not")}, `server "s", 3 tools: a, b, c: of "a", no`},
		{"one is accepted", []lint.Finding{at("s", "a", "", "r", "no"), excused}, "server \"s\", tool \"a\": no\nserver \"s\", tool \"b\": no"},
		{"no tools", []lint.Finding{noTool, noTool}, "server \"s\", widget \"w\": no\nserver \"s\", widget \"w\": no"},
		{"many", many, `server "s", 9 tools: a, b, c, d, e, f, g, h, …: no`},
	} {
		var lines []string
		for _, f := range lint.Fold(tc.given) {
			lines = append(lines, f.Place.String()+": "+f.Message)
		}
		if diff := cmp.Diff(tc.want, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

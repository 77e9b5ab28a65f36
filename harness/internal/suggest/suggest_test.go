package suggest_test

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

func TestNearest(t *testing.T) {
	for _, tc := range []struct {
		why, word, want string
		from            []string
	}{
		{"two letters swapped", "chrage_card", "charge_card", []string{"refund", "charge_card"}},
		{"a letter missing", "rolback", "rollback", []string{"labels", "rollback"}},
		{"another case and a dash", "Max-Tokens", "max_tokens", []string{"max_tokens", "models"}},
		{"a plural", "label", "labels", []string{"labels", "limits"}},
		{"nothing near", "weather", "", []string{"model", "task"}},
		{"a short name is not turned into any other", "x", "", []string{"y", "z"}},
		{"the name itself is no suggestion", "task", "", []string{"task"}},
		{"no candidates", "task", "", nil},
		{"no word", "", "", []string{"a"}},
		{"too long to be a slip", strings.Repeat("a", 5000), "", []string{strings.Repeat("a", 4999)}},
		{"the first of two equally near", "tool", "tools", []string{"tools", "toola"}},
	} {
		if got := suggest.Nearest(tc.word, tc.from); got != tc.want {
			t.Errorf("%s: Nearest(%.20q) = %q, want %q", tc.why, tc.word, got, tc.want)
		}
	}
	if got, want := suggest.Hint("modle", []string{"model"}), ` (did you mean "model"?)`; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
}

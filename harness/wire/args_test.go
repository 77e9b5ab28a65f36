package wire_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/wire"
)

func TestReadArgs(t *testing.T) {
	tests := []struct {
		why, text, args, argsText string
		want                      wire.ProblemKind
	}{
		{"an object, spelled as received", ` {"a": 1.50} `, ` {"a": 1.50} `, "", ""},
		{"no arguments", "{}", "{}", "", ""},
		{"nothing came: that is not {}", "", "", "", wire.ProblemArgsCut},
		{"cut in a string", `{"a":"x`, "", `{"a":"x`, wire.ProblemArgsCut},
		{"cut after a colon", `{"a":`, "", `{"a":`, wire.ProblemArgsCut},
		{"cut in a literal", `{"a":tr`, "", `{"a":tr`, wire.ProblemArgsCut},
		{"never JSON", `{a: 1}`, "", `{a: 1}`, wire.ProblemArgsInvalid},
		{"two objects", `{}{}`, "", `{}{}`, wire.ProblemArgsInvalid},
		{"no object", `[1]`, "[1]", "", wire.ProblemArgsInvalid},
	}
	for _, tt := range tests {
		var b wire.Block
		got := wire.ReadArgs(&b, []byte(tt.text))
		if got != tt.want || string(b.Args) != tt.args || b.ArgsText != tt.argsText {
			t.Errorf("%s: %q: got %q, args %q, text %q", tt.why, tt.text, got, b.Args, b.ArgsText)
		}
	}
}

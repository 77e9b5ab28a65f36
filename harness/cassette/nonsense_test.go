package cassette_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

const sensible = `---
version: 2
interactions:
    - id: 0
      request:
        method: POST
        url: https://api.anthropic.com/v1/messages
      response:
        code: 200
        duration: 1s
`

// Both readers refuse figures that no exchange has, and tell what they do not
// read.
func TestNonsense(t *testing.T) {
	for _, tc := range []struct{ why, old, new, fails, warns string }{
		{"nothing wrong", "", "", "", ""},
		{"a negative duration", "1s", "-1s", "c.yaml:4:1: interaction 1: the response duration must not be negative, is -1s", ""},
		{"no such code", "200", "700", "c.yaml:4:1: interaction 1: the response code must lie between 100 and 599, is 700", ""},
		{"a negative code", "200", "-200", "c.yaml:4:1: interaction 1: the response code must lie between 100 and 599, is -200", ""},
		{"a misspelled member", "interactions:", "x-retake: {\"sorce\": \"scripted\"}\ninteractions:", "", `x-retake: unknown member "sorce", which is not read`},
		{"an unknown source", "interactions:", "x-retake: {\"source\": \"invented\"}\ninteractions:", "", `x-retake: unknown source "invented"; known are scripted, recorded and imported`},
		{"in an interaction", "      request:", "      x-retake: {\"source\": \"dreamt\", \"b\": 1, \"a\": 2}\n      request:", "", `x-retake: unknown source "dreamt"; known are scripted, recorded and imported|x-retake: unknown member "a", which is not read|x-retake: unknown member "b", which is not read`},
	} {
		text := strings.Replace(sensible, tc.old, tc.new, 1)
		for _, spelled := range []string{text, "# for the slow reader\n" + text} {
			f, err := cassette.Read([]byte(spelled), "c.yaml")
			if tc.fails != "" {
				if err == nil || failure.Of(err) != failure.CassetteInvalid || !strings.Contains(err.Error(), tc.fails[strings.Index(tc.fails, "interaction"):]) || spelled == text && err.Error() != tc.fails {
					t.Errorf("%s: %v", tc.why, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.why, err)
			}
			var got []string
			for _, w := range f.Warnings {
				got = append(got, w.Text)
			}
			if diff := cmp.Diff(tc.warns, strings.Join(got, "|")); diff != "" {
				t.Errorf("%s: %s", tc.why, diff)
			}
		}
	}
}

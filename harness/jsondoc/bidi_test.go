package jsondoc_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness/jsondoc"
)

func TestEscapeBidi(t *testing.T) {
	for _, tt := range []struct{ why, in, want string }{
		{"nothing to escape", `{"a":"plain – ü ∑ € ‘x’"}`, `{"a":"plain – ü ∑ € ‘x’"}`},
		{"an override", "{\"a\":\"x\u202ey\"}", `{"a":"x\u202ey"}`},
		{"each of them", "\"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\"", `"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"`},
		{"their neighbours", "\"\u061b\u061d\u200d\u2010\u2029\u202f\u2065\u206a\"", "\"\u061b\u061d\u200d\u2010\u2029\u202f\u2065\u206a\""},
		{"in a member's name, beside Arabic", "{\"\u0627\u202e\":1}", "{\"\u0627\\u202e\":1}"},
	} {
		got := jsondoc.EscapeBidi([]byte(tt.in))
		if string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
		var before, after any
		if json.Unmarshal([]byte(tt.in), &before) == nil {
			if err := json.Unmarshal(got, &after); err != nil {
				t.Errorf("%s: %v", tt.why, err)
			}
		}
	}
	b := []byte(`{"a":"ü – nothing"}`)
	if n := testing.AllocsPerRun(10, func() { b = jsondoc.EscapeBidi(b) }); n != 0 {
		t.Errorf("%v allocations where nothing is escaped", n)
	}
}

package jsondoc_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/jsondoc"
)

func TestFind(t *testing.T) {
	const doc = `{"b":[{"n":1},{"n":2.50},{}],"a":{"x/y":"s","*":null}}`
	for _, tc := range []struct {
		why, pointer string
		want         []string
	}{
		{"the empty pointer is the whole document", "", []string{doc}},
		{"members and elements", "/b/1/n", []string{"2.50"}},
		{"* is any element, and what it does not have is left out", "/b/*/n", []string{"1", "2.50"}},
		{"* is any member, in the order of the names", "/a/*", []string{"null", `"s"`}},
		{"a slash in a name is escaped", "/a/x~1y", []string{`"s"`}},
		{"what is not there is nothing", "/b/7", nil},
		{"nor has a number members", "/b/0/n/x", nil},
	} {
		p, err := jsondoc.ParsePointer(tc.pointer)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range p.Find(jsontext.Value(doc)) {
			got = append(got, string(v))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tc.why, tc.pointer, diff)
		}
	}
}

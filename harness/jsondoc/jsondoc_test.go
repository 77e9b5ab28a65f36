package jsondoc_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/jsondoc"
)

func TestCanonical(t *testing.T) {
	rows := []struct{ why, in, want string }{
		{"members are sorted and white space goes", `{ "b" : 1, "a" : [ 1 , 2 ] }`, `{"a":[1,2],"b":1}`},
		{"a string has one spelling", `"\u00e9\/\u0041"`, `"é/A"`},
		{"a number keeps its spelling", `[1.0,1e2,12.50,12345678901234567890]`, `[1.0,1e2,12.50,12345678901234567890]`},
	}
	for _, r := range rows {
		got, err := jsondoc.Canonical([]byte("x"), []byte(r.in))
		if err != nil || string(got) != "x"+r.want {
			t.Errorf("%s: Canonical(%s) = %s, %v, want x%s", r.why, r.in, got, err, r.want)
		}
	}
	refused := []struct{ why, in string }{
		{"readers disagree about a name that occurs twice", `{"a":1,"a":2}`},
		{"a second document", `{} {}`},
		{"nothing", ``},
		{"cut", `{"a":`},
		{"invalid UTF-8", "\"\xff\""},
	}
	for _, r := range refused {
		if got, err := jsondoc.Canonical([]byte("x"), []byte(r.in)); err == nil || string(got) != "x" {
			t.Errorf("%s: Canonical(%q) = %q, %v, want x and an error", r.why, r.in, got, err)
		}
	}
}

func TestDiff(t *testing.T) {
	type diff = jsondoc.Difference
	rows := []struct {
		why, a, b string
		want      []diff
	}{
		{"key order is no difference", `{"a":1,"b":2}`, `{"b":2, "a":1}`, nil},
		{"a changed member, deep", `{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, []diff{{"/a/b/1", jsondoc.Changed, "2", "3"}}},
		{"names are escaped", `{"a/b~":1}`, `{}`, []diff{{"/a~1b~0", jsondoc.Removed, "1", ""}}},
		{"an inserted element is one difference", `[1,2,3]`, `[0,1,2,3]`, []diff{{"/0", jsondoc.Added, "", "0"}}},
		{"an element inserted in the middle leaves its neighbours paired", `[{"a":1},{"b":1},{"c":1}]`, `[{"a":1},9,{"b":2},{"c":1}]`, []diff{
			{"/1", jsondoc.Changed, `{"b":1}`, "9"}, {"/2", jsondoc.Added, "", `{"b":2}`},
		}},
		{"kinds that differ are one change", `{"a":[1]}`, `{"a":{"x":1}}`, []diff{{"/a", jsondoc.Changed, "[1]", `{"x":1}`}}},
		{"a document inside a string is looked into", `{"c":"{\"tx\":\"a1\",\"n\":12}"}`, `{"c":"{\"tx\":\"b2\",\"n\":12}"}`, []diff{
			{"/c/tx", jsondoc.Changed, `"a1"`, `"b2"`},
		}},
		{"white space inside such a string is still a difference", `{"c":"{\"n\":1}"}`, `{"c":"{\"n\": 1}"}`, []diff{
			{"/c", jsondoc.Changed, `"{\"n\":1}"`, `"{\"n\": 1}"`},
		}},
		{"no JSON at all", `hello`, `{}`, []diff{{"", jsondoc.Changed, "hello", "{}"}}},
		{"order is that of the first document", `{"z":1,"a":1}`, `{"a":2,"z":2,"m":0}`, []diff{
			{"/z", jsondoc.Changed, "1", "2"}, {"/a", jsondoc.Changed, "1", "2"}, {"/m", jsondoc.Added, "", "0"},
		}},
	}
	for _, r := range rows {
		got := jsondoc.Diff([]byte(r.a), []byte(r.b), 0)
		if d := cmp.Diff(r.want, got); d != "" {
			t.Errorf("%s:\n%s", r.why, d)
		}
	}
}

func TestDiffShowsTheDifferingPartOfALongText(t *testing.T) {
	a := `"` + strings.Repeat("x", 500) + ` umbrella ` + strings.Repeat("y", 500) + `"`
	b := strings.Replace(a, "umbrella", "parasol", 1)
	got := jsondoc.Diff([]byte(a), []byte(b), 0)
	if len(got) != 1 || !strings.Contains(got[0].A, "umbrella") || !strings.Contains(got[0].B, "parasol") {
		t.Fatalf("differing words are cut away: %q", got)
	}
	if len(got[0].A) > 90 || len(got[0].B) > 90 {
		t.Errorf("values are not shortened: %q", got)
	}
}

func TestDiffStopsAtTheLimit(t *testing.T) {
	if got := jsondoc.Diff([]byte(`[1,2,3]`), []byte(`[4,5,6]`), 2); len(got) != 2 {
		t.Errorf("got %d differences, want 2", len(got))
	}
}

func TestRemove(t *testing.T) {
	rows := []struct {
		why, in  string
		patterns []string
		removed  string
	}{
		{"a member goes, the rest keeps its spelling", `{"a":1.50,"b":2,"c":[1]}`, []string{"/b"}, `{"a":1.50,"c":[1]}`},
		{"* stands for any element", `{"m":[{"id":1,"x":1},{"id":2,"x":2}]}`, []string{"/m/*/id"}, `{"m":[{"x":1},{"x":2}]}`},
		{"indices are those of the input", `[0,1,2,3]`, []string{"/1", "/2"}, `[0,3]`},
		{"a pattern that fits nothing", `{"a":{"b":1}}`, []string{"/a/c", "/x"}, `{"a":{"b":1}}`},
		{"a pattern goes on into a document inside a string", `{"c":"{\"tx\":\"a1\",\"n\":12}"}`, []string{"/c/tx"}, `{"c":"{\"n\":12}"}`},
		{"a string that only looks like a document stays", `{"c":"{not json"}`, []string{"/c/tx"}, `{"c":"{not json"}`},
		{"escaped names", `{"a/b":1,"c~d":2}`, []string{"/a~1b", "/c~0d"}, `{}`},
		{"the whole document", `{"a":1}`, []string{""}, `null`},
	}
	for _, r := range rows {
		patterns, err := jsondoc.ParsePointers(r.patterns)
		if err != nil {
			t.Fatal(err)
		}
		removed, err := jsondoc.Remove(nil, []byte(r.in), patterns)
		if err != nil || string(removed) != r.removed {
			t.Errorf("%s: Remove = %s, %v, want %s", r.why, removed, err, r.removed)
		}
	}
}

func TestParsePointerRefuses(t *testing.T) {
	for _, text := range []string{"a", "messages/0", "/a~", "/a~2"} {
		if _, err := jsondoc.ParsePointer(text); err == nil || !strings.Contains(err.Error(), strconv.Quote(text)) {
			t.Errorf("ParsePointer(%q): %v, want an error that quotes it", text, err)
		}
	}
}

// document draws JSON text whose objects come in a drawn order.
func document(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		top := 5
		if depth == 0 {
			top = 3
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0:
			return strconv.Quote(rapid.StringMatching(`[a-z{}\[\]:, ]{0,8}`).Draw(t, "text"))
		case 1:
			return big.NewInt(rapid.Int64().Draw(t, "number")).String()
		case 2:
			return "true"
		case 3:
			return "null"
		case 4:
			return "[" + strings.Join(rapid.SliceOfN(document(depth-1), 0, 4).Draw(t, "elements"), ",") + "]"
		}
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{1,2}`), 0, 4, rapid.ID[string]).Draw(t, "names")
		var members []string
		for _, n := range names {
			members = append(members, fmt.Sprintf("%q: %s", n, document(depth-1).Draw(t, n)))
		}
		return "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), " , ") + "}"
	})
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := []byte(document(3).Draw(t, "a"))
		b := []byte(document(3).Draw(t, "b"))
		ca, errA := jsondoc.Canonical(nil, a)
		cb, errB := jsondoc.Canonical(nil, b)
		if errA != nil || errB != nil {
			t.Fatalf("Canonical: %v, %v", errA, errB)
		}
		if again, err := jsondoc.Canonical(nil, ca); err != nil || !bytes.Equal(again, ca) {
			t.Fatalf("canonical is not idempotent: %s → %s, %v", ca, again, err)
		}
		if d := jsondoc.Diff(a, ca, 0); d != nil {
			t.Fatalf("a document differs from its canonical spelling: %v", d)
		}
		if equal := bytes.Equal(ca, cb); equal != (jsondoc.Diff(a, b, 0) == nil) {
			t.Fatalf("canonical equal %v, Diff %v", equal, jsondoc.Diff(a, b, 0))
		}
	})
}

func TestKeyOrderIsIrrelevant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := []string{`"a":1`, `"b":{"x":1,"y":2}`, `"c":[1]`, `"d":"t"`, `"é":null`}
		one := "{" + strings.Join(members, ",") + "}"
		other := "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), ",") + "}"
		if d := jsondoc.Diff([]byte(one), []byte(other), 0); d != nil {
			t.Fatalf("Diff: %v", d)
		}
		if jsondoc.Hash([]byte(one)) != jsondoc.Hash([]byte(other)) {
			t.Fatal("hashes differ")
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.0,"\u00e9"],"a":null}`, `"{\"a\":1}"`, `[`, `{"a":1,"a":2}`} {
		f.Add([]byte(s), "/a/*")
	}
	f.Fuzz(func(t *testing.T, raw []byte, pattern string) {
		canonical, err := jsondoc.Canonical(nil, raw)
		if err != nil {
			return
		}
		again, err := jsondoc.Canonical(nil, canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("not idempotent: %q → %q, %v", canonical, again, err)
		}
		if d := jsondoc.Diff(raw, canonical, 0); d != nil {
			t.Fatalf("Diff(raw, canonical) = %v", d)
		}
		p, err := jsondoc.ParsePointer(pattern)
		if err != nil {
			return
		}
		out, err := jsondoc.Remove(nil, raw, []jsondoc.Pointer{p})
		if err != nil {
			t.Fatalf("remove %q: %v", pattern, err)
		}
		if _, err := jsondoc.Canonical(nil, out); err != nil {
			t.Fatalf("remove %q left no document: %q: %v", pattern, out, err)
		}
	})
}

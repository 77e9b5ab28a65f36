package yamlwalk_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

func TestToJSON(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"a number keeps its written text", `[12.50, 1e5, -0, 100000000000000000000001]`, `[12.50,1e5,-0,100000000000000000000001]`},
		{"a day, a time and a version are texts", `[2026-07-14, 14:00, 1.2.3, 2026-07-14T15:00:00Z]`, `["2026-07-14","14:00","1.2.3","2026-07-14T15:00:00Z"]`},
		{"words of older YAML are texts", `[yes, no, on, off, y, 1_000, 12:30:45]`, `["yes","no","on","off","y","1_000","12:30:45"]`},
		{"the three words", `[true, false, null]`, `[true,false,null]`},
		{"nothing is null", "a:\nb: ''\n", `{"a":null,"b":""}`},
		{"in quotes all is text", `["1", 'true', "017", '~', "null"]`, `["1","true","017","~","null"]`},
		{"a block is a text", "a: |\n  1\nb: >-\n  true\n", `{"a":"1\n","b":"true"}`},
		{"the tag of texts is allowed", `[!!str 1]`, `["1"]`},
		{"the order of members stays", `{z: 1, a: 2}`, `{"z":1,"a":2}`},
		{"a key is a text", `{1: a, true: b}`, `{"1":"a","true":"b"}`},
		{"aliases unfold", "a: &x {b: [1]}\nc: *x\nd: [*x]\n", `{"a":{"b":[1]},"c":{"b":[1]},"d":[{"b":[1]}]}`},
		{"a quoted << is a key", `{"<<": 1}`, `{"<<":1}`},
		{"text beyond ASCII", `["é \u2028 \\ \" 😀"]`, `["é ` + "\u2028" + ` \\ \" 😀"]`},
	} {
		got, err := yamlwalk.ToJSON("f.yaml", []byte(tc.text))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: got %s, %v\nwant %s", tc.why, got, err, tc.want)
		}
	}
}

func TestUnclearWordsAreRefused(t *testing.T) {
	for _, word := range []string{"017", "0o17", "0x1F", "+1", ".5", "5.", "1.e3", "-.5", ".inf", "-.Inf", ".nan", "~", "Null", "NULL", "True", "FALSE", "00", "-01"} {
		if got, err := yamlwalk.ToJSON("f.yaml", []byte("["+word+"]")); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1:2: "+word+" is a number") {
			t.Errorf("%s: got %s, %v", word, got, err)
		}
	}
}

// Every JSON text is YAML, and comes through unchanged.
func TestJSONComesThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, err := json.Marshal(anyJSON(3).Draw(t, "value"), json.Deterministic(true))
		if err != nil {
			t.Skip("not JSON")
		}
		got, err := yamlwalk.ToJSON("f.yaml", want)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if diff := cmp.Diff(canonical(t, want), canonical(t, got)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.Float64Range(-1e15, 1e15).AsAny(),
		rapid.StringMatching(`[ -~é]{0,12}`).AsAny(),
		rapid.SampledFrom([]string{"017", "~", "true", "1e", "<<", "a: b", "- x", "#", "\n", "\t", "{", "*a", "&a"}).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.SliceOfN(anyJSON(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.StringMatching(`[a-z<]{1,6}`), anyJSON(depth-1), 0, 4).AsAny())...)
}

func canonical(t *rapid.T, v jsontext.Value) string {
	c := v.Clone()
	if err := c.Canonicalize(jsontext.CanonicalizeRawFloats(false)); err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return string(c)
}

type pair struct{ a, b int }

func TestFind(t *testing.T) {
	f := yamlwalk.Parse("f.yaml", []byte("list:\n  - {a: 1, b: 2}\n  - a: 3\n"))
	type doc struct{ list []pair }
	kind := yamlwalk.Object[doc]{Is: "a file", Fields: []yamlwalk.Field[doc]{
		yamlwalk.F("list", "Pairs.", yamlwalk.List(yamlwalk.Object[pair]{Is: "a pair", Fields: []yamlwalk.Field[pair]{
			yamlwalk.F("a", "A.", yamlwalk.Int(0), func(p *pair) *int { return &p.a }),
			yamlwalk.F("b", "B.", yamlwalk.Int(0), func(p *pair) *int { return &p.b }),
		}}.Kind()), func(d *doc) *[]pair { return &d.list }),
	}}.Kind()
	var got doc
	yamlwalk.Root(f, kind, &got)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pair{{1, 2}, {3, 0}}, got.list, cmp.AllowUnexported(pair{})); diff != "" {
		t.Error(diff)
	}
	for _, tc := range []struct {
		part string
		want yamlwalk.Pos
		has  bool
	}{
		{"", yamlwalk.Pos{Line: 1, Column: 1}, true},
		{"list", yamlwalk.Pos{Line: 1, Column: 1}, true},
		{"list[0].b", yamlwalk.Pos{Line: 2, Column: 12}, true},
		{"list[1].a", yamlwalk.Pos{Line: 3, Column: 5}, true},
		{"list[1].b", yamlwalk.Pos{Line: 3, Column: 5}, false},
		{"list[2]", yamlwalk.Pos{Line: 1, Column: 1}, false},
		{"other", yamlwalk.Pos{Line: 1, Column: 1}, false},
	} {
		if got, has := f.Places().Find(tc.part), f.Places().Has(tc.part); got != tc.want || has != tc.has {
			t.Errorf("%q: got %v, %v, want %v, %v", tc.part, got, has, tc.want, tc.has)
		}
	}
}

// What the walk makes of a text, and what the YAML library makes of it for
// everybody else, is the same wherever the walk accepts it.
func FuzzToJSON(f *testing.F) {
	f.Add("a: [1, 1e, -, -1e+5, 1e-, 0, 00, 1., .5]\n")
	f.Add("a: &x {b: c}\nd: *x\n")
	f.Add("- 'it''s'\n- \"\\u00e9\\x41\"\n- |\n  text\n")
	f.Add("? a\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := yamlwalk.ToJSON("f.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("%q: no position in %v", text, err)
			}
			return
		}
		if !got.IsValid() {
			t.Fatalf("%q gives %q, which is no JSON", text, got)
		}
		var n yaml.Node
		if err := yaml.Load([]byte(strings.TrimPrefix(text, "\ufeff")), &n); err != nil {
			t.Errorf("%q is accepted, and the library says %v", text, err)
		}
	})
}

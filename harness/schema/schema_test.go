package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/schema"
)

const gifts = `{
	"type": "object",
	"properties": {
		"age": {"type": "integer", "minimum": 0, "maximum": 120},
		"budget_min": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.25},
		"relationship_type": {"enum": ["friend", "partner", "parent"]},
		"tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 3, "uniqueItems": true},
		"day": {"type": "string", "format": "date"},
		"code": {"type": "string", "pattern": "^[A-Z]{2}$"},
		"note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
		"pay": {"oneOf": [
			{"type": "object", "properties": {"card": {"type": "string"}}, "required": ["card"], "additionalProperties": false},
			{"type": "string", "const": "cash"}
		]},
		"place": {"$ref": "#/$defs/place"}
	},
	"required": ["relationship_type"],
	"additionalProperties": false,
	"$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false}}
}`

func TestCheck(t *testing.T) {
	s := compile(t, gifts)
	for _, tc := range []struct {
		why, text string
		want      []string
	}{
		{"what fits says nothing", `{"relationship_type":"friend","age":7,"note":null,"pay":"cash","day":"2026-07-14"}`, nil},
		{"a missing member is named where it belongs", `{}`, []string{`/relationship_type: is required`}},
		{"inside a reference too", `{"relationship_type":"friend","place":{}}`, []string{`/place/city: is required`}},
		{"a bound is told with the value", `{"relationship_type":"friend","age":121}`, []string{`/age: must be at most 120, is 121`}},
		{"an integer is no fraction", `{"relationship_type":"friend","age":1.5}`, []string{`/age: must be an integer, is 1.5`}},
		{"a number in quotes is a string", `{"relationship_type":"friend","age":"7"}`, []string{`/age: must be an integer, is the string "7"`}},
		{"a misspelled member", `{"relationship_type":"friend","bugdet_min":1}`, []string{`/bugdet_min: is not allowed here (did you mean "budget_min"?)`}},
		{"a misspelled member below a reference", `{"relationship_type":"friend","place":{"city":"x","ctiy":1}}`, []string{`/place/ctiy: is not allowed here (did you mean "city"?)`}},
		{"a word that is nearly one of the list", `{"relationship_type":"freind"}`, []string{`/relationship_type: must be one of "friend", "partner", "parent", is "freind" (did you mean "friend"?)`}},
		{"everything wrong at once, in order", `{"tags":["a","bb","bb","c"],"budget_min":0,"day":"tomorrow","code":"x"}`, []string{
			`/budget_min: must be more than 0, is 0`,
			`/code: must match the pattern "^[A-Z]{2}$", is "x"`,
			`/day: must be in the format "date", is "tomorrow"`,
			`/relationship_type: is required`,
			`/tags: must have at most 3 items, has 4`,
			`/tags: must not repeat an item: items 1 and 2 are equal`,
			`/tags/0: must have at least 2 characters, has 1`,
			`/tags/3: must have at least 2 characters, has 1`,
		}},
		{"exact arithmetic on decimals", `{"relationship_type":"friend","budget_min":0.3}`, []string{`/budget_min: must be a multiple of 0.25, is 0.3`}},
		{"types of alternatives are told together", `{"relationship_type":"friend","note":1}`, []string{`/note: must be a string or null, is 1`}},
		{"of alternatives the nearest is told", `{"relationship_type":"friend","pay":{"crad":"1"}}`, []string{
			`/pay/card: is required`,
			`/pay/crad: is not allowed here (did you mean "card"?)`,
		}},
		{"the whole value", `[1]`, []string{`must be an object, is an array`}},
		{"no JSON", `{"age":`, []string{`is not valid JSON: it ends in the middle`}},
		{"nothing", ``, []string{`is not valid JSON: it is empty`}},
		{"two values", `{} {}`, []string{`is not valid JSON: there is more text behind the value`}},
		{"a member twice", `{"age":1,"age":2}`, []string{`is not valid JSON: the member /age is there twice`}},
		{"a number that would take all memory", `{"age":1e999999999}`, []string{`has a number with an exponent beyond 1000`}},
		{
			"a long text is shortened", `{"relationship_type":"` + strings.Repeat("x", 200) + `"}`,
			[]string{`/relationship_type: must be one of "friend", "partner", "parent", is "` + strings.Repeat("x", 60) + `…"`},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, texts(s.Check([]byte(tc.text)))); diff != "" {
				t.Errorf("%s: Check(%s) (-want +got):\n%s", tc.why, tc.text, diff)
			}
		})
	}
}

func TestElementsAreOrderedByNumber(t *testing.T) {
	s := compile(t, `{"items":{"type":"string"}}`)
	got := s.Check([]byte(`["","",2,"","","","","","","",10]`))
	if len(got) != 2 || got[0].Pointer != "/2" || got[1].Pointer != "/10" {
		t.Errorf("got %v, want /2 before /10", got)
	}
}

func TestCompileErrors(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"an unknown type", `{"properties":{"a":{"type":"strng"}}}`, `/properties/a/type: must be one of "array", "boolean", "integer", "null", "number", "object", "string", is "strng" (did you mean "string"?)`},
		{"a keyword of the wrong type", `{"required":"a"}`, `/required: must be an array, is the string "a"`},
		{"not JSON", `{`, `is not valid JSON: it ends in the middle`},
		{"a number is no schema", `7`, `must be a boolean or an object, is 7`},
		{"a reference to the network", `{"$ref":"https://example.com/x.json"}`, `refers to "https://example.com/x.json", which lies outside the schema; put it under $defs and refer to #/$defs/NAME`},
		{"a reference to a file", `{"properties":{"a":{"$ref":"other.json"}}}`, `refers to "other.json", which lies outside the schema; put it under $defs and refer to #/$defs/NAME`},
		{"a reference to nothing", `{"$ref":"#/$defs/a"}`, `refers to #/$defs/a, which is not there`},
		{"a broken pattern", `{"properties":{"a":{"pattern":"(["}}}`, `/properties/a/pattern: must be in the format "regex", is "(["`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, err := schema.Compile(jsontext.Value(tc.text))
			want := "JSON Schema does not compile: " + tc.want
			if err == nil || err.Error() != want {
				t.Errorf("%s: Compile(%s)\n got %v\nwant %s", tc.why, tc.text, err, want)
			}
			if failure.Of(err) != failure.ScenarioInvalid {
				t.Errorf("class %q, want %q", failure.Of(err), failure.ScenarioInvalid)
			}
			var ce *schema.CompileError
			if !errors.As(err, &ce) || len(ce.Fields) == 0 {
				t.Errorf("%v has no fields", err)
			}
		})
	}
}

func TestPatternsBeyondGo(t *testing.T) {
	s := compile(t, `{"properties":{"mail":{"type":"string","pattern":"^(?!\\.)[^@]+@x$"},"u":{"pattern":"^\\u0041$"}}}`)
	if got := s.Check([]byte(`{"mail":"anything","u":"A"}`)); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
	if got := s.Check([]byte(`{"mail":1,"u":"B"}`)); len(got) != 2 {
		t.Errorf("got %v, want the type and the second pattern", got)
	}
	if diff := cmp.Diff([]string{`^(?!\.)[^@]+@x$`}, s.Unchecked()); diff != "" {
		t.Errorf("Unchecked (-want +got):\n%s", diff)
	}
}

func TestOlderDraft(t *testing.T) {
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}}`)
	if diff := cmp.Diff([]string{`/x: must be a string, is 1`}, texts(s.Check([]byte(`{"x":1}`)))); diff != "" {
		t.Error(diff)
	}
}

func TestGeminiTypes(t *testing.T) {
	s := compile(t, `{"type":"OBJECT","properties":{"a":{"type":"INTEGER"},"type":{"type":"STRING","nullable":true,"enum":["STRING",null]}},"required":["a"]}`)
	for _, tc := range []struct {
		why, text string
		want      []string
	}{
		{"what fits", `{"a":1,"type":"STRING"}`, nil},
		{"nullable allows null", `{"a":1,"type":null}`, nil},
		{"what does not is told in JSON's words", `{"a":"1","type":"string"}`, []string{`/a: must be an integer, is the string "1"`, `/type: must be one of "STRING", null, is "string" (did you mean "STRING"?)`}},
	} {
		if diff := cmp.Diff(tc.want, texts(s.Check([]byte(tc.text)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestNilAllowsEverything(t *testing.T) {
	var s *schema.Schema
	if got := s.Check([]byte(`nonsense`)); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestCacheIsShared(t *testing.T) {
	var c schema.Cache
	var wg sync.WaitGroup
	got := make([]*schema.Schema, 8)
	for i := range got {
		wg.Go(func() {
			got[i], _ = c.Compile(jsontext.Value(gifts))
			got[i].Check(fmt.Appendf(nil, `{"age":%d}`, i))
		})
	}
	wg.Wait()
	for _, s := range got {
		if s == nil || s != got[0] {
			t.Fatal("one text was compiled to more than one schema")
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(gifts, `{"relationship_type":"friend","age":1e400,"pay":{"card":1}}`)
	f.Add(`{"minimum":1e999}`, `-1e-999`)
	f.Add(`{"oneOf":[true,{"not":{}}],"unevaluatedProperties":false}`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, schemaText, text string) {
		s, err := schema.Compile(jsontext.Value(schemaText))
		if err != nil {
			if strings.Contains(err.Error(), "map[") || strings.Contains(err.Error(), "json.") {
				t.Errorf("a Go type in %q", err)
			}
			return
		}
		first, second := texts(s.Check([]byte(text))), texts(s.Check([]byte(text)))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("two checks differ:\n%s", diff)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, gifts)
	text := []byte(`{"relationship_type":"friend","age":7,"note":null,"tags":["aa","bb"],"day":"2026-07-14"}`)
	b.ReportAllocs()
	for b.Loop() {
		if s.Check(text) != nil {
			b.Fatal("does not fit")
		}
	}
}

func BenchmarkCachedCompile(b *testing.B) {
	var c schema.Cache
	for b.Loop() {
		if _, err := c.Compile(jsontext.Value(gifts)); err != nil {
			b.Fatal(err)
		}
	}
}

func compile(tb testing.TB, text string) *schema.Schema {
	tb.Helper()
	s, err := schema.Compile(jsontext.Value(text))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func texts(fields []schema.FieldError) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.String())
	}
	return out
}

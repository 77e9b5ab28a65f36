package schema

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const everyday = `{
	"type": "object",
	"description": "An order.",
	"properties": {
		"city": {"type": "string", "minLength": 1, "maxLength": 20},
		"date": {"type": "string", "format": "date"},
		"kind": {"enum": ["a", "b"]},
		"code": {"type": ["string", "null"], "pattern": "^[A-Z]+$"},
		"n": {"type": "integer"},
		"x": {"type": "number"},
		"ok": {"type": "boolean"},
		"yes": {"const": true},
		"list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
		"free": {},
		"open": {"type": "object", "additionalProperties": true}
	},
	"required": ["city", "date"],
	"additionalProperties": false
}`

func TestQuickFits(t *testing.T) {
	s, err := Compile(jsontext.Value(everyday))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why, text string
		quick     bool // decided without the full check
	}{
		{"what fits", `{"city":"x","date":"2026-07-14","kind":"a","code":null,"n":1,"x":1.5,"ok":true,"yes":true,"list":["a"],"free":[{}],"open":{"a":1}}`, true},
		{"a required member is missing", `{"city":"x"}`, false},
		{"a member too many", `{"city":"x","date":"2026-07-14","y":1}`, false},
		{"a member twice", `{"city":"x","date":"2026-07-14","n":1,"n":2}`, false},
		{"not the one truth value", `{"city":"x","date":"2026-07-14","yes":false}`, false},
		{"not one of the words", `{"city":"x","date":"2026-07-14","kind":"c"}`, false},
		{"a day that is none", `{"city":"x","date":"2026-02-30"}`, false},
		{"a number with an exponent is left to the full check", `{"city":"x","date":"2026-07-14","x":1e2}`, false},
		{"an integer written as a fraction, too", `{"city":"x","date":"2026-07-14","n":1.0}`, false},
		{"too short, too long", `{"city":"","date":"2026-07-14","list":["a","b","c"]}`, false},
		{"more text behind it", `{"city":"x","date":"2026-07-14"} 1`, false},
		{"cut", `{"city":"x","date":"2026-07-14"`, false},
	} {
		if got := s.quick.fits([]byte(tc.text)); got != tc.quick {
			t.Errorf("%s: fits %v, want %v", tc.why, got, tc.quick)
		}
	}
	for _, text := range []string{`{"minimum":1}`, `{"$ref":"#"}`, `{"properties":{"a":{"anyOf":[true]}}}`, `{"enum":[1]}`, `{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}`, `false`} {
		s, err := Compile(jsontext.Value(text))
		if err != nil {
			t.Fatal(err)
		}
		if s.quick != nil {
			t.Errorf("%s is taken for an everyday schema", text)
		}
	}
}

// What the quick form lets pass, the full check lets pass.
func FuzzQuick(f *testing.F) {
	f.Add(everyday, `{"city":"x","date":"2026-07-14","kind":"a","code":"A","n":-1,"list":["a"]}`)
	f.Add(`{"type":["object","string"],"required":["a"],"properties":{"a":{"const":"b"}}}`, `{"a":"b"}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"type":"string"}}`, `["a"]`)
	f.Add(`{"items":{"format":"ipv4"},"maxItems":3}`, `["1.2.3.4", 5, 1e9999]`)
	f.Add(`{"type":"number","format":"email","default":{}}`, `-0.0`)
	f.Fuzz(func(t *testing.T, schemaText, text string) {
		s, err := Compile(jsontext.Value(schemaText))
		if err != nil || !s.quick.fits([]byte(text)) {
			return
		}
		if problems := s.check([]byte(text)); problems != nil {
			t.Errorf("%s\n%s\nfits by the quick form, and the full check says %v", schemaText, text, problems)
		}
	})
}

func BenchmarkEveryday(b *testing.B) {
	s, err := Compile(jsontext.Value(everyday))
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(`{"city":"London","date":"2026-07-14"}`)
	b.Run("quick", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s.Check(text) != nil {
				b.Fatal("does not fit")
			}
		}
	})
	b.Run("full", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s.check(text) != nil {
				b.Fatal("does not fit")
			}
		}
	})
}

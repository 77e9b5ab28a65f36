// Package openai is what OpenAI's two protocols, Chat Completions and
// Responses, and the servers that copy them have in common: the reading of
// members in place, arguments that travel as a string, the many shapes of an
// error, and the way figures are counted.
//
// Bodies are checked once, by rawjson.Valid; after that objects and arrays are walked
// in place, so that a decoder copies nothing but strings.
package openai

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// IsObject tells whether valid JSON is an object.
func IsObject(v []byte) bool { return first(v) == '{' }

// IsArray tells whether valid JSON is an array.
func IsArray(v []byte) bool { return first(v) == '[' }

// IsString tells whether valid JSON is a string.
func IsString(v []byte) bool { return first(v) == '"' }

// IsNull tells whether a member is absent or null.
func IsNull(v []byte) bool { c := first(v); return c == 0 || c == 'n' }

// IsEmpty tells whether a member says nothing: absent, null, "", [].
func IsEmpty(v []byte) bool {
	switch v = bytes.TrimSpace(v); string(v) {
	case "", "null", `""`, "[]":
		return true
	}
	return IsArray(v) && len(bytes.TrimSpace(v[1:len(v)-1])) == 0
}

func first(v []byte) byte {
	for _, c := range v {
		if c > ' ' {
			return c
		}
	}
	return 0
}

// Object walks the members of a valid JSON object. Anything else has none.
type Object struct {
	c  rawjson.Cursor
	in bool
}

// Members starts a walk.
func Members(v []byte) Object {
	if !IsObject(v) {
		return Object{}
	}
	o := Object{c: rawjson.New(v), in: true}
	o.c.Object()
	return o
}

// Next is the next member: its name, and its value as written.
func (o *Object) Next() (name []byte, value jsontext.Value, ok bool) {
	if !o.in || !o.c.More() {
		o.in = false
		return nil, nil, false
	}
	name = o.c.Name()
	return name, o.c.Value(), true
}

// Array walks the elements of a valid JSON array. Anything else has none.
type Array struct {
	c  rawjson.Cursor
	in bool
}

// Elements starts a walk.
func Elements(v []byte) Array {
	if !IsArray(v) {
		return Array{}
	}
	a := Array{c: rawjson.New(v), in: true}
	a.c.Array()
	return a
}

// Next is the next element as written.
func (a *Array) Next() (value jsontext.Value, ok bool) {
	if !a.in || !a.c.More() {
		a.in = false
		return nil, false
	}
	return a.c.Value(), true
}

// Get is the last member of that name, nil when there is none.
func Get(v []byte, name string) (found jsontext.Value) {
	for o := Members(v); ; {
		n, value, ok := o.Next()
		if !ok {
			return found
		}
		if string(n) == name {
			found = value
		}
	}
}

// Text is the string that v is; false when it is none.
func Text(v []byte) (string, bool) {
	if !IsString(v) {
		return "", false
	}
	v = bytes.TrimSpace(v)
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	// Broken UTF-8 comes out as U+FFFD, so that what is read can be written.
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(inner)), v)
	return string(out), true
}

// TextOf is Text without telling apart what is no string.
func TextOf(v []byte) string {
	s, _ := Text(v)
	return s
}

// Int is the whole number that v is, nil when it is none.
func Int(v []byte) *int64 {
	if c := first(v); c != '-' && (c < '0' || c > '9') {
		return nil
	}
	n, ok := rawjson.Int(bytes.TrimSpace(v))
	if !ok {
		return nil
	}
	return &n
}

// Size is the number of members of an object.
func Size(v []byte) int {
	n := 0
	for o := Members(v); ; n++ {
		if _, _, ok := o.Next(); !ok {
			return n
		}
	}
}

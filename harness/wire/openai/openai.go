// Package openai is what OpenAI's two protocols, Chat Completions and
// Responses, and the servers that copy them have in common: the reading of
// members in place, arguments that travel as a string, the many shapes of an
// error, and the way figures are counted.
//
// Bodies are checked once, by Valid; after that objects and arrays are walked
// in place, so that a decoder copies nothing but strings.
package openai

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Valid tells whether b is one JSON value. Names that occur twice and broken
// UTF-8 are let through: models and servers do send them, and SDKs read them.
func Valid(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

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
	if i := space(v, 0); i < len(v) {
		return v[i]
	}
	return 0
}

// Object walks the members of a valid JSON object. Anything else has none.
type Object struct{ rest []byte }

// Members starts a walk.
func Members(v []byte) Object {
	if !IsObject(v) {
		return Object{}
	}
	return Object{rest: v[space(v, 0)+1:]}
}

// Next is the next member: its name, and its value as written.
func (o *Object) Next() (name []byte, value jsontext.Value, ok bool) {
	b := o.rest
	i := separator(b)
	if i >= len(b) || b[i] != '"' {
		return nil, nil, false
	}
	end := stringEnd(b, i)
	name = b[i+1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, b[i:end])
	}
	i = space(b, space(b, end)+1) // past the colon
	end = valueEnd(b, i)
	o.rest = b[end:]
	return name, jsontext.Value(b[i:end:end]), true
}

// Array walks the elements of a valid JSON array. Anything else has none.
type Array struct{ rest []byte }

// Elements starts a walk.
func Elements(v []byte) Array {
	if !IsArray(v) {
		return Array{}
	}
	return Array{rest: v[space(v, 0)+1:]}
}

// Next is the next element as written.
func (a *Array) Next() (value jsontext.Value, ok bool) {
	b := a.rest
	i := separator(b)
	if i >= len(b) || b[i] == ']' {
		return nil, false
	}
	end := valueEnd(b, i)
	a.rest = b[end:]
	return jsontext.Value(b[i:end:end]), true
}

// Count is the number of elements of an array.
func Count(v []byte) int {
	n := 0
	for a := Elements(v); ; n++ {
		if _, ok := a.Next(); !ok {
			return n
		}
	}
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
	switch c := first(v); {
	case c == '-', c >= '0' && c <= '9':
	default:
		return nil
	}
	v = bytes.TrimSpace(v)
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || f != float64(int64(f)) {
			return nil
		}
		n = int64(f)
	}
	return &n
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// separator passes white space and a comma.
func separator(b []byte) int {
	i := space(b, 0)
	if i < len(b) && b[i] == ',' {
		i = space(b, i+1)
	}
	return i
}

// stringEnd is the index after the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for j := i + 1; ; {
		q := bytes.IndexByte(b[j:], '"')
		if q < 0 {
			return len(b)
		}
		j += q
		k := j
		for b[k-1] == '\\' {
			k--
		}
		j++
		if (j-1-k)%2 == 0 {
			return j
		}
	}
}

// valueEnd is the index after the value that begins at b[i].
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return compositeEnd(b, i)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}

func compositeEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
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

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

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// IsObject tells whether valid JSON is an object.
func IsObject(v []byte) bool { return first(v) == '{' }

// CheckObject refuses a body that is no JSON object; what says what is being read.
func CheckObject(what string, body []byte) error {
	switch {
	case !rawjson.Valid(body):
		return failure.Errorf(failure.Protocol, "%s: the body is not JSON", what)
	case !IsObject(body):
		return failure.Errorf(failure.Protocol, "%s: the body is JSON but no object", what)
	}
	return nil
}

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

// Int is the whole number that v is, nil when it is none.
func Int(v []byte) *int64 {
	n, ok := rawjson.Int(v)
	if !ok {
		return nil
	}
	return &n
}

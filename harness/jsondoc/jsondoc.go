// Package jsondoc works on JSON as text: a canonical spelling, a difference
// between two documents, members taken out by JSON pointer. Nothing passes
// through map[string]any, so numbers stay as they were written.
//
// A tool result often reaches a model as a string that is itself a JSON
// document. Pointers go on into such strings: where "content" holds the text
// {"at":"…"}, /content/at names the member inside it.
package jsondoc

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical appends to dst the one spelling of the document raw: members sorted
// by name, no white space, strings with the fewest escapes, numbers as they
// were written (1 and 1.0 stay different, an id of twenty digits keeps them).
//
// A name that occurs twice in one object is an error, because readers disagree
// about which member counts; so are invalid UTF-8 and bytes after the document.
// On an error dst comes back unchanged.
func Canonical(dst []byte, raw []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(dst, raw,
		jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false),
	)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Hash is the hex SHA-256 of raw's canonical spelling, and of raw itself where
// it is not JSON.
func Hash(raw []byte) string {
	canonical, err := Canonical(nil, raw)
	if err != nil {
		canonical = raw
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Package rawjson steps once through JSON that is known to be valid and takes
// out what a codec wants, without maps and without copying what stays raw; and
// it puts objects together again by splicing text.
//
// The codecs need this because most of a conversation (arguments, schemas,
// signatures) must come out exactly as it went in, and because a harness reads
// the same bodies over and over.
package rawjson

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Valid tells whether b is one JSON value. Invalid UTF-8 and repeated names are
// let through: recordings hold both, and a harness has to show them.
func Valid(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Cursor steps through one value. The text must be Valid. A value that has
// another type than the caller asks for is skipped and remembered: see Err.
type Cursor struct {
	b    []byte
	i    int
	name []byte
	skip bool // what was to be entered is no object or array: the next More is false

	// The first value of the wrong type: its name, and what it should have been.
	bad  []byte
	want string
}

// New makes a Cursor over a valid text.
func New(b []byte) Cursor { return Cursor{b: b} }

// InObject makes a Cursor that has entered the object v: while More, take the
// Member. Anything else has no members.
func InObject(v []byte) Cursor {
	c := New(v)
	c.Object()
	return c
}

// InArray makes a Cursor that has entered the array v: while More, take the
// Value. Anything else has no elements.
func InArray(v []byte) Cursor {
	c := New(v)
	c.Array()
	return c
}

// Err is the first value that had the wrong type, nil for none.
func (c *Cursor) Err() error {
	if c.want == "" {
		return nil
	}
	return fmt.Errorf("%q is not %s", c.bad, c.want)
}

// Kind is the first byte of the next value: one of {["tfn, or a digit or minus
// for a number; 0 at the end.
func (c *Cursor) Kind() byte {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r', ',', ':':
			c.i++
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// Object enters an object: while More, call Name and then take the value. Null
// counts as no members.
func (c *Cursor) Object() { c.enter('{', "an object") }

// Array enters an array: while More, take the value. Null counts as no elements.
func (c *Cursor) Array() { c.enter('[', "an array") }

func (c *Cursor) enter(open byte, want string) {
	if c.Kind() != open {
		c.mismatch(want)
		c.skip = true
		return
	}
	c.i++
}

// More tells whether the object or array entered last goes on; if not it is left.
func (c *Cursor) More() bool {
	if c.skip {
		c.skip = false
		return false
	}
	switch c.Kind() {
	case '}', ']':
		c.i++
		return false
	case 0:
		return false
	}
	return true
}

// Name takes a member's name, unquoted.
func (c *Cursor) Name() []byte {
	c.name = c.rawString()
	if bytes.IndexByte(c.name, '\\') < 0 && len(c.name) >= 2 {
		c.name = c.name[1 : len(c.name)-1]
		return c.name
	}
	c.name, _ = jsontext.AppendUnquote(nil, c.name)
	return c.name
}

// Member takes a member: its name, unquoted, and its value as it is written.
func (c *Cursor) Member() (name []byte, v jsontext.Value) {
	name = c.Name()
	return name, c.Value()
}

// Mark is where the next value begins, for Since.
func (c *Cursor) Mark() int {
	c.Kind()
	return c.i
}

// Since is what was taken from a mark on, as it is written.
func (c *Cursor) Since(mark int) jsontext.Value { return c.b[mark:c.i:c.i] }

// Value takes the next value as it is written.
func (c *Cursor) Value() jsontext.Value {
	switch c.Kind() {
	case '"':
		return c.rawString()
	case '{', '[':
		return c.composite()
	}
	start := c.i
	for c.i < len(c.b) && !ends(c.b[c.i]) {
		c.i++
	}
	return c.b[start:c.i:c.i]
}

func ends(b byte) bool {
	switch b {
	case ' ', '\t', '\n', '\r', ',', ':', '}', ']':
		return true
	}
	return false
}

func (c *Cursor) composite() jsontext.Value {
	start, depth := c.i, 0
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case '"':
			c.rawString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			break
		}
	}
	return c.b[start:c.i:c.i]
}

// rawString takes a string with its quotes. Most strings have no escaped quote:
// their end is the first quote.
func (c *Cursor) rawString() []byte {
	c.Kind()
	start := min(c.i, len(c.b))
	i := start + 1
	if n := bytes.IndexByte(c.b[min(i, len(c.b)):], '"'); n >= 0 {
		i += n
		if c.b[i-1] == '\\' {
			i = stringEnd(c.b, start+1)
		}
		c.i = min(i+1, len(c.b))
	} else {
		c.i = len(c.b)
	}
	return c.b[start:c.i:c.i]
}

// stringEnd is where the quote is that ends the string whose text begins at i.
func stringEnd(b []byte, i int) int {
	for i < len(b) && b[i] != '"' {
		if b[i] == '\\' {
			i++
		}
		i++
	}
	return i
}

// Text takes a string; null gives the empty one.
func (c *Cursor) Text() string {
	if c.Kind() != '"' {
		c.mismatch("a string")
		return ""
	}
	return unquote(c.rawString())
}

// AppendText takes a string and appends it to dst.
func (c *Cursor) AppendText(dst []byte) []byte {
	if c.Kind() != '"' {
		c.mismatch("a string")
		return dst
	}
	dst, _ = jsontext.AppendUnquote(dst, c.rawString())
	return dst
}

// Bool takes a boolean; null is false.
func (c *Cursor) Bool() bool {
	switch c.Kind() {
	case 't', 'f':
		return c.Value()[0] == 't'
	}
	c.mismatch("true or false")
	return false
}

// Int takes a whole number; nil for null.
func (c *Cursor) Int() *int64 {
	if k := c.Kind(); k != '-' && (k < '0' || k > '9') {
		c.mismatch("a number")
		return nil
	}
	n, ok := Int(c.Value())
	if !ok {
		c.fail("a whole number")
		return nil
	}
	return &n
}

// mismatch skips a value of the wrong type; null is of every type.
func (c *Cursor) mismatch(want string) {
	if v := c.Value(); len(v) == 0 || v[0] != 'n' {
		c.fail(want)
	}
}

func (c *Cursor) fail(want string) {
	if c.want == "" {
		c.bad, c.want = c.name, want
	}
}

// Int reads a whole number as some encoders write it (12, 12.0, 1.2e1).
func Int(v []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != float64(int64(f)) || f >= 1<<63 || f < -1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Text is the string that v holds, and whether it is one.
func Text(v []byte) (text string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	return unquote(v), true
}

// TextBytes is Text as bytes: those of v where nothing in it is escaped.
func TextBytes(v []byte) (text []byte, ok bool) {
	switch {
	case len(v) < 2 || v[0] != '"':
		return nil, false
	case plain(v):
		return v[1 : len(v)-1 : len(v)-1], true
	}
	text, _ = jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
	return text, true
}

// TextOf is the string that v holds, empty for anything else.
func TextOf(v []byte) string {
	text, _ := Text(v)
	return text
}

// plain tells whether a string's text stands in it as it is. Broken UTF-8 does
// not: it comes out as U+FFFD, so that what is read can be written.
func plain(quoted []byte) bool {
	return bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted)
}

func unquote(quoted []byte) string {
	if len(quoted) >= 2 && plain(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(quoted)), quoted)
	return string(out)
}

// IsNull tells whether v is null.
func IsNull(v []byte) bool { return string(v) == "null" }

package cassette

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/failure"
)

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// Encode appends f as a file of version 2 in the layout of go-vcr v4. Ids are
// numbered anew.
func Encode(dst []byte, f *File) ([]byte, error) {
	e := &encoder{out: dst}
	e.out = append(e.out, "---\nversion: 2\n"...)
	e.notes(0, f.Notes)
	if len(f.Interactions) == 0 {
		e.out = append(e.out, "interactions: []\n"...)
		return e.out, e.err
	}
	e.out = append(e.out, "interactions:\n"...)
	for i := range f.Interactions {
		e.interaction(i, &f.Interactions[i])
	}
	if e.err != nil {
		return dst, failure.Errorf(failure.CassetteInvalid, "%s: writing the cassette: %w", f.Name, e.err)
	}
	return e.out, nil
}

type encoder struct {
	out []byte
	err error
}

// Columns of the layout.
const (
	itemColumn   = 6  // members of an interaction
	memberColumn = 8  // members of a request or response
	nameColumn   = 12 // header names, elements of a list
	valueColumn  = 16 // header values
)

func (e *encoder) interaction(i int, in *Interaction) {
	e.out = append(e.out, "    - id: "...)
	e.out = strconv.AppendInt(e.out, int64(i), 10)
	e.out = append(e.out, '\n')
	if in.Notes != nil {
		e.notes(itemColumn, *in.Notes)
	}
	e.request(&in.Request)
	e.response(&in.Response)
}

func (e *encoder) request(q *Request) {
	e.line(itemColumn, "request")
	e.text("proto", q.Proto)
	e.number("proto_major", int64(q.ProtoMajor))
	e.number("proto_minor", int64(q.ProtoMinor))
	e.number("content_length", q.ContentLength)
	e.list("transfer_encoding", q.TransferEncoding)
	e.header("trailer", q.Trailer, true)
	e.text("host", q.Host)
	if q.RemoteAddr != "" {
		e.text("remote_addr", q.RemoteAddr)
	}
	if q.RequestURI != "" {
		e.text("request_uri", q.RequestURI)
	}
	if len(q.Body) > 0 {
		e.body(q.Body)
	}
	e.header("form", q.Form, true)
	e.header("headers", q.Header, true)
	e.text("url", q.URL)
	e.text("method", q.Method)
}

func (e *encoder) response(a *Response) {
	e.line(itemColumn, "response")
	e.text("proto", a.Proto)
	e.number("proto_major", int64(a.ProtoMajor))
	e.number("proto_minor", int64(a.ProtoMinor))
	e.list("transfer_encoding", a.TransferEncoding)
	e.header("trailer", a.Trailer, true)
	e.number("content_length", a.ContentLength)
	if a.Uncompressed {
		e.key(memberColumn, "uncompressed")
		e.out = append(e.out, "true\n"...)
	}
	e.body(a.Body)
	e.header("headers", a.Header, false)
	e.text("status", a.Status)
	e.number("code", int64(a.Code))
	e.text("duration", a.Duration.String())
}

func (e *encoder) indent(column int) {
	for range column {
		e.out = append(e.out, ' ')
	}
}

// key begins a line; its value follows.
func (e *encoder) key(column int, name string) {
	e.indent(column)
	e.name(name)
	e.out = append(e.out, ": "...)
}

// line is a key whose value stands on the lines below.
func (e *encoder) line(column int, name string) {
	e.indent(column)
	e.name(name)
	e.out = append(e.out, ":\n"...)
}

func (e *encoder) name(name string) {
	for i := range len(name) {
		if !keyByte(name[i]) || name[0] == '-' {
			e.quoted(name)
			return
		}
	}
	if needsQuotes(name) {
		e.quoted(name)
		return
	}
	e.out = append(e.out, name...)
}

func (e *encoder) notes(column int, notes any) {
	start := len(e.out)
	e.key(column, "x-retake")
	before := len(e.out)
	var err error
	if e.out, err = encodeNotes(e.out, notes); err != nil && e.err == nil {
		e.err = fmt.Errorf("x-retake: %w", err)
	}
	if len(e.out) == before {
		e.out = e.out[:start]
		return
	}
	e.out = append(e.out, '\n')
}

func (e *encoder) number(name string, n int64) {
	e.key(memberColumn, name)
	e.out = append(strconv.AppendInt(e.out, n, 10), '\n')
}

func (e *encoder) text(name, value string) {
	e.key(memberColumn, name)
	e.scalar(value)
	e.out = append(e.out, '\n')
}

func (e *encoder) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	e.line(memberColumn, name)
	for _, v := range values {
		e.element(nameColumn, v)
	}
}

func (e *encoder) element(column int, value string) {
	e.indent(column)
	e.out = append(e.out, "- "...)
	e.scalar(value)
	e.out = append(e.out, '\n')
}

func (e *encoder) header(name string, h Header, omit bool) {
	if len(h) == 0 {
		if !omit {
			e.key(memberColumn, name)
			e.out = append(e.out, "{}\n"...)
		}
		return
	}
	byName := make(map[string][]string, len(h))
	for _, f := range h {
		byName[f.Name] = append(byName[f.Name], f.Value)
	}
	e.line(memberColumn, name)
	for _, n := range sortedKeys(byName) {
		e.line(nameColumn, n)
		for _, v := range byName[n] {
			e.element(valueColumn, v)
		}
	}
}

// scalar writes a short text on the rest of the line.
func (e *encoder) scalar(s string) {
	switch {
	case !utf8.ValidString(s):
		e.out = append(e.out, "!!binary |\n"...)
		e.indent(valueColumn + 4)
		e.out = base64.StdEncoding.AppendEncode(e.out, []byte(s))
	case s != "" && len(s) < 200 && (keyByte(s[0]) || s[0] == '/') && isPlain([]byte(s)) && !needsQuotes(s) && isASCIIText([]byte(s)):
		e.out = append(e.out, s...)
	default:
		e.quoted(s)
	}
}

// needsQuotes tells whether some YAML version reads the plain text as something
// else than itself.
func needsQuotes(s string) bool {
	if s == "" {
		return true
	}
	switch s[0] {
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '-', '+':
		return !plainDuration(s) && !plainStatus(s)
	}
	switch string(bytes.ToLower([]byte(s))) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return true
	}
	return false
}

func plainDuration(s string) bool {
	last := s[len(s)-1]
	return last == 's' && bytes.IndexByte([]byte(s), ':') < 0
}

// plainStatus knows "200 OK": digits, a space, a letter.
func plainStatus(s string) bool {
	return len(s) > 4 && s[3] == ' ' && s[4] >= 'A' && s[4] <= 'z'
}

func isASCIIText(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c > 0x7E {
			return false
		}
	}
	return true
}

// Package redact knows the secrets of a project and keeps them out of what is
// written: reports, goldens, cassettes, the terminal.
//
// A secret is looked for as it is and in the spellings that it takes on its way
// into a file: escaped as JSON (once and twice), as XML and as Go does, percent
// encoded, inside base64 at any of its three alignments, and with any of its
// characters escaped by number (\u00e4, \u002B), also where that is quoted in prose.
// Of a long secret the beginning counts too, since messages show texts shortened.
package redact

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Secret is a value that must not be written, and what it is called.
type Secret struct{ Name, Value string }

// Least is the number of bytes below which a value is no secret: it could not be
// told from a word.
const Least = 6

// Values are secrets to look for. nil has none. It is read-only and may be
// shared.
type Values struct {
	plain   []string
	needles []needle // the longest first
	window  int      // length of the shortest
	// shift is by how much the window may move on when it ends in these two
	// bytes; 0 where a needle has to be compared.
	shift *[1 << 16]uint8
}

// needle is one spelling of a secret, or its beginning.
type needle struct {
	text, whole, name string
}

// New prepares the search; values shorter than Least are left out. Without any
// it gives nil.
func New(secrets ...Secret) *Values {
	v := &Values{}
	for _, s := range secrets {
		if len(s.Value) < Least {
			continue
		}
		v.plain = append(v.plain, s.Value)
		for _, text := range spellings(s.Value) {
			v.needles = append(v.needles, needle{text, text, s.Name})
			if len(text) >= long {
				v.needles = append(v.needles, needle{text[:head], text, s.Name})
			}
		}
	}
	if len(v.needles) == 0 {
		return nil
	}
	slices.SortStableFunc(v.needles, func(a, b needle) int { return len(b.text) - len(a.text) })
	v.index()
	return v
}

// A spelling of long bytes is recognised by its first head ones. Shorter heads
// are what all keys of a provider have in common.
const (
	long = 24
	head = 20
)

// index fills the table of shifts, after Wu and Manber.
func (v *Values) index() {
	v.window = min(len(v.needles[len(v.needles)-1].text), 255)
	v.shift = new([1 << 16]uint8)
	for i := range v.shift {
		v.shift[i] = uint8(v.window - 1)
	}
	for _, n := range v.needles {
		for end := 2; end <= v.window; end++ {
			at := &v.shift[pair(n.text[end-2], n.text[end-1])]
			*at = min(*at, uint8(v.window-end))
		}
	}
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// Plain are the secrets themselves.
func (v *Values) Plain() []string {
	if v == nil {
		return nil
	}
	return v.plain
}

// Found names the first secret that b has; ok is false without one.
func (v *Values) Found(b []byte) (name string, ok bool) {
	name, _, ok = v.Where(b)
	return name, ok
}

// Where is Found with the offset of what was found.
func (v *Values) Where(b []byte) (name string, at int, ok bool) {
	if at, _, name = v.next(b, 0); name != "" {
		return name, at, true
	}
	if !v.underEscapes(b) {
		return "", 0, false
	}
	first := v.spans(b)[0]
	return first.name, first.start, true
}

// next finds the first spelling from a place on: its bounds and whose it is, ""
// for none.
func (v *Values) next(b []byte, from int) (start, end int, name string) {
	if v == nil {
		return 0, 0, ""
	}
	for i := from; i+v.window <= len(b); {
		if step := v.shift[pair(b[i+v.window-2], b[i+v.window-1])]; step > 0 {
			i += int(step)
			continue
		}
		for j := range v.needles {
			n := &v.needles[j]
			if b[i] == n.text[0] && len(b)-i >= len(n.text) && string(b[i:i+len(n.text)]) == n.text {
				return i, i + common(b[i:], n.whole), n.name
			}
		}
		i++
	}
	return 0, 0, ""
}

// common is how far b goes along with text.
func common(b []byte, text string) int {
	n := 0
	for n < len(b) && n < len(text) && b[n] == text[n] {
		n++
	}
	return n
}

// Text is s with [secret NAME] for each secret.
func (v *Values) Text(s string) string {
	if v == nil {
		return s
	}
	return string(v.Bytes([]byte(s)))
}

// Bytes is b with [secret NAME] for each secret; b itself, which is not copied,
// when it has none. A JSON object stays one: there only texts and names are
// looked at, and a number that happens to be a secret's is left alone.
func (v *Values) Bytes(b []byte) []byte {
	if _, found := v.Found(b); !found {
		return b
	}
	if t := bytes.TrimSpace(b); len(t) > 0 && t[0] == '{' && jsontext.Value(t).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		return v.document(b)
	}
	return v.mask(nil, b)
}

func (v *Values) mask(dst, b []byte) []byte {
	from := 0
	for _, s := range v.spans(b) {
		dst = append(dst, b[from:s.start]...)
		dst = append(append(append(dst, "[secret "...), s.name...), ']')
		from = s.end
	}
	return append(dst, b[from:]...)
}

// document masks inside the strings of a valid JSON text.
func (v *Values) document(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		start := bytes.IndexByte(b, '"')
		if start < 0 {
			break
		}
		end := start + 1
		for b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		end++
		out = append(out, b[:start]...)
		out = v.literal(out, b[start:end])
		b = b[end:]
	}
	return append(out, b...)
}

func (v *Values) literal(dst, quoted []byte) []byte {
	text, err := jsontext.AppendUnquote(nil, quoted)
	if _, found := v.Found(text); err != nil || !found {
		return append(dst, quoted...)
	}
	out, err := jsontext.AppendQuote(dst, v.mask(nil, text))
	if err != nil { // bytes that are no UTF-8: quoted all the same
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(string(v.mask(nil, text)), "\uFFFD"))
	}
	return out
}

// Writer passes on what is written to it, redacted. Each Write has to be a whole
// piece: a secret that is cut in two by them is not found.
func (v *Values) Writer(w io.Writer) io.Writer {
	if v == nil {
		return w
	}
	return &writer{v, w}
}

type writer struct {
	values *Values
	w      io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if _, err := w.w.Write(w.values.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

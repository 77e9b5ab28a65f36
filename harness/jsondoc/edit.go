package jsondoc

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Remove appends raw to dst without the members and elements that a pattern
// names; what is left keeps its spelling and order. Indices in patterns are
// those of raw. A pattern for the whole document leaves null. White space
// between tokens may be lost.
func Remove(dst, raw []byte, patterns []Pointer) ([]byte, error) {
	active := make([][]string, 0, len(patterns))
	for _, p := range patterns {
		if len(p.segments) == 0 {
			return append(dst, "null"...), nil
		}
		active = append(active, p.segments)
	}
	e := editor{dec: jsontext.NewDecoder(bytes.NewBuffer(raw)), out: dst}
	if err := e.value(active); err != nil {
		return dst, err
	}
	if err := e.end(); err != nil {
		return dst, err
	}
	return e.out, nil
}

var errTrailing = errors.New("a second value follows the JSON document")

// editor copies one document from dec to out, token by token only where a
// pattern may still name something below.
type editor struct {
	dec *jsontext.Decoder
	out []byte

	with  func(jsontext.Kind) string // what stands for a named value; nil: nothing
	found int                        // values that with was asked for
}

// end refuses bytes behind the document.
func (e *editor) end() error {
	_, err := e.dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return errTrailing
	}
	return err
}

func (e *editor) value(active [][]string) error {
	kind := e.dec.PeekKind()
	switch {
	case len(active) == 0:
	case kind == '{':
		return e.object(active)
	case kind == '[':
		return e.array(active)
	case kind == '"':
		return e.text(active)
	}
	v, err := e.dec.ReadValue()
	e.out = append(e.out, v...)
	return err
}

func (e *editor) object(active [][]string) error {
	if _, err := e.dec.ReadToken(); err != nil {
		return err
	}
	e.out = append(e.out, '{')
	first := true
	for e.dec.PeekKind() != '}' {
		quoted, err := e.dec.ReadValue()
		if err != nil {
			return err
		}
		name, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return err
		}
		below, hit := descend(active, string(name))
		if !hit || e.with != nil {
			e.comma(&first)
			e.out = append(append(e.out, quoted...), ':')
		}
		if err := e.child(below, hit); err != nil {
			return err
		}
	}
	return e.close('}')
}

func (e *editor) array(active [][]string) error {
	if _, err := e.dec.ReadToken(); err != nil {
		return err
	}
	e.out = append(e.out, '[')
	first := true
	for i := 0; e.dec.PeekKind() != ']'; i++ {
		below, hit := descend(active, strconv.Itoa(i))
		if !hit || e.with != nil {
			e.comma(&first)
		}
		if err := e.child(below, hit); err != nil {
			return err
		}
	}
	return e.close(']')
}

func (e *editor) comma(first *bool) {
	if !*first {
		e.out = append(e.out, ',')
	}
	*first = false
}

func (e *editor) child(below [][]string, hit bool) error {
	if !hit {
		return e.value(below)
	}
	if e.with != nil {
		e.out = append(e.out, e.with(e.dec.PeekKind())...)
		e.found++
	}
	return e.dec.SkipValue()
}

func (e *editor) close(bracket byte) error {
	_, err := e.dec.ReadToken()
	e.out = append(e.out, bracket)
	return err
}

// text edits the document inside a string; a string that holds none stays as it
// is.
func (e *editor) text(active [][]string) error {
	quoted, err := e.dec.ReadValue()
	if err != nil {
		return err
	}
	if inner, ok := embedded(quoted); ok {
		below := editor{dec: jsontext.NewDecoder(bytes.NewBuffer(inner)), with: e.with}
		err := below.value(active)
		if err == nil {
			err = below.end()
		}
		// A document that is torn behind a named value goes as far as it could be read.
		if err == nil || below.found > 0 {
			e.found += below.found
			e.out, err = jsontext.AppendQuote(e.out, below.out)
			return err
		}
	}
	e.out = append(e.out, quoted...)
	return nil
}

// descend gives what is left of the patterns below name, and whether one of
// them ends there.
func descend(active [][]string, name string) (below [][]string, hit bool) {
	for _, p := range active {
		if p[0] != "*" && p[0] != name {
			continue
		}
		if len(p) == 1 {
			return nil, true
		}
		below = append(below, p[1:])
	}
	return below, false
}

// embedded is the text of a quoted string when it looks like a JSON object or
// array.
func embedded(quoted []byte) (inner []byte, ok bool) {
	if len(quoted) < 4 {
		return nil, false
	}
	body := bytes.TrimLeft(quoted[1:], " ")
	if body[0] != '{' && body[0] != '[' && body[0] != '\\' {
		return nil, false
	}
	inner, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil, false
	}
	trimmed := bytes.TrimLeft(inner, " \t\r\n")
	return inner, len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[')
}

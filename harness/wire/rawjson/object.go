package rawjson

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
)

// Members collects the members of an object that no field holds.
type Members struct{ text []byte }

// Add adds a member.
func (m *Members) Add(name []byte, v jsontext.Value) {
	if m.text == nil {
		m.text = append(make([]byte, 0, len(name)+len(v)+8), '{')
	} else {
		m.text = append(m.text, ',')
	}
	m.text = Quote(m.text, name)
	m.text = append(append(m.text, ':'), v...)
}

// AddSet adds a member unless it is null.
func (m *Members) AddSet(name []byte, v jsontext.Value) {
	if !IsNull(v) {
		m.Add(name, v)
	}
}

// Value is the object in canonical form, nil when nothing was added.
func (m *Members) Value() jsontext.Value {
	if m.text == nil {
		return nil
	}
	return Canonical(nil, append(m.text, '}'))
}

// Canonical appends v in canonical form; what has none (repeated names, invalid
// UTF-8) is appended as it is.
func Canonical(dst []byte, v []byte) []byte {
	out, err := jsondoc.Canonical(dst, v)
	if err != nil {
		return append(out, v...)
	}
	return out
}

// Quote appends s as a JSON string. Invalid UTF-8 becomes the replacement
// character.
func Quote[T ~[]byte | ~string](dst []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			dst, _ = jsontext.AppendQuote(dst, s)
			return dst
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// Size is the number of members of the object v.
func Size(v jsontext.Value) int {
	n := 0
	for c := InObject(v); c.More(); n++ {
		c.Member()
	}
	return n
}

// Splice appends the members of the object v, each with a comma in front.
func Splice(dst []byte, v jsontext.Value) []byte {
	v = bytes.TrimSpace(v)
	if len(v) < 2 || v[0] != '{' {
		return dst
	}
	if v = bytes.TrimSpace(v[1 : len(v)-1]); len(v) == 0 {
		return dst
	}
	return append(append(dst, ','), v...)
}

// Get is the value of a member of the object v, nil without one; of members
// with the same name the first counts.
func Get(v jsontext.Value, name string) jsontext.Value {
	start, end := find(v, name)
	if end == 0 {
		return nil
	}
	return v[start:end:end]
}

// find says where a member's value is; 0, 0 without one.
func find(v jsontext.Value, name string) (start, end int) {
	for c := InObject(v); c.More(); {
		here := string(c.Name()) == name
		if value := c.Value(); here {
			return c.i - len(value), c.i
		}
	}
	return 0, 0
}

// Set is the object v with a member's value replaced, or added at its end; the
// rest keeps its spelling.
func Set(v jsontext.Value, name string, value []byte) jsontext.Value {
	out := make([]byte, 0, len(v)+len(name)+len(value)+4)
	if start, end := find(v, name); end > 0 {
		out = append(append(out, v[:start]...), value...)
		return append(out, v[end:]...)
	}
	end := bytes.LastIndexByte(v, '}')
	if end < 0 {
		return v
	}
	out = append(out, v[:end]...)
	if len(bytes.TrimSpace(v[1:end])) > 0 {
		out = append(out, ',')
	}
	out = append(Quote(out, name), ':')
	return append(append(out, value...), v[end:]...)
}

// Without is the object v without a member: canonical, nil when none is left.
func Without(v jsontext.Value, name string) jsontext.Value {
	if _, end := find(v, name); end == 0 {
		return v
	}
	var rest Members
	for c := InObject(v); c.More(); {
		if n, value := c.Member(); string(n) != name {
			rest.Add(n, value)
		}
	}
	return rest.Value()
}

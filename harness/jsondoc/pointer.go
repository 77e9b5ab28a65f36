package jsondoc

import (
	"fmt"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901) whose segment * stands for any member or
// element. A member that is really named * cannot be named alone.
type Pointer struct {
	text     string
	segments []string
}

// ParsePointer reads a pointer such as /messages/*/content/0. The empty text
// names the whole document.
func ParsePointer(text string) (Pointer, error) {
	if text == "" {
		return Pointer{}, nil
	}
	if text[0] != '/' {
		return Pointer{}, fmt.Errorf("JSON pointer %q does not begin with a slash; write %q", text, "/"+text)
	}
	segments := strings.Split(text[1:], "/")
	for i, s := range segments {
		plain, ok := unEscape(s)
		if !ok {
			return Pointer{}, fmt.Errorf("JSON pointer %q: a tilde must be written ~0, a slash in a name ~1", text)
		}
		segments[i] = plain
	}
	return Pointer{text: text, segments: segments}, nil
}

// ParsePointers reads several pointers and stops at the first wrong one.
func ParsePointers(texts []string) ([]Pointer, error) {
	var out []Pointer
	for _, t := range texts {
		p, err := ParsePointer(t)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// String is the pointer as it was written.
func (p Pointer) String() string { return p.text }

func unEscape(s string) (plain string, ok bool) {
	if !strings.Contains(s, "~") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '~' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case i < len(s) && s[i] == '0':
			b.WriteByte('~')
		case i < len(s) && s[i] == '1':
			b.WriteByte('/')
		default:
			return "", false
		}
	}
	return b.String(), true
}

// Escape spells the name of a member as a segment of a pointer.
func Escape(s string) string {
	if !strings.ContainsAny(s, "~/") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

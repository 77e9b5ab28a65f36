package start

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// wide is the length up to which a value stands on one line.
const wide = 110

// appendField appends name: value, value being JSON, in the YAML that a person would
// write: short values on a line, texts of several lines as such.
func appendField(dst []byte, indent int, name string, v jsontext.Value) []byte {
	dst = append(dst, strings.Repeat(" ", indent)...)
	dst = append(append(dst, key(name)...), ':')
	return appendValue(dst, indent, v)
}

// appendValue appends what follows a colon.
func appendValue(dst []byte, indent int, v jsontext.Value) []byte {
	if text, ok := rawjson.Text(v); ok && block(text) {
		return appendBlock(append(dst, ' '), indent+2, text)
	}
	line := flow(nil, v)
	if len(line) <= wide || v[0] != '{' && v[0] != '[' {
		return append(append(append(dst, ' '), line...), '\n')
	}
	dst = append(dst, '\n')
	if v[0] == '{' {
		return appendMembers(dst, indent+2, v, 0)
	}
	for c := rawjson.InArray(v); c.More(); {
		dst = appendElement(dst, indent+2, c.Value())
	}
	return dst
}

// appendMembers appends the members of an object; the first skip of the indent are
// there already.
func appendMembers(dst []byte, indent int, v jsontext.Value, skip int) []byte {
	for c := rawjson.InObject(v); c.More(); {
		name, value := c.Member()
		line := appendField(nil, indent, string(name), value)
		dst = append(dst, line[skip:]...)
		skip = 0
	}
	return dst
}

func appendElement(dst []byte, indent int, v jsontext.Value) []byte {
	dst = append(append(dst, strings.Repeat(" ", indent)...), '-')
	if line := flow(nil, v); len(line) > wide && v[0] == '{' {
		return appendMembers(append(dst, ' '), indent+2, v, indent+2)
	}
	return appendValue(dst, indent, v)
}

// block tells whether a text can stand as it is, line by line.
func block(text string) bool {
	odd := func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xfffd && r <= 0xffff
	}
	return strings.Contains(strings.TrimSuffix(text, "\n"), "\n") && !strings.HasSuffix(text, "\n\n") &&
		text[0] != ' ' && text[0] != '\n' && !strings.ContainsFunc(text, odd)
}

func appendBlock(dst []byte, indent int, text string) []byte {
	dst = append(dst, '|')
	if !strings.HasSuffix(text, "\n") {
		dst = append(dst, '-')
	}
	dst = append(dst, '\n')
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line != "" {
			dst = append(append(dst, strings.Repeat(" ", indent)...), line...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// flow appends a value on one line.
func flow(dst []byte, v jsontext.Value) []byte {
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		for c, n := rawjson.InObject(v), 0; c.More(); n++ {
			name, value := c.Member()
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, key(string(name))...), ": "...)
			dst = flow(dst, value)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for c, n := rawjson.InArray(v), 0; c.More(); n++ {
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = flow(dst, c.Value())
		}
		return append(dst, ']')
	case '"':
		text, _ := rawjson.Text(v)
		return append(dst, scalar(text)...)
	default:
		return append(dst, v...)
	}
}

var (
	plainKey  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
)

// key is a member's name as YAML has it.
func key(name string) string {
	if plainKey.MatchString(name) && !ambiguous(name) {
		return name
	}
	return quoted(name)
}

func scalar(text string) string {
	if plainText.MatchString(text) && !ambiguous(text) {
		return text
	}
	return quoted(text)
}

// ambiguous are words that some readers of YAML take for something else than texts.
func ambiguous(word string) bool {
	return slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"}, strings.ToLower(word))
}

// quoted is a text in double quotes, as JSON and YAML both read it.
func quoted(text string) string {
	var b bytes.Buffer
	for _, r := range string(rawjson.Quote(nil, text)) {
		if r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

package cassette

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"unicode/utf8"
)

// body writes a body in the form that a reader of a pull request can follow
// and every YAML parser reads back byte for byte.
func (e *encoder) body(b []byte) {
	e.key(memberColumn, "body")
	switch {
	case len(b) == 0:
		e.out = append(e.out, `""`...)
	case !utf8.Valid(b):
		e.binary(b)
	case plainText(b) && isLiteral(b):
		e.literal(b)
		return
	case plainText(b) && !bytes.ContainsAny(b, "\n\t\x7f"): // go-vcr v3 reads no bare DEL
		e.singleQuoted(b)
	default:
		e.quoted(string(b))
	}
	e.out = append(e.out, '\n')
}

// isLiteral tells whether a text of several lines can stand as a literal block
// whose indentation its first line tells.
func isLiteral(b []byte) bool {
	first := b[0]
	return bytes.IndexByte(b, '\n') > 0 && first != ' ' && first != '\t' &&
		bytes.IndexByte(b, 0x7F) < 0 && !blankLineWithSpaces(b)
}

// blankLineWithSpaces finds a line of nothing but white space, whose treatment
// at the end of a block differs among parsers.
func blankLineWithSpaces(b []byte) bool {
	for line := range bytes.Lines(b) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		if len(text) > 0 && len(bytes.TrimLeft(text, " \t")) == 0 {
			return true
		}
	}
	return false
}

func (e *encoder) literal(b []byte) {
	e.out = append(e.out, '|')
	switch {
	case b[len(b)-1] != '\n':
		e.out = append(e.out, '-')
	case len(b) > 1 && b[len(b)-2] == '\n':
		e.out = append(e.out, '+')
	}
	e.out = append(e.out, '\n')
	for line := range bytes.Lines(b) {
		if line[0] != '\n' {
			e.indent(nameColumn)
		}
		e.out = append(e.out, line...)
	}
	if b[len(b)-1] != '\n' {
		e.out = append(e.out, '\n')
	}
}

func (e *encoder) singleQuoted(b []byte) {
	e.out = append(e.out, '\'')
	for {
		i := bytes.IndexByte(b, '\'')
		if i < 0 {
			break
		}
		e.out = append(append(e.out, b[:i]...), "''"...)
		b = b[i+1:]
	}
	e.out = append(append(e.out, b...), '\'')
}

// quoted writes a text in double quotes, whatever is in it.
func (e *encoder) quoted(s string) {
	e.out = append(e.out, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			e.out = append(e.out, '\\', byte(c))
		case c == '\n':
			e.out = append(e.out, `\n`...)
		case c == '\t':
			e.out = append(e.out, `\t`...)
		case c == '\r':
			e.out = append(e.out, `\r`...)
		case c < 0x20 || c >= 0x7F && c < 0xA0:
			e.out = fmt.Appendf(e.out, `\x%02X`, c)
		case c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF:
			e.out = fmt.Appendf(e.out, `\u%04X`, c)
		default:
			e.out = utf8.AppendRune(e.out, c)
		}
	}
	e.out = append(e.out, '"')
}

// binaryWidth is the length of a line of base64, as go-vcr writes it.
const binaryWidth = 70

func (e *encoder) binary(b []byte) {
	e.out = append(e.out, "!!binary |"...)
	encoded := base64.StdEncoding.AppendEncode(nil, b)
	for len(encoded) > 0 {
		n := min(binaryWidth, len(encoded))
		e.out = append(e.out, '\n')
		e.indent(nameColumn)
		e.out = append(e.out, encoded[:n]...)
		encoded = encoded[n:]
	}
}

package cassette

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// text views bytes of the file as a string. The file's bytes are never changed
// once Read has them, which is what makes this safe.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// plainText tells whether data is UTF-8 without any character that YAML treats
// in a way of its own: control characters but tab and line feed, the other line
// breaks of Unicode, byte order marks.
func plainText(data []byte) bool {
	const spaces, highBits = 0x2020202020202020, 0x8080808080808080
	var high uint64
	rest := data
	for ; len(rest) >= 8; rest = rest[8:] {
		word := binary.LittleEndian.Uint64(rest)
		high |= word
		// A byte below 0x20 borrows into its high bit; a false alarm costs a look.
		if (word-spaces)&^word&highBits != 0 && !noControls(rest[:8]) {
			return false
		}
	}
	for _, c := range rest {
		high |= uint64(c)
	}
	if !noControls(rest) {
		return false
	}
	return high&highBits == 0 || plainUnicode(data)
}

func noControls(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func plainUnicode(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, special := range []struct {
		lead byte
		bad  func(after []byte) bool
	}{
		{0xC2, func(a []byte) bool { return a[0] < 0xA0 }},                                    // C1 controls, next line
		{0xE2, func(a []byte) bool { return a[0] == 0x80 && (a[1] == 0xA8 || a[1] == 0xA9) }}, // line and paragraph separators
		{0xEF, func(a []byte) bool { return a[0] == 0xBB && a[1] == 0xBF || a[0] == 0xBF && a[1] >= 0xBE }},
	} {
		for rest := data; ; {
			i := bytes.IndexByte(rest, special.lead)
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			if special.bad(rest) {
				return false
			}
		}
	}
	return true
}

// text reads a scalar as a string.
func (r *fastReader) text(value, parent int) string {
	return text(r.scalar(value, parent))
}

// scalar reads the value at position value of a key or element whose collection
// stands at the column parent, and moves to the line behind it. The result
// aliases the file where nothing had to be unescaped.
func (r *fastReader) scalar(value, parent int) []byte {
	if r.failed {
		return nil
	}
	end := r.lineEnd(value)
	line := r.data[value:end]
	if len(line) == 0 {
		r.fail() // null, or a collection
		return nil
	}
	switch line[0] {
	case '\'':
		return r.singleQuoted(value, parent)
	case '"':
		return r.doubleQuoted(line, end)
	case '|':
		return r.literal(line[1:], end, parent)
	case '!':
		return r.binary(line, end, parent)
	}
	if !isPlain(line) {
		r.fail()
		return nil
	}
	r.next(end + 1)
	if isNull(line) {
		return nil
	}
	return slices.Clip(line)
}

func isNull(b []byte) bool {
	switch string(b) {
	case "null", "Null", "NULL":
		return true
	}
	return false
}

// indicators begin something else than a plain scalar.
const indicators = " \t-?:,[]{}#&*!|>'\"%@`"

// isPlain tells whether a whole line is a plain scalar.
func isPlain(line []byte) bool {
	first, last := line[0], line[len(line)-1]
	if strings.IndexByte(indicators, first) >= 0 && (first != '-' || len(line) == 1 || !keyByte(line[1])) {
		return false
	}
	if string(line) == "~" || string(line) == "<<" {
		return false
	}
	if last == ' ' || last == ':' || bytes.IndexByte(line, '\t') >= 0 {
		return false
	}
	for rest := line; ; {
		i := bytes.IndexByte(rest, ' ')
		if i < 0 {
			return true
		}
		if i > 0 && rest[i-1] == ':' || rest[i+1] == '#' {
			return false
		}
		rest = rest[i+1:]
	}
}

// singleQuoted reads a scalar that may go over several lines, which are folded.
func (r *fastReader) singleQuoted(value, parent int) []byte {
	start := value + 1
	p, escapes := start, false
	for {
		i := bytes.IndexByte(r.data[p:], '\'')
		if i < 0 {
			r.fail()
			return nil
		}
		p += i + 1
		if r.data[p] != '\'' {
			break
		}
		escapes = true
		p++
	}
	if r.data[p] != '\n' {
		r.fail()
		return nil
	}
	body := r.data[start : p-1 : p-1]
	if bytes.IndexByte(body, '\n') >= 0 {
		body = r.fold(body, parent)
	}
	if r.failed {
		return nil
	}
	r.next(p + 1)
	if escapes {
		return bytes.ReplaceAll(body, []byte("''"), []byte("'"))
	}
	return body
}

// fold joins the lines of a quoted scalar: a single line break is a space, each
// further one is itself; the space around them is layout.
func (r *fastReader) fold(body []byte, parent int) []byte {
	out := make([]byte, 0, len(body))
	breaks := 0
	for first := true; ; first = false {
		line, rest, more := bytes.Cut(body, []byte("\n"))
		content := line
		if !first {
			content = bytes.TrimLeft(line, " ")
		}
		if len(content) > 0 && !first && len(line)-len(content) <= parent || bytes.IndexByte(line, '\t') >= 0 {
			r.fail()
			return nil
		}
		if more {
			content = bytes.TrimRight(content, " ")
		}
		if len(content) > 0 || !more {
			out = appendFolded(out, breaks)
			breaks = 0
		}
		out = append(out, content...)
		if !more {
			return out
		}
		breaks++
		r.line++
		body = rest
	}
}

func appendFolded(out []byte, breaks int) []byte {
	if breaks == 1 {
		return append(out, ' ')
	}
	for range breaks - 1 {
		out = append(out, '\n')
	}
	return out
}

func (r *fastReader) doubleQuoted(line []byte, end int) []byte {
	body := line[1:]
	i := bytes.IndexAny(body, `"\`)
	if i < 0 {
		r.fail()
		return nil
	}
	if body[i] == '"' {
		if i != len(body)-1 {
			r.fail()
			return nil
		}
		r.next(end + 1)
		return body[:i:i]
	}
	out, ok := unescape(make([]byte, 0, len(body)), body)
	if !ok {
		r.fail()
		return nil
	}
	r.next(end + 1)
	return out
}

// unescape reads up to the closing quote, which must be the last byte.
func unescape(out, body []byte) ([]byte, bool) {
	for {
		i := indexQuoteOrEscape(body)
		if i < 0 {
			return nil, false
		}
		out = append(out, body[:i]...)
		if body[i] == '"' {
			return out, i == len(body)-1
		}
		if i+1 >= len(body) {
			return nil, false
		}
		c, size := escaped(body[i+1:])
		if size == 0 {
			return nil, false
		}
		out = utf8.AppendRune(out, c)
		body = body[i+1+size:]
	}
}

func indexQuoteOrEscape(body []byte) int {
	for i, c := range body {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return -1
}

// escaped gives the character of an escape and the length of its text behind
// the backslash, 0 for an unknown one.
func escaped(b []byte) (rune, int) {
	switch b[0] {
	case 'n':
		return '\n', 1
	case '"', '\\', '/', ' ':
		return rune(b[0]), 1
	case 't', '\t':
		return '\t', 1
	case 'r':
		return '\r', 1
	case '0':
		return 0, 1
	case 'a':
		return '\a', 1
	case 'b':
		return '\b', 1
	case 'v':
		return '\v', 1
	case 'f':
		return '\f', 1
	case 'e':
		return 0x1B, 1
	case 'N':
		return 0x85, 1
	case '_':
		return 0xA0, 1
	case 'L':
		return 0x2028, 1
	case 'P':
		return 0x2029, 1
	case 'x':
		return hexEscape(b, 2)
	case 'u':
		return hexEscape(b, 4)
	case 'U':
		return hexEscape(b, 8)
	}
	return 0, 0
}

func hexEscape(b []byte, digits int) (rune, int) {
	if len(b) < 1+digits {
		return 0, 0
	}
	var v uint32
	for _, c := range b[1 : 1+digits] {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | uint32(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v<<4 | uint32(c-'A'+10)
		default:
			return 0, 0
		}
	}
	if v > utf8.MaxRune || v >= 0xD800 && v <= 0xDFFF {
		return 0, 0
	}
	return rune(v), 1 + digits
}

// binary reads base64, on the line or in a literal block.
func (r *fastReader) binary(line []byte, end, parent int) []byte {
	encoded, ok := bytes.CutPrefix(line, []byte("!!binary "))
	switch {
	case !ok || len(encoded) == 0:
		r.fail()
	case encoded[0] == '|':
		encoded = r.literal(encoded[1:], end, parent)
	case !isPlain(encoded) || isNull(encoded):
		r.fail()
	default:
		r.next(end + 1)
	}
	if r.failed {
		return nil
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
	n, err := base64.StdEncoding.Decode(out, encoded)
	if err != nil {
		r.fail()
		return nil
	}
	return out[:n:n]
}

// literal reads a block scalar behind its | with the indicators given; end is
// the end of that line.
func (r *fastReader) literal(indicators []byte, end, parent int) []byte {
	chomp, indent, ok := blockIndicators(indicators)
	if !ok {
		r.fail()
		return nil
	}
	if indent > 0 {
		indent += parent
	}
	b := r.block(end+1, parent, indent)
	if r.failed {
		return nil
	}
	switch {
	case chomp == '+':
		b.size += b.trailing
	case chomp == '-' && b.size > 0:
		b.size--
	}
	r.line += b.lines
	r.next(b.after)
	return b.join(r.data, chomp == '+')
}

// blockIndicators reads what may stand behind the | of a block scalar.
func blockIndicators(b []byte) (chomp byte, indent int, ok bool) {
	for _, c := range b {
		switch {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
		case c >= '1' && c <= '9' && indent == 0:
			indent = int(c - '0')
		default:
			return 0, 0, false
		}
	}
	return chomp, indent, true
}

// block is the extent of a literal block scalar.
type block struct {
	start, end int // from its first line to behind the last one with content
	after      int // the line behind the block and its trailing empty lines
	indent     int // column of the content
	size       int // of the value with one final line feed; without trailing empty lines
	trailing   int // empty lines at the end
	lines      int // all lines
}

// block finds the end of the block scalar that begins at p. indent is 0 when
// the first line with content tells it.
func (r *fastReader) block(p, parent, indent int) block {
	b := block{start: p, end: p, indent: indent}
	for p < len(r.data) {
		q := p
		for q < len(r.data) && r.data[q] == ' ' && (b.indent == 0 || q-p < b.indent) {
			q++
		}
		column := q - p
		switch {
		case r.data[q] == '\n' && (b.indent > 0 || column == 0):
			b.trailing++
			b.lines++
			p = q + 1
			continue
		case r.data[q] == '\n' || r.data[q] == '\t' && (b.indent == 0 || column < b.indent):
			r.fail() // its column is a matter of fine print
			return b
		case b.indent == 0 && column > parent:
			b.indent = column
		}
		if b.indent == 0 || column < b.indent {
			break
		}
		end := r.lineEnd(q)
		b.size += b.trailing + end - q + 1
		b.trailing = 0
		b.lines++
		p = end + 1
		b.end = p
	}
	b.after = p
	return b
}

// join is the block's value. A single line is not copied.
func (b block) join(data []byte, keep bool) []byte {
	if b.size == 0 {
		return nil
	}
	if b.start+b.indent+b.size <= b.end && b.lines == b.trailing+1 && !keep {
		from := b.start + b.indent
		return data[from : from+b.size : from+b.size]
	}
	out := make([]byte, 0, b.size+1)
	for p := b.start; p < b.end; {
		end := p + bytes.IndexByte(data[p:], '\n') + 1
		out = append(out, data[min(p+b.indent, end-1):end]...)
		p = end
	}
	if keep {
		for range b.trailing {
			out = append(out, '\n')
		}
	}
	return out[:b.size:b.size]
}

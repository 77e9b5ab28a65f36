package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// span is a place where a secret stands.
type span struct {
	start, end int
	name       string
}

// most is how many times a text is unescaped: JSON in a text of JSON in a text.
const most = 4

// spans are all places of b where a secret stands, as it is or under escapes, in
// their order and apart from each other.
func (v *Values) spans(b []byte) []span {
	all := v.each(nil, b, nil)
	at := []int(nil)
	for text, n := b, 0; n < most && escaped(text); n++ {
		plain, from := unescape(text, true)
		if len(plain) == len(text) {
			break
		}
		for i := range from {
			if at != nil {
				from[i] = at[from[i]]
			}
		}
		all = v.each(all, plain, from)
		text, at = plain, from
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out []span
	for _, s := range all {
		if n := len(out); n > 0 && s.start < out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// each appends where secrets stand in text; at leads from its bytes to those of the
// text that it comes from, nil is itself.
func (v *Values) each(dst []span, text []byte, at []int) []span {
	for from := 0; ; {
		start, end, name := v.next(text, from)
		if name == "" {
			return dst
		}
		from = end
		if at != nil {
			start, end = at[start], at[end]
		}
		dst = append(dst, span{start, end, name})
	}
}

// underEscapes tells whether a secret stands in b under escapes: in prose or a fence
// that quotes JSON, which no reader of JSON undoes.
func (v *Values) underEscapes(b []byte) bool {
	if v == nil {
		return false
	}
	for n := 0; n < most && escaped(b); n++ {
		plain, _ := unescape(b, false)
		if len(plain) == len(b) {
			return false
		}
		if _, _, name := v.next(plain, 0); name != "" {
			return true
		}
		b = plain
	}
	return false
}

// escaped tells whether a text has escapes by number. The others are among the
// spellings.
func escaped(b []byte) bool {
	return bytes.Contains(b, []byte(`\u`)) || bytes.Contains(b, []byte(`\x`))
}

// unescape undoes the escapes of JSON and of its relatives, and leaves alone what is
// none. With places it tells from where each byte comes, and where the text ends.
func unescape(b []byte, places bool) (plain []byte, at []int) {
	plain = make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		r, n := escape(b[i:])
		had := len(plain)
		if n == 0 {
			plain, n = append(plain, b[i]), 1
		} else {
			plain = utf8.AppendRune(plain, r)
		}
		for range len(plain) - had {
			if places {
				at = append(at, i)
			}
		}
		i += n
	}
	if places {
		at = append(at, len(b))
	}
	return plain, at
}

// escape reads the escape at the beginning of b; n is 0 where there is none.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/', '\'':
		return rune(b[1]), 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'x':
		return number(b, 4)
	case 'u':
		r, n = number(b, 6)
		if n > 0 && utf16.IsSurrogate(r) {
			if low, m := escape(b[n:]); m == n {
				return utf16.DecodeRune(r, low), 2 * n
			}
		}
		return r, n
	}
	return 0, 0
}

// number reads an escape of n bytes that gives a character by its number.
func number(b []byte, n int) (rune, int) {
	if len(b) < n {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(b[2:n]), 16, 32)
	if err != nil {
		return 0, 0
	}
	return rune(v), n
}

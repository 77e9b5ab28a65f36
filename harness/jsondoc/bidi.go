package jsondoc

import "bytes"

// EscapeBidi spells by number the characters that turn the direction of what is
// shown around them, so that a JSON text reads as it is. They can only stand in
// strings. b itself comes back when it has none, else a copy.
func EscapeBidi(b []byte) []byte {
	var out []byte
	from := 0
	for i := nextBidi(b, 0); i < len(b); i = nextBidi(b, i+1) {
		size, escape := bidiAt(b[i:])
		if size == 0 {
			continue
		}
		out = append(append(out, b[from:i]...), escape...)
		from = i + size
	}
	if from == 0 {
		return b
	}
	return append(out, b[from:]...)
}

// nextBidi is the next byte that such a character may begin with; len(b) for none.
func nextBidi(b []byte, from int) int {
	rest := b[from:]
	i := bytes.IndexByte(rest, 0xE2)
	if i < 0 {
		i = len(rest)
	}
	if j := bytes.IndexByte(rest[:i], 0xD8); j >= 0 {
		i = j
	}
	return from + i
}

// bidiAt is the length of such a character at the beginning of b and how it is
// spelled; 0 for another.
func bidiAt(b []byte) (size int, escape string) {
	if len(b) >= 2 && b[0] == 0xD8 && b[1] == 0x9C {
		return 2, `\u061c`
	}
	if len(b) < 3 || b[0] != 0xE2 {
		return 0, ""
	}
	const hex = "0123456789abcdef"
	switch c := b[2]; {
	case b[1] == 0x80 && (c == 0x8E || c == 0x8F): // marks
		return 3, `\u200` + string(hex[c&0xF])
	case b[1] == 0x80 && c >= 0xAA && c <= 0xAE: // embeddings and overrides
		return 3, `\u202` + string(hex[c&0xF])
	case b[1] == 0x81 && c >= 0xA6 && c <= 0xA9: // isolates
		return 3, `\u206` + string(hex[c&0xF])
	}
	return 0, ""
}

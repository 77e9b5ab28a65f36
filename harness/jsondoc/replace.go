package jsondoc

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Replace appends raw to dst with other values in the place of those that a
// pattern names: with gives the value for one of a kind. Patterns are as for
// Remove; found counts what was replaced. Names that stand twice and text that is
// no UTF-8 are let be. Where raw stops to be JSON an error is returned, and dst
// has what came before, without the value that is torn.
func Replace(dst, raw []byte, patterns []Pointer, with func(jsontext.Kind) string) (out []byte, found int, err error) {
	active := make([][]string, 0, len(patterns))
	e := editor{
		dec:  jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		out:  dst,
		with: with,
	}
	for _, p := range patterns {
		if len(p.segments) == 0 {
			kind := e.dec.PeekKind()
			if err := e.dec.SkipValue(); err != nil {
				return e.out, 0, err
			}
			return append(e.out, with(kind)...), 1, e.end()
		}
		active = append(active, p.segments)
	}
	err = e.value(active)
	if err == nil {
		err = e.end()
	}
	return e.out, e.found, err
}

package jsondoc

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Find gives the values that the pointer names, in their order; members that *
// stands for come in the order of their names. What is no valid JSON has none.
func (p Pointer) Find(v jsontext.Value) []jsontext.Value {
	if !v.IsValid() {
		return nil
	}
	found := []jsontext.Value{v}
	for _, segment := range p.segments {
		var next []jsontext.Value
		for _, v := range found {
			next = append(next, children(v, segment)...)
		}
		found = next
	}
	return found
}

// Any tells whether the pointer has a segment that stands for any member.
func (p Pointer) Any() bool { return slices.Contains(p.segments, "*") }

func children(v jsontext.Value, segment string) []jsontext.Value {
	switch v.Kind() {
	case '{':
		var members map[string]jsontext.Value
		if json.Unmarshal(v, &members) != nil {
			return nil
		}
		if segment != "*" {
			return among(members[segment])
		}
		out := make([]jsontext.Value, 0, len(members))
		for _, name := range slices.Sorted(maps.Keys(members)) {
			out = append(out, members[name])
		}
		return out
	case '[':
		var elements []jsontext.Value
		if json.Unmarshal(v, &elements) != nil || segment == "*" {
			return elements
		}
		if i, err := strconv.Atoi(segment); err == nil && i >= 0 && i < len(elements) {
			return among(elements[i])
		}
	default: // has no members
	}
	return nil
}

func among(v jsontext.Value) []jsontext.Value {
	if v == nil {
		return nil
	}
	return []jsontext.Value{v}
}

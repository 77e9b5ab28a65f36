package yamlwalk

import (
	"strconv"
	"strings"
)

// Places knows where the parts of a file are.
type Places struct{ list []place }

// place is one part: a field, an entry of a map, or an element of a list.
type place struct {
	parent int32
	index  int32 // of an element, else -1
	name   string
	pos    Pos
}

// Places are the positions of all that was read so far.
func (f *File) Places() Places { return Places{f.places} }

// Find is the position of a part, written like expect.calls[1].tool; of a part
// that the file does not have it is the nearest one around it. Names with dots
// are found too.
func (p Places) Find(part string) Pos {
	if len(p.list) == 0 {
		return Pos{1, 1}
	}
	at := int32(0)
	for part != "" {
		next, rest := p.child(at, strings.TrimPrefix(part, "."))
		if next < 0 {
			break
		}
		at, part = next, rest
	}
	return p.list[at].pos
}

// Has tells whether the file itself says the part.
func (p Places) Has(part string) bool {
	at := int32(0)
	for part != "" && len(p.list) > 0 {
		next, rest := p.child(at, strings.TrimPrefix(part, "."))
		if next < 0 {
			return false
		}
		at, part = next, rest
	}
	return len(p.list) > 0
}

func (p Places) child(of int32, part string) (at int32, rest string) {
	at = -1
	longest := -1
	for i := range p.list {
		c := &p.list[i]
		if c.parent != of {
			continue
		}
		name := c.name
		if c.index >= 0 {
			name = "[" + strconv.Itoa(int(c.index)) + "]"
		}
		tail, ok := strings.CutPrefix(part, name)
		if ok && len(name) > longest && (tail == "" || tail[0] == '.' || tail[0] == '[') {
			at, rest, longest = int32(i), tail, len(name)
		}
	}
	return at, rest
}

func (f *File) enter(parent int32, name string, index int, at Pos) int32 {
	f.places = append(f.places, place{parent, int32(index), name, at})
	return int32(len(f.places) - 1)
}

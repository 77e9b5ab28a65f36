package jsondoc

import (
	"bytes"
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a parsed value. Equal sums mean equal canonical spellings.
type node struct {
	kind     jsontext.Kind
	raw      []byte // as written
	scalar   []byte // canonical spelling; nil for objects and arrays
	members  []member
	byName   map[string]*node // only for objects of many members
	elements []*node
	sum      [sha256.Size]byte
}

type member struct {
	name string
	node *node
}

// manyMembers is where a map begins to pay for finding a member.
const manyMembers = 16

func parse(raw []byte) (*node, error) {
	e := editor{dec: jsontext.NewDecoder(bytes.NewBuffer(raw))}
	n, err := parseValue(e.dec, raw)
	if err != nil {
		return nil, err
	}
	return n, e.end()
}

func parseValue(dec *jsontext.Decoder, doc []byte) (*node, error) {
	n := &node{kind: dec.PeekKind()}
	var err error
	switch n.kind {
	case '{':
		err = n.parseObject(dec, doc)
	case '[':
		err = n.parseArray(dec, doc)
	default:
		return n, n.parseScalar(dec)
	}
	return n, err
}

func (n *node) parseScalar(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	n.scalar, err = Canonical(nil, v)
	n.sum = sha256.Sum256(n.scalar)
	return err
}

func (n *node) parseObject(dec *jsontext.Decoder, doc []byte) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	start := dec.InputOffset() - 1
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String()}
		if m.node, err = parseValue(dec, doc); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	return n.closeContainer(dec, doc, start)
}

func (n *node) parseArray(dec *jsontext.Decoder, doc []byte) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	start := dec.InputOffset() - 1
	for dec.PeekKind() != ']' {
		e, err := parseValue(dec, doc)
		if err != nil {
			return err
		}
		n.elements = append(n.elements, e)
	}
	return n.closeContainer(dec, doc, start)
}

func (n *node) closeContainer(dec *jsontext.Decoder, doc []byte, start int64) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	n.raw = doc[start:dec.InputOffset()]
	n.index()
	n.seal()
	return nil
}

func (n *node) index() {
	if len(n.members) < manyMembers {
		return
	}
	n.byName = make(map[string]*node, len(n.members))
	for _, m := range n.members {
		n.byName[m.name] = m.node
	}
}

func (n *node) member(name string) *node {
	if n.byName != nil {
		return n.byName[name]
	}
	for _, m := range n.members {
		if m.name == name {
			return m.node
		}
	}
	return nil
}

// seal sums a container up from its children. The sums of an object's members
// are joined by exclusive or, so that their order does not count; names in one
// object are distinct.
func (n *node) seal() {
	h := sha256.New()
	h.Write([]byte{byte(n.kind)})
	for _, e := range n.elements {
		h.Write(e.sum[:])
	}
	var joined [sha256.Size]byte
	for _, m := range n.members {
		one := sha256.Sum256(append([]byte(m.name+"\x00"), m.node.sum[:]...))
		for i := range joined {
			joined[i] ^= one[i]
		}
	}
	h.Write(joined[:])
	h.Sum(n.sum[:0])
}

// text is the value for a reader.
func (n *node) text() string {
	if n.scalar != nil {
		return string(n.scalar)
	}
	canonical, err := Canonical(nil, n.raw)
	if err != nil {
		canonical = n.raw
	}
	return string(canonical)
}

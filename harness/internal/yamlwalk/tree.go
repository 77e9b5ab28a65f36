package yamlwalk

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"
)

// Tree is a value that is passed through as JSON.
type Tree struct {
	JSON jsontext.Value // each scalar as it was written
	At   Pos
	node *yaml.Node
}

// JSON is any value, to be passed through.
func JSON() Kind[Tree] {
	return Kind[Tree]{"a JSON value", scalar | list | mapping | null, readTree, func() Schema { return Schema{} }}
}

// JSONObject is a mapping, to be passed through.
func JSONObject() Kind[Tree] {
	return Kind[Tree]{"a mapping", mapping, readTree, func() Schema { return Schema{{"type", "object"}} }}
}

func readTree(v Value, to *Tree) {
	f := v.file
	start := len(f.buf)
	f.appendJSON(v)
	*to = Tree{jsontext.Value(f.buf[start:len(f.buf):len(f.buf)]), v.Pos(), v.node}
}

// Keys are the keys of a mapping, nil of anything else.
func (t Tree) Keys() []string {
	if t.node == nil || t.node.Kind != yaml.MappingNode {
		return nil
	}
	keys := make([]string, 0, len(t.node.Content)/2)
	for i := 0; i+1 < len(t.node.Content); i += 2 {
		keys = append(keys, t.node.Content[i].Value)
	}
	return keys
}

// Find is the position that a JSON pointer leads to; where the way ends, the
// nearest one on it.
func (t Tree) Find(pointer string) Pos {
	n, at := t.node, t.At
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		key, value := step(n, unescape(token))
		if value == nil {
			break
		}
		n, at = value, pos(key)
	}
	return at
}

// step goes down one token; key is the node that names the place.
func step(n *yaml.Node, token string) (key, value *yaml.Node) {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil {
		return nil, nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == token {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if digits(token) == len(token) && len(token) > 0 && len(token) < 9 {
			i := 0
			for _, c := range []byte(token) {
				i = 10*i + int(c-'0')
			}
			if i < len(n.Content) {
				return n.Content[i], n.Content[i]
			}
		}
	default: // below anything else is nothing
	}
	return nil, nil
}

// appendJSON appends v, which is open already.
func (f *File) appendJSON(v Value) {
	switch v.shape() {
	case mapping:
		f.buf = append(f.buf, '{')
		first := len(f.buf)
		v.members(func(key, value *yaml.Node) {
			if len(f.buf) > first {
				f.buf = append(f.buf, ',')
			}
			f.appendText(key.Value)
			f.buf = append(f.buf, ':')
			f.appendValue(Value{f, value, v.place})
		})
		f.buf = append(f.buf, '}')
	case list:
		f.buf = append(f.buf, '[')
		for i, n := range v.node.Content {
			if i > 0 {
				f.buf = append(f.buf, ',')
			}
			f.appendValue(Value{f, n, v.place})
		}
		f.buf = append(f.buf, ']')
	default:
		f.appendScalar(v)
	}
}

func (f *File) appendValue(v Value) {
	was := v
	if !v.open() {
		f.buf = append(f.buf, "null"...)
		return
	}
	f.appendJSON(v)
	v.close(was)
}

func (f *File) appendScalar(v Value) {
	switch v.word() {
	case wordNull:
		f.buf = append(f.buf, "null"...)
	case wordBool, wordNumber:
		f.buf = append(f.buf, v.node.Value...)
	case wordText:
		f.appendText(v.node.Value)
	case wordUnclear:
		v.unclear()
		f.buf = append(f.buf, "null"...)
	}
}

func (f *File) appendText(s string) {
	f.buf = slices.Grow(f.buf, len(s)+2)
	f.buf, _ = jsontext.AppendQuote(f.buf, s) // the text was checked to be UTF-8; escapes cannot make it other
}

// Has tells whether the tree has what a JSON pointer leads to.
func (t Tree) Has(pointer string) bool {
	n := t.node
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if _, n = step(n, unescape(token)); n == nil {
			return false
		}
	}
	return true
}

// Member is the JSON of one member of a mapping.
func (t Tree) Member(name string) (jsontext.Value, bool) {
	_, value := step(t.node, name)
	if value == nil {
		return nil, false
	}
	f := File{} // what is wrong with it was told when the whole was read
	f.appendValue(Value{&f, value, 0})
	return f.buf, true
}

func unescape(token string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(token) }

// ToJSON is a whole YAML text as JSON, in the way of [JSON].
func ToJSON(name string, text []byte) (jsontext.Value, error) {
	f := Parse(name, text)
	var t Tree
	Root(f, JSON(), &t)
	return t.JSON, f.Err()
}

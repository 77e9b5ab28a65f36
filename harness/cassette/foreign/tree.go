package foreign

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// kind is what a node is.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// node is a value of YAML or JSON: the recorders' formats exist in both. A nil
// *node has nothing in it.
type node struct {
	kind         kind
	text         string // of a scalar; of !!binary its bytes
	members      []member
	items        []*node
	line, column int
}

type member struct {
	name  string
	value *node
}

// maxDepth bounds how deep values may be nested.
const maxDepth = 500

// get is an object's member; nil for none, and for null.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].name == name && n.members[i].value.kind != null {
			return n.members[i].value
		}
	}
	return nil
}

// head is a list's first element; nil for none.
func (n *node) head() *node {
	if n == nil || len(n.items) == 0 {
		return nil
	}
	return n.items[0]
}

// is tells the kind; a nil node has none.
func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// word is a scalar's text, "" for all else.
func (n *node) word() string {
	if n == nil || n.kind == list || n.kind == object {
		return ""
	}
	return n.text
}

// first is the first member that is there, of several names.
func (n *node) first(names ...string) *node {
	for _, name := range names {
		if v := n.get(name); v != nil {
			return v
		}
	}
	return nil
}

// json appends the value as JSON, numbers as they were written.
func (n *node) json(dst []byte) []byte {
	switch n.kind {
	case object:
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.Quote(dst, m.name), ':')
			dst = m.value.json(dst)
		}
		return append(dst, '}')
	case list:
		dst = append(dst, '[')
		for i, e := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.json(dst)
		}
		return append(dst, ']')
	case null:
		return append(dst, "null"...)
	case boolean:
		return strconv.AppendBool(dst, strings.EqualFold(n.text, "true"))
	case number:
		return n.jsonNumber(dst)
	default:
		return rawjson.Quote(dst, n.text)
	}
}

func (n *node) jsonNumber(dst []byte) []byte {
	if rawjson.Valid([]byte(n.text)) {
		return append(dst, n.text...)
	}
	if v, err := strconv.ParseInt(n.text, 0, 64); err == nil { // 0x1f, 0o17, 1_000
		return strconv.AppendInt(dst, v, 10)
	}
	if v, err := strconv.ParseFloat(n.text, 64); err == nil && v-v == 0 {
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return rawjson.Quote(dst, n.text) // .inf
}

// errDepth and errAliases end the building of a tree.
var (
	errDepth   = errors.New("values are nested deeper than any recording's")
	errAliases = errors.New("the file repeats itself through aliases more often than any recording does")
)

// jsonTree reads one JSON value; rest tells that another follows.
func jsonTree(data []byte, name string) (root *node, rest bool, err error) {
	b := &jsonBuilder{data: data, line: 1, d: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	root, err = b.value(0)
	if err != nil {
		at := int(b.d.InputOffset())
		if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			at, err = int(s.ByteOffset), s.Err
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			at, err = len(data), errors.New("the text ends too early; the file may be cut off")
		}
		line, column := position(data, min(at, len(data)))
		return nil, false, invalid(name, line, column, "not readable as JSON: %v", err)
	}
	return root, len(bytes.TrimSpace(data[b.d.InputOffset():])) > 0, nil
}

// jsonBuilder builds a tree and counts lines as it goes.
type jsonBuilder struct {
	data        []byte
	d           *jsontext.Decoder
	seen        int // bytes whose lines were counted
	line, start int // of the line that is being read
}

func (b *jsonBuilder) place(n *node) {
	at := int(b.d.InputOffset())
	part := b.data[b.seen:at]
	if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
		b.line += bytes.Count(part, []byte("\n"))
		b.start = b.seen + i + 1
	}
	b.seen = at
	n.line, n.column = b.line, max(at-b.start, 1)
}

func (b *jsonBuilder) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	t, err := b.d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{}
	b.place(n)
	switch t.Kind() {
	case '{':
		n.kind = object
		return n, b.object(n, depth)
	case '[':
		n.kind = list
		return n, b.list(n, depth)
	case '"':
		n.kind, n.text = text, t.String()
	case '0':
		n.kind, n.text = number, t.String()
	case 't', 'f':
		n.kind, n.text = boolean, t.String()
	default: // null
	}
	return n, nil
}

func (b *jsonBuilder) object(n *node, depth int) error {
	for b.d.PeekKind() != '}' {
		t, err := b.d.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		v, err := b.value(depth + 1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, v})
	}
	_, err := b.d.ReadToken()
	return err
}

func (b *jsonBuilder) list(n *node, depth int) error {
	for b.d.PeekKind() != ']' {
		v, err := b.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, v)
	}
	_, err := b.d.ReadToken()
	return err
}

// yamlTree reads the first document of a YAML text; more tells that others follow.
func yamlTree(data []byte, name string) (root *node, more bool, err error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, false, invalid(name, 1, 1, "not readable as YAML: %v", err)
	}
	var doc yaml.Node
	if err := loader.Load(&doc); err != nil {
		return nil, false, syntaxError(err, name)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, false, invalid(name, 1, 1, "the file is empty")
	}
	b := &yamlBuilder{name: name, budget: 1000 + 4*len(data)}
	if root, err = b.value(doc.Content[0], 0); err != nil {
		return nil, false, err
	}
	var next yaml.Node
	return root, !errors.Is(loader.Load(&next), io.EOF), nil
}

// syntaxError words a YAML error without the parser's own prefixes.
func syntaxError(err error, name string) error {
	var one *yaml.LoadError
	var many *yaml.LoadErrors
	switch {
	case errors.As(err, &one):
	case errors.As(err, &many) && len(many.Errors) > 0:
		one = many.Errors[0]
	default:
		return invalid(name, 1, 1, "not readable as YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	mark := one.Mark
	if mark.Line == 0 {
		mark = one.ContextMark
	}
	return invalid(name, mark.Line, mark.Column, "not readable as YAML: %s; the file may be cut off, or be no recording: %s", one.Message, readable)
}

// yamlBuilder builds a tree. An alias is followed, so the budget bounds how often
// the nodes of a small file may be visited.
type yamlBuilder struct {
	name   string
	budget int
}

func (b *yamlBuilder) value(y *yaml.Node, depth int) (*node, error) {
	for hops := 0; y.Kind == yaml.AliasNode && y.Alias != nil && hops < maxDepth; hops++ {
		y = y.Alias
	}
	b.budget--
	switch {
	case b.budget < 0:
		return nil, invalid(b.name, y.Line, y.Column, "%v", errAliases)
	case depth > maxDepth:
		return nil, invalid(b.name, y.Line, y.Column, "%v", errDepth)
	}
	n := &node{line: y.Line, column: y.Column}
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = object
		for i := 0; i+1 < len(y.Content); i += 2 {
			k, err := b.value(y.Content[i], depth+1)
			if err != nil {
				return nil, err
			}
			v, err := b.value(y.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{k.word(), v})
		}
	case yaml.SequenceNode:
		n.kind = list
		for _, e := range y.Content {
			v, err := b.value(e, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
	default:
		return n, b.scalar(y, n)
	}
	return n, nil
}

// scalar reads a scalar by its tag. Those of Python and Ruby say which class a text
// had, and change nothing about it.
func (b *yamlBuilder) scalar(y *yaml.Node, n *node) error {
	n.kind, n.text = text, y.Value
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind, n.text = null, ""
	case "!!bool":
		n.kind = boolean
	case "!!int", "!!float":
		n.kind = number
	case "!!binary", "!binary":
		raw, err := decode64(y.Value)
		if err != nil {
			return invalid(b.name, y.Line, y.Column, "a text is marked %s but is no base64", tag)
		}
		n.text = string(raw)
	}
	return nil
}

// decode64 reads base64, whatever lines it is broken into.
func decode64(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, s)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
}

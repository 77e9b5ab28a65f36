package cassette

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// readYAML reads any YAML spelling of a cassette, and says what is wrong with
// one that is none.
func readYAML(data []byte, name string) (*File, error) {
	if err := checkText(data, name); err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, syntaxError(err, name)
	}
	w := &walker{name: name, budget: 1000 + 4*len(data)}
	f := &File{}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 || isNullNode(doc.Content[0]) {
		return nil, invalid(name, 1, 1, "the file is empty, no cassette")
	}
	w.file(doc.Content[0], f)
	return f, w.err
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
	return invalid(name, mark.Line, mark.Column, "not readable as YAML: %s; the file may be cut off", one.Message)
}

// walker reads a tree of nodes and keeps the first error. An alias is followed,
// so the budget bounds how often the nodes of a small file may be visited.
type walker struct {
	name   string
	budget int
	err    error
	warn   []Warning
}

func (w *walker) fail(n *yaml.Node, format string, args ...any) {
	if w.err == nil {
		w.err = invalid(w.name, n.Line, n.Column, format, args...)
	}
}

// visit follows an alias and pays for the node; nil ends the walk.
func (w *walker) visit(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	w.budget--
	if w.budget < 0 {
		w.fail(n, "the file repeats itself through aliases more often than any cassette does")
	}
	if w.err != nil {
		return nil
	}
	return n
}

// member calls use for every member of a mapping. Merged mappings (<<) come
// last and only fill in.
func (w *walker) members(n *yaml.Node, what string, use func(key string, k, v *yaml.Node)) {
	w.merge(n, what, map[string]bool{}, 0, use)
}

const maxMerges = 32

func (w *walker) merge(n *yaml.Node, what string, seen map[string]bool, depth int, use func(key string, k, v *yaml.Node)) {
	if n = w.visit(n); n == nil {
		return
	}
	if n.Kind != yaml.MappingNode || depth > maxMerges {
		w.fail(n, "%s must be a mapping of names to values, not %s", what, describe(n))
		return
	}
	var merged []*yaml.Node
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.ShortTag() == "!!merge" {
			merged = append(merged, v)
			continue
		}
		key := w.string(k, "a name in "+what)
		if own[key] {
			w.fail(k, "%s has %q twice", what, key)
		}
		own[key] = true
		if w.err != nil || seen[key] {
			continue
		}
		seen[key] = true
		use(key, k, v)
	}
	for _, m := range merged {
		w.mergeFrom(m, what, seen, depth, use)
	}
}

func (w *walker) mergeFrom(m *yaml.Node, what string, seen map[string]bool, depth int, use func(key string, k, v *yaml.Node)) {
	if m = w.visit(m); m == nil {
		return
	}
	if m.Kind != yaml.SequenceNode {
		w.merge(m, what, seen, depth+1, use)
		return
	}
	for _, one := range m.Content {
		w.merge(one, what, seen, depth+1, use)
	}
}

// elements calls use for every element of a list; null is an empty one.
func (w *walker) elements(n *yaml.Node, what string, use func(n *yaml.Node)) {
	if n = w.visit(n); n == nil || isNullNode(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		w.fail(n, "%s must be a list, not %s", what, describe(n))
		return
	}
	for _, e := range n.Content {
		if w.err == nil {
			use(e)
		}
	}
}

func (w *walker) string(n *yaml.Node, what string) string {
	if n = w.visit(n); n == nil || isNullNode(n) {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		w.fail(n, "%s must be a text, not %s", what, describe(n))
		return ""
	}
	if n.ShortTag() != "!!binary" {
		return n.Value
	}
	raw, err := base64.StdEncoding.DecodeString(n.Value)
	if err != nil {
		w.fail(n, "%s is marked !!binary but is no base64", what)
	}
	return string(raw)
}

func (w *walker) bytes(n *yaml.Node, what string) []byte {
	s := w.string(n, what)
	if s == "" {
		return nil
	}
	return []byte(s)
}

func (w *walker) integer(n *yaml.Node, what string) int64 {
	if n = w.visit(n); n == nil || isNullNode(n) {
		return 0
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || n.ShortTag() != "!!int" {
		w.fail(n, "%s must be a whole number, not %s", what, describe(n))
	}
	return v
}

func (w *walker) int(n *yaml.Node, what string) int {
	v := w.integer(n, what)
	if v > math.MaxInt32 || v < math.MinInt32 {
		w.fail(n, "%s is out of range: %d", what, v)
	}
	return int(v)
}

func (w *walker) bool(n *yaml.Node, what string) bool {
	if n = w.visit(n); n == nil || isNullNode(n) {
		return false
	}
	if n.ShortTag() != "!!bool" {
		w.fail(n, "%s must be true or false, not %s", what, describe(n))
	}
	return strings.EqualFold(n.Value, "true")
}

// duration reads Go's spelling, or a whole number of nanoseconds.
func (w *walker) duration(n *yaml.Node, what string) time.Duration {
	if n = w.visit(n); n == nil || isNullNode(n) || n.Kind == yaml.ScalarNode && n.Value == "" {
		return 0
	}
	if n.Kind == yaml.ScalarNode {
		if v, err := strconv.ParseInt(n.Value, 10, 64); err == nil && n.ShortTag() == "!!int" {
			return time.Duration(v)
		}
		if d, err := time.ParseDuration(n.Value); err == nil {
			return d
		}
	}
	w.fail(n, "%s must be a duration such as 1.5s, not %s", what, describe(n))
	return 0
}

func (w *walker) header(n *yaml.Node, what string) Header {
	var out Header
	if n = w.visit(n); n == nil || isNullNode(n) {
		return nil
	}
	w.members(n, what, func(key string, _, v *yaml.Node) {
		w.elements(v, what+" "+strconv.Quote(key), func(e *yaml.Node) {
			out = append(out, Field{key, w.string(e, what+" "+strconv.Quote(key))})
		})
	})
	return out
}

func (w *walker) texts(n *yaml.Node, what string) []string {
	var out []string
	w.elements(n, what, func(e *yaml.Node) { out = append(out, w.string(e, what)) })
	return out
}

func isNullNode(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// describe names what a node is in the words of a reader of the file.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if isNullNode(n) {
			return "nothing"
		}
		if len(n.Value) > 40 {
			return strconv.Quote(n.Value[:40]) + "…"
		}
		return strconv.Quote(n.Value)
	default:
		return "something else"
	}
}

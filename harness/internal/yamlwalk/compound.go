package yamlwalk

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Located is a value with its position.
type Located[V any] struct {
	V  V
	At Pos
}

// At keeps the position of a value.
func At[V any](k Kind[V]) Kind[Located[V]] {
	return Kind[Located[V]]{k.what, k.shapes, func(v Value, to *Located[V]) {
		to.At = v.Pos()
		k.read(v, &to.V)
	}, k.schema}
}

// Optional reads into a new value, so that nil means that the field was not
// given.
func Optional[V any](k Kind[V]) Kind[*V] {
	return Kind[*V]{k.what, k.shapes, func(v Value, to **V) {
		*to = new(V)
		k.read(v, *to)
	}, k.schema}
}

// List is a list of values of one kind; an empty one reads as a non-nil slice.
func List[V any](k Kind[V]) Kind[[]V] {
	return Kind[[]V]{"a list, each " + k.what, list, func(v Value, to *[]V) {
		*to = make([]V, len(v.node.Content))
		for i, n := range v.node.Content {
			at := v.file.enter(v.place, "", i, pos(n))
			k.Read(Value{v.file, n, at}, &(*to)[i])
		}
	}, func() Schema { return Schema{{"type", "array"}, {"items", k.schema()}} }}
}

// OneOrMore is a value, or a list of at least one.
func OneOrMore[V any](k Kind[V]) Kind[[]V] {
	many := List(k)
	more := Then(many, func(v Value, got []V) {
		if len(got) == 0 {
			v.Failf("must not be an empty list; drop the field instead")
		}
	})
	more.schema = func() Schema { return append(many.schema(), Member{"minItems", 1}) }
	one := Kind[[]V]{k.what, k.shapes, func(v Value, to *[]V) {
		*to = make([]V, 1)
		k.read(v, &(*to)[0])
	}, k.schema}
	return Either(k.what+" or a list of such", one, more)
}

// Either is one of several kinds of different shapes (scalar, list, mapping).
func Either[V any](what string, kinds ...Kind[V]) Kind[V] {
	var shapes shape
	for _, k := range kinds {
		shapes |= k.shapes
	}
	return Kind[V]{what, shapes, func(v Value, to *V) {
		for _, k := range kinds {
			if k.shapes&v.shape() != 0 {
				k.read(v, to)
				return
			}
		}
	}, func() Schema {
		forms := make([]Schema, len(kinds))
		for i, k := range kinds {
			forms[i] = k.schema()
		}
		return Schema{{"anyOf", forms}}
	}}
}

// Entry is one entry of a mapping with free keys.
type Entry[V any] struct {
	Key   string
	At    Pos // of the key
	Value V
}

// Entries is a mapping with free keys of a form, in written order. form nil
// allows any key.
func Entries[V any](what string, form *regexp.Regexp, k Kind[V]) Kind[[]Entry[V]] {
	return Kind[[]Entry[V]]{"a mapping of " + what, mapping, func(v Value, to *[]Entry[V]) {
		*to = make([]Entry[V], 0, len(v.node.Content)/2)
		v.members(func(key, value *yaml.Node) {
			if form != nil && !form.MatchString(key.Value) {
				v.file.Failf(pos(key), "%q cannot be used as a name here; it must match %s", key.Value, form)
				return
			}
			*to = append(*to, Entry[V]{Key: key.Value, At: pos(key)})
			at := v.file.enter(v.place, key.Value, -1, pos(key))
			k.Read(Value{v.file, value, at}, &(*to)[len(*to)-1].Value)
		})
	}, func() Schema {
		s := Schema{{"type", "object"}}
		if form != nil {
			s = append(s, Member{"propertyNames", Schema{{"pattern", form.String()}}})
		}
		return append(s, Member{"additionalProperties", k.schema()})
	}}
}

// members gives each entry of a mapping; keys that are no plain words, or there
// twice, are noted and left out.
func (v Value) members(each func(key, value *yaml.Node)) {
	content := v.node.Content
	var seen map[string]bool
	if len(content) > 16 { // small mappings are searched instead
		seen = make(map[string]bool, len(content)/2)
	}
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i]
		switch {
		case key.Kind == yaml.AliasNode:
			v.file.Failf(pos(key), "a field's name cannot be an alias; write it out")
		case key.Kind != yaml.ScalarNode:
			v.file.Failf(pos(key), "a field's name must be a word")
		case key.Tag == "!!merge":
			v.file.Failf(pos(key), "merging with << is not supported; write the fields out, or use an alias for the whole value")
		case seen[key.Value] || seen == nil && twice(content[:i], key.Value):
			v.file.Failf(pos(key), "%q is given twice; drop one", key.Value)
		default:
			if seen != nil {
				seen[key.Value] = true
			}
			each(key, content[i+1])
		}
	}
}

func twice(before []*yaml.Node, key string) bool {
	for i := 0; i+1 < len(before); i += 2 {
		if before[i].Kind == yaml.ScalarNode && before[i].Value == key {
			return true
		}
	}
	return false
}

// quoted lists names for a message.
func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

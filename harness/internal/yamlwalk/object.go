package yamlwalk

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

// Object is a mapping with known fields.
type Object[T any] struct {
	Is     string // for messages: a tool
	Fields []Field[T]

	// ExactlyOne are sets of fields of which one must be given, AtMostOne sets
	// of which no two may be.
	ExactlyOne, AtMostOne [][]string
	// AtLeastOne are sets of fields of which one must be given. Needs are pairs: the
	// first field goes with the second alone.
	AtLeastOne [][]string
	Needs      [][2]string

	// Empty is what to say of one without any field; "" allows it.
	Empty string

	// Check is called after the fields, when they could all be read.
	Check func(v Value, got *T)
}

// Field is one field of an Object.
type Field[T any] struct {
	Name     string
	Doc      string // sentences; of a required field the first says what to do
	Required bool
	read     func(v Value, to *T)
	schema   func() Schema
}

// F makes a field of a kind; in says where it goes.
func F[T, V any](name, doc string, k Kind[V], in func(*T) *V) Field[T] {
	return Field[T]{Name: name, Doc: doc, read: func(v Value, to *T) { k.Read(v, in(to)) }, schema: k.schema}
}

// Must is a field that has to be there.
func Must[T, V any](name, doc string, k Kind[V], in func(*T) *V) Field[T] {
	f := F(name, doc, k, in)
	f.Required = true
	return f
}

// Kind is the object as a kind of value.
func (o Object[T]) Kind() Kind[T] {
	names := make([]string, len(o.Fields))
	for i, f := range o.Fields {
		names[i] = f.Name
	}
	return Kind[T]{o.Is, mapping, func(v Value, to *T) { o.read(v, to, names) }, o.schema}
}

func (o *Object[T]) read(v Value, to *T, names []string) {
	before := len(v.file.problems)
	given := uint64(0)
	v.members(func(key, value *yaml.Node) {
		i := slices.Index(names, key.Value)
		if i < 0 {
			v.file.Failf(pos(key), "unknown field %q%s", key.Value, known(key.Value, names))
			return
		}
		given |= 1 << i
		at := v.file.enter(v.place, names[i], -1, pos(key))
		o.Fields[i].read(Value{v.file, value, at}, to)
	})
	if given == 0 && o.Empty != "" && len(v.file.problems) == before {
		v.Failf("%s", o.Empty)
	}
	o.presence(v, given, names)
	if o.Check != nil && len(v.file.problems) == before {
		o.Check(v, to)
	}
}

func known(name string, names []string) string {
	if hint := suggest.Hint(name, names); hint != "" {
		return hint
	}
	return "; known here are " + strings.Join(names, ", ")
}

func (o *Object[T]) presence(v Value, given uint64, names []string) {
	has := func(name string) bool { return given&(1<<slices.Index(names, name)) != 0 }
	for i, f := range o.Fields {
		if f.Required && given&(1<<i) == 0 {
			first, _, _ := strings.Cut(f.Doc, ".")
			v.Failf("%q is missing: %s", f.Name, strings.ToLower(first[:1])+first[1:])
		}
	}
	for _, set := range o.ExactlyOne {
		switch n := count(set, has); {
		case n == 0:
			v.Failf("one of %s is missing", quoted(set))
		case n > 1:
			v.Failf("%s exclude each other; keep one", quoted(set))
		}
	}
	for _, set := range o.AtMostOne {
		if count(set, has) > 1 {
			v.Failf("%s exclude each other; keep one", quoted(set))
		}
	}
	for _, set := range o.AtLeastOne {
		if count(set, has) == 0 {
			v.Failf("one of %s is missing", quoted(set))
		}
	}
	for _, pair := range o.Needs {
		if has(pair[0]) && !has(pair[1]) {
			v.Failf("%q goes with %q alone; give that too, or drop it", pair[0], pair[1])
		}
	}
}

func count(set []string, has func(string) bool) int {
	n := 0
	for _, name := range set {
		if has(name) {
			n++
		}
	}
	return n
}

func (o *Object[T]) schema() Schema {
	var properties Schema
	var required []string
	for _, f := range o.Fields {
		properties = append(properties, Member{f.Name, append(Schema{{"description", f.Doc}}, f.schema()...)})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s := Schema{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if o.Empty != "" {
		s = append(s, Member{"minProperties", 1})
	}
	if required != nil {
		s = append(s, Member{"required", required})
	}
	var all []Schema
	for _, set := range o.ExactlyOne {
		all = append(all, Schema{{"oneOf", requireEach(set)}})
	}
	for _, set := range o.AtMostOne {
		for i := range set {
			for j := i + 1; j < len(set); j++ {
				all = append(all, Schema{{"not", Schema{{"required", []string{set[i], set[j]}}}}})
			}
		}
	}
	for _, set := range o.AtLeastOne {
		all = append(all, Schema{{"anyOf", requireEach(set)}})
	}
	for _, pair := range o.Needs {
		all = append(all, Schema{{"dependentRequired", Schema{{pair[0], []string{pair[1]}}}}})
	}
	if all != nil {
		s = append(s, Member{"allOf", all})
	}
	return s
}

func requireEach(set []string) []Schema {
	out := make([]Schema, len(set))
	for i, name := range set {
		out[i] = Schema{{"required", []string{name}}}
	}
	return out
}

package schema

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// FieldError is one thing that is wrong with a value, and where.
type FieldError struct {
	Pointer string // JSON pointer to the member or element; "" is the whole value
	Message string // goes on after the pointer: is required
}

func (e FieldError) String() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// Check holds a JSON text against the schema. The result is nil when it fits,
// and otherwise ordered by the pointers; two checks of the same text give the
// same result.
func (s *Schema) Check(text []byte) []FieldError {
	if s == nil || s.quick.fits(text) {
		return nil
	}
	return s.check(text)
}

func (s *Schema) check(text []byte) []FieldError {
	value, err := decode(text)
	if err != nil {
		return []FieldError{{Message: err.Error()}}
	}
	if err := s.compiled.Validate(value); err != nil {
		return fieldErrors(value, s.doc, err.(*jsonschema.ValidationError)) //nolint:errorlint,forcetypeassert // Validate returns no other
	}
	return nil
}

// fieldErrors turns a validator's tree of errors into a list. doc is the schema
// that the tree's addresses point into, nil when it is not at hand.
func fieldErrors(value, doc any, err *jsonschema.ValidationError) []FieldError {
	c := checker{value: value, doc: doc}
	c.add(err)
	slices.SortStableFunc(c.found, func(a, b FieldError) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(c.found)
}

type checker struct {
	value, doc any
	found      []FieldError
}

func (c *checker) add(err *jsonschema.ValidationError) {
	switch k := err.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range err.Causes {
			c.add(cause)
		}
	case *kind.AnyOf:
		c.alternatives(err)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			c.put(err, "fits more than one of the forms of which it must fit exactly one")
			return
		}
		c.alternatives(err)
	case *kind.Required:
		c.members(err, k.Missing, func(string) string { return "is required" })
	case *kind.DependentRequired:
		c.members(err, k.Missing, func(string) string { return "is required, since " + quote(k.Prop) + " is given" })
	case *kind.Dependency:
		c.members(err, k.Missing, func(string) string { return "is required, since " + quote(k.Prop) + " is given" })
	case *kind.AdditionalProperties:
		c.members(err, k.Properties, func(name string) string { return c.notAllowed(err, name) })
	case *kind.PropertyNames:
		c.members(err, []string{k.Property}, func(string) string { return "is no name that is allowed here" })
	default:
		c.put(err, c.words(err))
	}
}

func (c *checker) put(err *jsonschema.ValidationError, message string) {
	c.found = append(c.found, FieldError{pointer(err.InstanceLocation), message})
}

func (c *checker) members(err *jsonschema.ValidationError, names []string, message func(string) string) {
	at := pointer(err.InstanceLocation)
	for _, name := range names {
		c.found = append(c.found, FieldError{at + "/" + escape(name), message(name)})
	}
}

// alternatives tells what is wrong when none of several forms fits. Told is
// what the nearest form misses: the one that got deepest into the value, or
// failed there by anything but its type.
func (c *checker) alternatives(err *jsonschema.ValidationError) {
	if types, ok := onlyTypes(err); ok {
		c.put(err, c.wrongType(err, types))
		return
	}
	best, bestRank, tied := -1, 0, false
	for i, cause := range err.Causes {
		rank := c.rank(cause, len(err.InstanceLocation))
		switch {
		case best < 0 || rank > bestRank:
			best, bestRank, tied = i, rank, false
		case rank == bestRank:
			tied = true
		}
	}
	if best < 0 || tied {
		c.put(err, "fits none of the "+strconv.Itoa(len(err.Causes))+" forms that are allowed here")
		return
	}
	c.add(err.Causes[best])
}

// rank says how near to fitting a form was, the nearer the higher.
func (c *checker) rank(err *jsonschema.ValidationError, depth int) int {
	if _, ok := onlyTypes(err); ok {
		return math.MinInt
	}
	probe := checker{value: c.value, doc: c.doc}
	probe.add(err)
	rank := 0
	for _, f := range probe.found {
		rank = max(rank, strings.Count(f.Pointer, "/")-depth)
	}
	return 1000*rank - len(probe.found)
}

// onlyTypes collects the wanted types when the error is about nothing but the
// value's own type.
func onlyTypes(err *jsonschema.ValidationError) ([]string, bool) {
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return k.Want, true
	case *kind.AnyOf, *kind.OneOf, *kind.Group, *kind.Reference, *kind.AllOf:
		var all []string
		for _, cause := range err.Causes {
			types, ok := onlyTypes(cause)
			if !ok || len(cause.InstanceLocation) != len(err.InstanceLocation) {
				return nil, false
			}
			for _, t := range types {
				if !slices.Contains(all, t) {
					all = append(all, t)
				}
			}
		}
		return all, len(all) > 0
	}
	return nil, false
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escape(t))
	}
	return b.String()
}

func escape(token string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(token) }

// comparePointers orders by tokens, numbers by value.
func comparePointers(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	return slices.CompareFunc(as, bs, func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(x, y)
	})
}

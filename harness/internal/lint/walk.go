package lint

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object, read for looking at.
type object map[string]any

// objectOf reads a JSON text; nil where it is no object.
func objectOf(text jsontext.Value) object {
	var o map[string]any
	if len(text) == 0 || json.Unmarshal(text, &o) != nil {
		return nil
	}
	return o
}

// object is a member that is one; nil for any other.
func (o object) object(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

func (o object) text(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o object) names() []string { return slices.Sorted(maps.Keys(o)) }

// texts are the members of a list that are texts.
func (o object) texts(name string) []string {
	items, _ := o[name].([]any)
	var out []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// isType tells whether a schema allows the type, and says so.
func (o object) isType(name string) bool {
	return o.text("type") == name || slices.Contains(o.texts("type"), name)
}

// deepest bounds how far a schema is followed.
const deepest = 24

// walk gives each schema below one, itself first, with its JSON pointer.
func walk(schema object, pointer string, each func(pointer string, schema object)) {
	walkTo(schema, pointer, deepest, each)
}

func walkTo(schema object, pointer string, left int, each func(string, object)) {
	if schema == nil || left == 0 {
		return
	}
	each(pointer, schema)
	for _, word := range []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"} {
		below := schema.object(word)
		for _, name := range below.names() {
			walkTo(below.object(name), pointer+"/"+word+"/"+escape(name), left-1, each)
		}
	}
	for _, word := range []string{"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedProperties"} {
		walkTo(schema.object(word), pointer+"/"+word, left-1, each)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		forms, _ := schema[word].([]any)
		for i, form := range forms {
			m, _ := form.(map[string]any)
			walkTo(m, pointer+"/"+word+"/"+strconv.Itoa(i), left-1, each)
		}
	}
}

func escape(token string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(token) }

// properties gives each property that a schema declares, at any depth.
func properties(schema object, each func(pointer, name string, property object)) {
	walk(schema, "", func(pointer string, s object) {
		below := s.object("properties")
		for _, name := range below.names() {
			p := below.object(name)
			if p == nil {
				p = object{}
			}
			each(pointer+"/properties/"+escape(name), name, p)
		}
	})
}

func join(words []string) string { return strings.Join(words, ", ") }

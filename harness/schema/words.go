package schema

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

// words says what is wrong at err's own place.
func (c *checker) words(err *jsonschema.ValidationError) string {
	is := ", is " + show(lookup(c.value, err.InstanceLocation))
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return c.wrongType(err, k.Want)
	case *kind.Enum:
		return "must be " + oneOf(k.Want) + is + hint(k)
	case *kind.Const:
		return "must be " + show(k.Want) + is
	case *kind.Format:
		return fmt.Sprintf("must be in the format %q%s", k.Want, is)
	case *kind.Pattern:
		return fmt.Sprintf("must match the pattern %q%s", k.Want, is)
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Not:
		return "has a form that is not allowed here"
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want) + is
	}
	if text, ok := bounds(err.ErrorKind, is); ok {
		return text
	}
	if text, ok := counts(err.ErrorKind); ok {
		return text
	}
	return "does not fit the schema"
}

func bounds(k jsonschema.ErrorKind, is string) (string, bool) {
	switch k := k.(type) {
	case *kind.Minimum:
		return "must be at least " + number(k.Want) + is, true
	case *kind.Maximum:
		return "must be at most " + number(k.Want) + is, true
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want) + is, true
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want) + is, true
	}
	return "", false
}

func counts(k jsonschema.ErrorKind) (string, bool) {
	count := func(least, thing string, want, got int) (string, bool) {
		return fmt.Sprintf("must have at %s %s, has %d", least, plural(want, thing), got), true
	}
	switch k := k.(type) {
	case *kind.MinLength:
		return count("least", "character", k.Want, k.Got)
	case *kind.MaxLength:
		return count("most", "character", k.Want, k.Got)
	case *kind.MinItems:
		return count("least", "item", k.Want, k.Got)
	case *kind.MaxItems:
		return count("most", "item", k.Want, k.Got)
	case *kind.MinProperties:
		return count("least", "member", k.Want, k.Got)
	case *kind.MaxProperties:
		return count("most", "member", k.Want, k.Got)
	case *kind.AdditionalItems:
		return "has " + plural(k.Count, "item") + " too many", true
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat an item: items %d and %d are equal", k.Duplicates[0], k.Duplicates[1]), true
	case *kind.Contains:
		return "must contain an item of the wanted form", true
	case *kind.MinContains:
		return count("least", "item of the wanted form", k.Want, len(k.Got))
	case *kind.MaxContains:
		return count("most", "item of the wanted form", k.Want, len(k.Got))
	}
	return "", false
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if head, tail, found := strings.Cut(thing, " "); found {
		return fmt.Sprintf("%d %ss %s", n, head, tail)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func (c *checker) wrongType(err *jsonschema.ValidationError, want []string) string {
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = article(w)
	}
	value := lookup(c.value, err.InstanceLocation)
	is := show(value)
	if _, ok := value.(string); ok {
		is = "the string " + is
	}
	return "must be " + strings.Join(names, " or ") + ", is " + is
}

func article(typ string) string {
	switch typ {
	case "null":
		return "null"
	case "integer", "object", "array":
		return "an " + typ
	}
	return "a " + typ
}

// notAllowed words an unknown member, with the member probably meant.
func (c *checker) notAllowed(err *jsonschema.ValidationError, name string) string {
	tokens := strings.Split(fragment(err.SchemaURL), "/")
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	at, _ := lookup(c.doc, tokens[1:]).(map[string]any)
	known, _ := at["properties"].(map[string]any)
	return "is not allowed here" + suggest.Hint(name, slices.Sorted(maps.Keys(known)))
}

// lookup follows tokens into a decoded value; nil when the way ends.
func lookup(v any, tokens []string) any {
	for _, t := range tokens {
		switch at := v.(type) {
		case map[string]any:
			v = at[t]
		case []any:
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// show is a value as a message shows it: short, in JSON.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case stdjson.Number:
		return shorten(string(v))
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "an array"
	}
	return "an object"
}

func quote(s string) string {
	b, err := json.Marshal(shorten(s))
	if err != nil { // not UTF-8
		return strconv.Quote(shorten(s))
	}
	return string(b)
}

func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// number writes a bound as its schema did, as far as that can be known.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(10), "0")
}

func oneOf(values []any) string {
	const most = 12
	texts := make([]string, 0, len(values))
	for i, v := range values {
		if i == most {
			texts = append(texts, fmt.Sprintf("… (%d in all)", len(values)))
			break
		}
		texts = append(texts, show(v))
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "one of " + strings.Join(texts, ", ")
}

func hint(k *kind.Enum) string {
	got, ok := k.Got.(string)
	if !ok {
		return ""
	}
	var words []string
	for _, w := range k.Want {
		if s, ok := w.(string); ok {
			words = append(words, s)
		}
	}
	return suggest.Hint(got, words)
}

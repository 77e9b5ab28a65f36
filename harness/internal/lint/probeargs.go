package lint

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/schema"
)

// mistake is a call that has to be refused.
type mistake struct {
	what  string // how it is told
	args  jsontext.Value
	names []string // arguments of which a helpful refusal names one; none: any will do
}

const mostOfAKind = 4 // arguments that one kind of mistake is tried with

// mistaken makes what a tool has to refuse. Where single is false each of it is
// wrong as a whole. why says why there is none.
func mistaken(t *Tool, example jsontext.Value, single bool) (out []mistake, why string) {
	in := objectOf(t.Input)
	compiled, err := schema.Compile(t.Input)
	if in == nil || err != nil {
		return nil, "its input schema cannot be read"
	}
	props := in.object("properties")
	candidates := wholly(in, props)
	if single {
		base, reason := sound(t, example)
		if base != nil && len(compiled.Check(base)) > 0 {
			base, reason = nil, fmt.Sprintf("its example does not fit its schema (%s)", compiled.Check(base)[0])
		}
		why = reason
		candidates = append(candidates, singly(in, props, base)...)
	}
	for _, m := range candidates {
		if m.args != nil && (len(compiled.Check(m.args)) > 0 || m.what == contradiction) {
			out = append(out, m)
		}
	}
	if len(out) == 0 && why == "" {
		why = "its schema refuses nothing that could be tried safely"
	}
	return out, why
}

const contradiction = "a least over the most"

// wholly makes arguments with nothing right about them.
func wholly(in, props object) []mistake {
	var out []mistake
	if required := in.texts("required"); len(required) > 0 {
		out = append(out, mistake{"nothing", jsontext.Value("{}"), required})
	}
	all := map[string]any{}
	for _, name := range props.names() {
		if v, ok := wrongType(props.object(name)); ok {
			all[name] = v
		}
	}
	if len(all) > 0 {
		out = append(out, mistake{"values of wrong types", encode(all), slices.Sorted(maps.Keys(all))})
	}
	return out
}

// singly makes arguments with one mistake each.
func singly(in, props object, base jsontext.Value) []mistake {
	if base == nil {
		return nil
	}
	var out []mistake
	for _, name := range first(in.texts("required")) {
		out = append(out, mistake{fmt.Sprintf("no %q", name), without(base, name), []string{name}})
	}
	if in["additionalProperties"] == false {
		out = append(out, mistake{"an argument that it does not know", with(base, "retake_probe", "x"), []string{"retake_probe"}})
	}
	for _, name := range first(props.names()) {
		if v, ok := wrongType(props.object(name)); ok {
			out = append(out, mistake{fmt.Sprintf("%q of a wrong type", name), with(base, name, v), []string{name}})
		}
	}
	outside := 0
	for _, name := range props.names() {
		if v, ok := outOfRange(props.object(name)); ok && outside < mostOfAKind {
			outside++
			out = append(out, mistake{fmt.Sprintf("%q out of range", name), with(base, name, v), []string{name}})
		}
	}
	for _, pair := range pairs(props) {
		args := with(with(base, pair.least, pair.high), pair.most, pair.low)
		out = append(out, mistake{contradiction, args, []string{pair.least, pair.most}})
	}
	return out
}

func first(names []string) []string { return names[:min(len(names), mostOfAKind)] }

// wrongType is a value that a property does not allow by its type. What it allows
// of every type has none.
func wrongType(p object) (any, bool) {
	switch {
	case p.isType("object"):
		return "retake", true
	case p.isType("string"), p.isType("number"), p.isType("integer"), p.isType("boolean"), p.isType("array"):
		return map[string]any{"retake": "probe"}, true
	}
	return nil, false
}

func outOfRange(p object) (any, bool) {
	if n, ok := p["minimum"].(float64); ok {
		return n - 1, true
	}
	if n, ok := p["maximum"].(float64); ok {
		return n + 1, true
	}
	if enum := p.texts("enum"); len(enum) > 0 {
		return "retake_no_such_choice", true
	}
	if n, ok := p["maxLength"].(float64); ok && n < 1e5 {
		return strings.Repeat("x", int(n)+1), true
	}
	return nil, false
}

// pair is a least and a most, and numbers in the wrong order that each of them
// allows for itself.
type pair struct {
	least, most string
	low, high   any
}

// pairs finds a least and a most by their names: budget_min and budget_max.
func pairs(props object) []pair {
	var out []pair
	for _, name := range props.names() {
		words := wordsOf(name)
		at := slices.IndexFunc(words, func(w string) bool { return w == "min" || w == "minimum" })
		if at < 0 {
			continue
		}
		other := slices.Clone(words)
		other[at] = strings.Replace(other[at], "min", "max", 1)
		for _, most := range props.names() {
			if slices.Equal(wordsOf(most), other) {
				if low, high, ok := apart(props.object(name), props.object(most)); ok {
					out = append(out, pair{name, most, low, high})
				}
			}
		}
	}
	return out
}

// apart are two numbers, the higher of which the first allows and the lower the
// second.
func apart(least, most object) (low, high float64, ok bool) {
	if !least.isType("number") && !least.isType("integer") || !most.isType("number") && !most.isType("integer") {
		return 0, 0, false
	}
	bound := func(p object, word string, otherwise float64) float64 {
		if n, ok := p[word].(float64); ok {
			return n
		}
		return otherwise
	}
	low = bound(most, "minimum", 1)
	high = min(low+10, bound(least, "maximum", math.MaxInt32))
	return low, high, high > low
}

// sound are arguments that the tool's schema allows: the example, or made up of the
// schema. why says why there are none.
func sound(t *Tool, example jsontext.Value) (args jsontext.Value, why string) {
	if example != nil {
		return example, ""
	}
	if t.Input == nil {
		return jsontext.Value("{}"), ""
	}
	compiled, err := schema.Compile(t.Input)
	if err != nil {
		return nil, "its input schema cannot be read"
	}
	root := objectOf(t.Input)
	args = encode(plausible(root, root, deepest))
	if wrong := compiled.Check(args); len(wrong) > 0 {
		return nil, fmt.Sprintf("no arguments could be made up that its schema allows (%s); give an example", wrong[0])
	}
	return args, ""
}

// plausible makes up a value that a schema may allow.
func plausible(root, s object, left int) any {
	if ref := s.text("$ref"); strings.HasPrefix(ref, "#/") && left > 0 {
		return plausible(root, target(root, ref), left-1)
	}
	if v, ok := given(s); ok {
		return v
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if forms, _ := s[word].([]any); len(forms) > 0 && left > 0 {
			form, _ := forms[0].(map[string]any)
			return plausible(root, form, left-1)
		}
	}
	switch {
	case s.isType("object") || s.object("properties") != nil:
		out := map[string]any{}
		for _, name := range s.texts("required") {
			if left > 0 {
				out[name] = plausible(root, s.object("properties").object(name), left-1)
			}
		}
		return out
	case s.isType("array"):
		least, _ := s["minItems"].(float64)
		out := []any{}
		for range min(int(least), mostOfAKind*mostOfAKind) {
			out = append(out, plausible(root, s.object("items"), left-1))
		}
		return out
	case s.isType("integer"), s.isType("number"):
		return number(s)
	case s.isType("boolean"):
		return false
	case s.isType("null"):
		return nil
	}
	return word(s)
}

// given is a value that the schema itself names.
func given(s object) (any, bool) {
	if v, ok := s["const"]; ok {
		return v, true
	}
	for _, name := range []string{"enum", "examples"} {
		if values, _ := s[name].([]any); len(values) > 0 {
			return values[0], true
		}
	}
	v, ok := s["default"]
	return v, ok
}

func number(s object) any {
	n := 1.0
	if least, ok := s["minimum"].(float64); ok {
		n = max(n, least)
	}
	if least, ok := s["exclusiveMinimum"].(float64); ok {
		n = max(n, least+1)
	}
	if most, ok := s["maximum"].(float64); ok {
		n = min(n, most)
	}
	return n
}

// word is a text of the form and the length that a schema asks for.
func word(s object) string {
	forms := map[string]string{
		"date": "2026-01-15", "date-time": "2026-01-15T12:00:00Z", "time": "12:00:00Z", "email": "probe@example.com",
		"uri": "https://example.com/", "url": "https://example.com/", "uuid": "00000000-0000-4000-8000-000000000000", "ipv4": "192.0.2.1", "hostname": "example.com",
	}
	if w, ok := forms[s.text("format")]; ok {
		return w
	}
	w := "probe"
	if strings.Contains(s.text("pattern"), "@") {
		w = forms["email"]
	}
	if least, ok := s["minLength"].(float64); ok && len(w) < int(least) && least < 1e5 {
		w += strings.Repeat("x", int(least)-len(w))
	}
	if most, ok := s["maxLength"].(float64); ok && len(w) > int(most) {
		w = w[:max(int(most), 0)]
	}
	return w
}

// keyField is the argument that holds the idempotency key; "" without one.
func keyField(t *Tool) string {
	if t.Key != nil {
		return t.Key.Field
	}
	for _, name := range objectOf(t.Input).object("properties").names() {
		if key.MatchString(spelled(name)) {
			return name
		}
	}
	return ""
}

func encode(v any) jsontext.Value {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil // a number that JSON has not
	}
	return text
}

func with(args jsontext.Value, name string, value any) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(args, &members) != nil || members == nil {
		return nil
	}
	members[name] = encode(value)
	return encode(members)
}

func without(args jsontext.Value, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(args, &members) != nil {
		return nil
	}
	delete(members, name)
	return encode(members)
}

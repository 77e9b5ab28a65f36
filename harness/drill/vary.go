package drill

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// How much is varied. A drill is not to take the day for a long list.
const (
	mostElements   = 3  // of a list
	mostPlaces     = 40 // of the arguments
	mostCandidates = 5  // for a place
)

// place is where arguments can mean something else, with other arguments that may
// do so, the surest first.
type place struct {
	name       string
	candidates []jsontext.Value
}

// places are all of them: each leaf, how many elements a list has, and what the
// schema knows and the arguments leave out.
func (t *trial) places(args jsontext.Value) []place {
	w := &walk{trial: t}
	w.object("", args, t.Spec.Other, t.input.root(), func(v jsontext.Value) jsontext.Value { return v })
	return w.out
}

// walk goes through arguments and their schema side by side.
type walk struct {
	*trial
	out []place
}

// rebuild puts a value back into the arguments.
type rebuild func(jsontext.Value) jsontext.Value

func (w *walk) add(name string, back rebuild, values []jsontext.Value) {
	p := place{name: name}
	for _, v := range values {
		if args := back(v); len(p.candidates) < mostCandidates && w.validArgs(args) {
			p.candidates = append(p.candidates, args)
		}
	}
	w.out = append(w.out, p)
}

func (w *walk) object(name string, v, known jsontext.Value, node map[string]jsontext.Value, back rebuild) {
	all, others := members(v), members(known)
	for _, n := range sortedNames(all) {
		if name == "" && w.aside(n) {
			continue
		}
		w.value(join(name, n), all[n], others[n], w.input.below(node, n), func(x jsontext.Value) jsontext.Value { return back(with(v, n, x)) })
	}
	for _, n := range sortedNames(members(node["properties"])) {
		if _, there := all[n]; there || name == "" && w.aside(n) {
			continue
		}
		fresh := w.fresh(w.input.below(node, n))
		if others[n] != nil {
			fresh = append([]jsontext.Value{others[n]}, fresh...)
		}
		w.add(join(name, n)+" (left out in the example)", func(x jsontext.Value) jsontext.Value { return back(with(v, n, x)) }, fresh)
	}
}

func join(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

// aside tells whether an argument is no part of what the call means.
func (w *walk) aside(name string) bool {
	p := w.Spec.Prepare
	return name == w.Spec.Key.Field || slices.Contains(w.Spec.Unmarked, name) || p != nil && name == p.Into
}

func (w *walk) value(name string, v, known jsontext.Value, node map[string]jsontext.Value, back rebuild) {
	switch v.Kind() {
	case '{':
		w.object(name, v, known, node, back)
	case '[':
		w.list(name, v, known, node, back)
	case 'n':
		w.add(name, back, append(given(known), w.fresh(node)...))
	default:
		w.add(name, back, values(v, known, node))
	}
}

func given(v jsontext.Value) []jsontext.Value {
	if v == nil || v.Kind() == 'n' {
		return nil
	}
	return []jsontext.Value{v}
}

func (w *walk) list(name string, v, known jsontext.Value, node map[string]jsontext.Value, back rebuild) {
	list, others := elements(v), elements(known)
	for i := range min(len(list), mostElements) {
		var other jsontext.Value
		if i < len(others) {
			other = others[i]
		}
		w.value(name+"["+strconv.Itoa(i)+"]", list[i], other, w.input.below(node, ""), func(x jsontext.Value) jsontext.Value {
			changed := slices.Clone(list)
			changed[i] = x
			return back(array(changed))
		})
	}
	var lengths []jsontext.Value
	if len(list) > 0 {
		lengths = []jsontext.Value{array(list[:len(list)-1]), array(append(slices.Clone(list), list[0]))}
	} else {
		for _, x := range w.fresh(w.input.below(node, "")) {
			lengths = append(lengths, array([]jsontext.Value{x}))
		}
	}
	w.add("the length of "+name, back, lengths)
}

func elements(v jsontext.Value) []jsontext.Value {
	var list []jsontext.Value
	if json.Unmarshal(v, &list) != nil {
		return nil
	}
	return list
}

// fresh are values for what is not there, by the schema alone. Its default would
// change no meaning.
func (w *walk) fresh(node map[string]jsontext.Value) []jsontext.Value {
	var out []jsontext.Value
	for _, from := range []string{"const", "enum", "examples"} {
		if from == "const" {
			out = append(out, given(node[from])...)
			continue
		}
		out = append(out, elements(node[from])...)
	}
	if len(out) == 0 {
		out = w.ofType(node)
	}
	return slices.DeleteFunc(out, func(v jsontext.Value) bool { return v.Kind() == 'n' || string(v) == string(node["default"]) })
}

func (w *walk) ofType(node map[string]jsontext.Value) []jsontext.Value {
	kind := string(node["type"])
	switch {
	case strings.Contains(kind, "string"):
		return []jsontext.Value{quoted("retake"), quoted("2031-02-03"), quoted("2031-02-03T04:05:06Z"), quoted("retake@example.org"), quoted("https://example.org/retake")}
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		out := []jsontext.Value{jsontext.Value("2"), jsontext.Value("3")}
		if low := node["minimum"]; low != nil {
			out = append(out, nearNumbers(low)...)
		}
		return out
	case strings.Contains(kind, "boolean"):
		return []jsontext.Value{jsontext.Value("true"), jsontext.Value("false")}
	case strings.Contains(kind, "array"):
		var out []jsontext.Value
		for _, v := range w.fresh(w.input.below(node, "")) {
			out = append(out, array([]jsontext.Value{v}))
		}
		return out
	}
	return nil // of an object the example says more
}

// values are other values for a leaf.
func values(v, known jsontext.Value, node map[string]jsontext.Value) []jsontext.Value {
	var out []jsontext.Value
	if known != nil && string(known) != string(v) {
		out = append(out, known)
	}
	if raw := node["enum"]; raw != nil {
		for _, e := range elements(raw) {
			if string(e) != string(v) {
				out = append(out, e)
			}
		}
		return out
	}
	return append(out, near(v)...)
}

// near are values of the same type.
func near(v jsontext.Value) []jsontext.Value {
	var text string
	switch kind := v.Kind(); {
	case kind == 't':
		return []jsontext.Value{jsontext.Value("false")}
	case kind == 'f':
		return []jsontext.Value{jsontext.Value("true")}
	case kind == '0':
		return nearNumbers(v)
	case kind == '"' && json.Unmarshal(v, &text) == nil:
		out := []jsontext.Value{quoted(text + " 2"), quoted(text + "2"), quoted("2" + text)}
		if other := nextDigit(text); other != text {
			out = append([]jsontext.Value{quoted(other)}, out...)
		}
		return out
	}
	return nil
}

// nextDigit is the text with another last digit: of a date another date, of an id
// perhaps another id.
func nextDigit(text string) string {
	i := strings.LastIndexAny(text, "0123456789")
	if i < 0 {
		return text
	}
	next := byte('1')
	if text[i] == '1' {
		next = '2'
	}
	return text[:i] + string(next) + text[i+1:]
}

func nearNumbers(v jsontext.Value) []jsontext.Value {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return nil
		}
		return []jsontext.Value{jsontext.Value(strconv.FormatFloat(f+1, 'f', -1, 64)), jsontext.Value(strconv.FormatFloat(f-1, 'f', -1, 64))}
	}
	return []jsontext.Value{jsontext.Value(strconv.FormatInt(n+1, 10)), jsontext.Value(strconv.FormatInt(n-1, 10))}
}

// accepted tells whether the tool takes the arguments as an operation of their own,
// under a key that nobody has used. Where it does not, their refusal under a key that
// is taken would show nothing. The effects are none of the row's.
func (t *trial) accepted(args jsontext.Value) bool {
	if t.over() {
		return false
	}
	o := operation{tool: t.Spec.Tool, args: args, field: t.Spec.Key.Field}
	if p := t.Spec.Prepare; p != nil {
		o.args = with(args, p.Into, t.draft())
	}
	if t.over() {
		return false
	}
	if t.need(); t.inst != nil && !t.counted {
		t.count()
	}
	o.key = t.newKey()
	before := t.now
	a := t.call(o)
	did := t.now - before
	t.base += did
	return a.ok() && did > 0
}

// meaning is what another operation is asked for: valid arguments, in one place
// other than those of the first.
type meaning struct {
	name string
	args jsontext.Value
}

// meanings are other meanings that the tool accepts, and the places where none is
// known. most bounds how many are looked for.
func (t *trial) meanings(o operation, most int) (found []meaning, unknown []string) {
	if m, ok := t.otherDraft(o); ok {
		found = append(found, m)
	}
	all := t.places(o.args)
	for i, p := range all {
		if t.over() || len(found) >= most {
			return found, unknown
		}
		if i >= mostPlaces {
			return found, append(unknown, strconv.Itoa(len(all)-i)+" places more, which are too many")
		}
		n := slices.IndexFunc(p.candidates, t.accepted)
		if n < 0 {
			unknown = append(unknown, p.name)
			continue
		}
		found = append(found, meaning{p.name, p.candidates[n]})
	}
	if len(found) == 0 && t.Spec.Other != nil && t.accepted(t.Spec.Other) {
		found = append(found, meaning{"argument, all that other gives", t.Spec.Other})
	}
	return found, unknown
}

// otherDraft is the same commit of another draft, which the example has shown to be
// one that works.
func (t *trial) otherDraft(o operation) (meaning, bool) {
	p := t.Spec.Prepare
	if p == nil || t.over() {
		return meaning{}, false
	}
	id := t.draft()
	if t.over() || string(id) == string(members(o.args)[p.Into]) {
		return meaning{}, false
	}
	return meaning{p.Into, with(o.args, p.Into, id)}, true
}

// other are arguments that mean something else than the operation's, and that the
// tool accepts; nil when none are known.
func (t *trial) other(o operation) jsontext.Value {
	if t.Spec.Other != nil && t.accepted(t.Spec.Other) {
		args := t.Spec.Other
		if p := t.Spec.Prepare; p != nil {
			args = with(args, p.Into, t.draft())
		}
		return args
	}
	if found, _ := t.meanings(o, 1); len(found) > 0 {
		return found[0].args
	}
	return nil
}

const noOther = "no other valid arguments are known; give some under other"

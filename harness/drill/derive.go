package drill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
)

// compiled is the schema of the tool's arguments; nil knows nothing of them.
type compiled struct {
	schema *schema.Schema
	raw    jsontext.Value
}

func compile(raw jsontext.Value) (*compiled, error) {
	if raw == nil {
		return nil, nil //nolint:nilnil // nothing is known
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "the tool's input schema: %w", err)
	}
	return &compiled{s, raw}, nil
}

func (c *compiled) fits(args jsontext.Value) bool {
	return c == nil || len(c.schema.Check(args)) == 0
}

// property is the schema of a member, as it is written.
func (c *compiled) property(name string) map[string]jsontext.Value {
	return c.below(c.root(), name)
}

// root is the schema as it is written.
func (c *compiled) root() map[string]jsontext.Value {
	if c == nil {
		return nil
	}
	return members(c.raw)
}

// below is the schema of a member of what node describes; "" is an element of a
// list.
func (c *compiled) below(node map[string]jsontext.Value, name string) map[string]jsontext.Value {
	raw := node["items"]
	if name != "" {
		raw = members(node["properties"])[name]
	}
	return c.followed(members(raw))
}

// followed is what a reference within the schema leads to.
func (c *compiled) followed(node map[string]jsontext.Value) map[string]jsontext.Value {
	const most = 8 // references to references
	for range most {
		var ref string
		if json.Unmarshal(node["$ref"], &ref) != nil || !strings.HasPrefix(ref, "#/") {
			break
		}
		p, err := jsondoc.ParsePointer(ref[1:])
		if err != nil {
			break
		}
		found := p.Find(c.raw)
		if len(found) == 0 {
			break
		}
		node = members(found[0])
	}
	return node
}

func (c *compiled) required() []string {
	if c == nil {
		return nil
	}
	var names []string
	if json.Unmarshal(members(c.raw)["required"], &names) != nil {
		return nil
	}
	return names
}

// newKey is a key that nobody has used, in a format that the tool takes.
func (t *trial) newKey() string {
	key := t.keyLike(func(string) bool { return true })
	t.keys = append(t.keys, key)
	return key
}

func (t *trial) keyLike(also func(string) bool) string {
	sum := sha256.Sum256([]byte(t.Salt + "\x00" + t.name + "\x00" + strconv.Itoa(len(t.keys))))
	h := hex.EncodeToString(sum[:])
	forms := []string{
		h[:32],
		h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32],
		strings.ToUpper(h[:32]), h[:16], h[:8], digits(sum[:20]), h,
	}
	for _, f := range forms {
		if t.keyFits(f) && also(f) {
			return f
		}
	}
	return forms[0] // the first call will tell
}

func digits(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		out.WriteByte('0' + c%10)
	}
	return out.String()
}

// keyFits tells whether a key has the format that the spec and the schema give.
func (t *trial) keyFits(key string) bool {
	k := t.Spec.Key
	if k.MaxLength > 0 && len(key) > k.MaxLength || k.Pattern != nil && !k.Pattern.MatchString(key) {
		return false
	}
	p := t.input.property(k.Field)
	if len(p) == 0 {
		return true
	}
	c, err := compile(marshal(p))
	return err != nil || c.fits(quoted(key)) // what refers elsewhere cannot be checked by itself
}

// operation is the example call with a key of its own; where it commits a draft,
// the draft is made first.
func (t *trial) operation() operation {
	o := operation{tool: t.Spec.Tool, args: t.Spec.Args, field: t.Spec.Key.Field}
	if p := t.Spec.Prepare; p != nil {
		o.args = with(o.args, p.Into, t.draft())
	}
	if o.field != "" && !t.over() {
		o.key = t.newKey()
	}
	return o
}

// draft makes one and gives its id, as the result has it.
func (t *trial) draft() jsontext.Value {
	p := t.Spec.Prepare
	o := operation{tool: p.Tool, args: p.Args, field: p.Key}
	if p.Key != "" && !t.over() {
		o.key = t.newKey()
	}
	before := t.made()
	id, _ := t.prepared(o)
	t.base += t.made() - before // a draft with an effect is for I17 to find
	return id
}

// prepared makes the draft that o asks for.
func (t *trial) prepared(o operation) (id jsontext.Value, a answer) {
	a = t.call(o)
	if t.over() {
		return jsontext.Value("null"), a
	}
	if !a.ok() {
		t.breach("give arguments that "+o.tool+" accepts, or mend the tool", "no draft could be made: %s", a.String())
		return jsontext.Value("null"), a
	}
	found := t.Spec.Prepare.From.Find(jsontext.Value(a.res.Content))
	if len(found) == 0 {
		t.broken(failure.Errorf(failure.ScenarioInvalid, "the answer of %q has no draft id at %q: %s", o.tool, t.Spec.Prepare.From, brief(a.res.Content)))
		return jsontext.Value("null"), a
	}
	return found[0], a
}

func merge(a, b jsontext.Value) jsontext.Value {
	m := members(a)
	maps.Copy(m, members(b))
	return marshal(m)
}

// validArgs tells whether the arguments fit the schema, with a key in its place.
func (t *trial) validArgs(args jsontext.Value) bool {
	if f := t.Spec.Key.Field; f != "" {
		args = with(args, f, quoted(t.keyLike(func(string) bool { return true })))
	}
	return t.input.fits(args)
}

func sortedNames(m map[string]jsontext.Value) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func array(list []jsontext.Value) jsontext.Value {
	b, err := json.Marshal(list)
	if err != nil {
		return jsontext.Value("[]") // its elements were read from JSON
	}
	return b
}

// bad are arguments that the tool has to refuse.
func (t *trial) bad(args jsontext.Value) []jsontext.Value {
	if len(t.Spec.Bad) > 0 {
		return t.Spec.Bad
	}
	m := members(args)
	for _, name := range t.input.required() {
		if _, there := m[name]; there && name != t.Spec.Key.Field {
			delete(m, name)
			return []jsontext.Value{marshal(m)}
		}
	}
	for _, name := range sortedNames(m) {
		if changed := with(args, name, jsontext.Value(`{"no":["such","type"]}`)); !t.validArgs(changed) {
			return []jsontext.Value{changed}
		}
	}
	return nil
}

// spelled writes the same document otherwise: the last member first, with white
// space.
func spelled(v jsontext.Value) jsontext.Value {
	m := members(v)
	names := sortedNames(m)
	slices.Reverse(names)
	var out strings.Builder
	out.WriteString("{\n")
	for i, n := range names {
		if i > 0 {
			out.WriteString(" ,\n")
		}
		value := m[n]
		if value.Kind() == '{' {
			value = spelled(value)
		}
		fmt.Fprintf(&out, "  %s :  %s", quoted(n), value)
	}
	out.WriteString("\n}")
	return jsontext.Value(out.String())
}

// readCalls are the calls that must not write: the declared ones, and each tool
// that says it reads and needs no arguments.
func (s *setting) readCalls() []Call {
	out := slices.Clone(s.Spec.Reads)
	for i := range s.Spec.Tools {
		d := &s.Spec.Tools[i]
		if !saysReads(d) || slices.ContainsFunc(out, func(c Call) bool { return c.Tool == d.Name }) {
			continue
		}
		if c, err := compile(d.Input); err == nil && c.fits(jsontext.Value("{}")) {
			out = append(out, Call{Tool: d.Name, Args: jsontext.Value("{}")})
		}
	}
	return out
}

func saysReads(d *tool.Decl) bool {
	return d.Effect == tool.EffectRead || d.Hints != nil && d.Hints.ReadOnly != nil && *d.Hints.ReadOnly
}

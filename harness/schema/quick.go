package schema

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// quick is a schema of nothing but everyday keywords, ready to be held against
// a token stream: no value is built, and most values fit. It answers only
// "fits"; everything else, doubts included, is left to the full check.
type quick struct {
	types    types
	listed   bool // enum or const: the value must be one of texts and truths
	texts    []string
	truths   [2]bool // false, true
	pattern  jsonschema.Regexp
	format   func(any) error
	length   span
	items    *quick
	count    span
	members  map[string]member
	required uint64 // a bit for each required member
	closed   bool   // additionalProperties: false
}

type member struct {
	form *quick
	bit  uint64
}

// span is a least and a most, below zero for none.
type span struct{ least, most int }

var unbounded = span{-1, -1}

func (b span) holds(n int) bool { return (b.least < 0 || n >= b.least) && (b.most < 0 || n <= b.most) }

type types uint8

const (
	anObject types = 1 << iota
	anArray
	aText
	anInteger
	aNumber // with a fraction; the type number is this and anInteger
	aBoolean
	aNull
	anything = anObject | anArray | aText | anInteger | aNumber | aBoolean | aNull
)

var typeBits = map[string]types{
	"object": anObject, "array": anArray, "string": aText, "integer": anInteger,
	"number": aNumber | anInteger, "boolean": aBoolean, "null": aNull,
}

// anyForm is what members and items without a schema are held against.
var anyForm = &quick{types: anything, length: unbounded, count: unbounded}

// quickForm makes a quick of a schema, nil when it says more than a quick can.
func quickForm(doc any, s *jsonschema.Schema) *quick {
	obj, ok := doc.(map[string]any)
	if !ok || s == nil || s.DraftVersion < 6 {
		return nil
	}
	q := &quick{types: anything, length: unbounded, count: unbounded}
	for keyword, value := range obj {
		if !q.take(keyword, value, obj, s) {
			return nil
		}
	}
	return q
}

// take takes one keyword in; false when a quick cannot say it.
func (q *quick) take(keyword string, value any, obj map[string]any, s *jsonschema.Schema) bool {
	switch keyword {
	case "$schema", "title", "description", "examples", "default", "$comment", "deprecated", "nullable":
		return true
	case "type":
		return q.takeTypes(value)
	case "enum", "const":
		return q.takeList(value)
	case "pattern":
		q.pattern = s.Pattern
		return s.Pattern != nil
	case "format":
		if s.Format != nil {
			q.format = s.Format.Validate
		}
		return true
	case "minLength", "maxLength", "minItems", "maxItems":
		q.length, q.count = bound(s.MinLength, s.MaxLength), bound(s.MinItems, s.MaxItems)
		return true
	case "items":
		items := s.Items2020
		if items == nil {
			items, _ = s.Items.(*jsonschema.Schema) // before 2020-12
		}
		q.items = quickForm(value, items)
		return q.items != nil
	case "properties", "required":
		return q.takeMembers(obj, s)
	case "additionalProperties":
		q.closed = value == false
		return value == false || value == true
	}
	return false
}

func bound(least, most *int) span {
	b := unbounded
	if least != nil {
		b.least = *least
	}
	if most != nil {
		b.most = *most
	}
	return b
}

func (q *quick) takeTypes(value any) bool {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	q.types = 0
	for _, n := range names {
		name, _ := n.(string)
		q.types |= typeBits[name]
	}
	return q.types != 0
}

func (q *quick) takeList(value any) bool {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	if q.listed {
		return false // enum and const together
	}
	q.listed = true
	for _, v := range values {
		switch v := v.(type) {
		case string:
			q.texts = append(q.texts, v)
		case bool:
			q.truths[truth(v)] = true
		default:
			return false
		}
	}
	return true
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (q *quick) takeMembers(obj map[string]any, s *jsonschema.Schema) bool {
	if q.members != nil {
		return true // taken with the other keyword
	}
	properties, _ := obj["properties"].(map[string]any)
	q.members = make(map[string]member, len(properties))
	for name, doc := range properties {
		form := quickForm(doc, s.Properties[name])
		if form == nil {
			return false
		}
		q.members[name] = member{form: form}
	}
	for i, name := range s.Required {
		m, ok := q.members[name]
		if !ok || i >= 64 {
			return false
		}
		m.bit |= 1 << i
		q.members[name] = m
		q.required |= 1 << i
	}
	return true
}

// fits tells that the text certainly fits.
func (q *quick) fits(text []byte) bool {
	if q == nil {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if !q.value(d) {
		return false
	}
	_, err := d.ReadToken()
	return errors.Is(err, io.EOF)
}

func (q *quick) value(d *jsontext.Decoder) bool {
	t, err := d.ReadToken()
	if err != nil {
		return false
	}
	kind := t.Kind()
	if q.listed && (kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray || kind == jsontext.KindNumber || kind == jsontext.KindNull) {
		return false
	}
	switch kind {
	case jsontext.KindBeginObject:
		return q.types&anObject != 0 && q.object(d)
	case jsontext.KindBeginArray:
		return q.types&anArray != 0 && q.array(d)
	case jsontext.KindString:
		return q.types&aText != 0 && q.text(t)
	case jsontext.KindNumber:
		return q.number(t.String())
	case jsontext.KindTrue, jsontext.KindFalse:
		return q.types&aBoolean != 0 && (!q.listed || q.truths[truth(t.Bool())])
	default:
		return kind == jsontext.KindNull && q.types&aNull != 0
	}
}

func (q *quick) text(t jsontext.Token) bool {
	if !q.listed && q.pattern == nil && q.format == nil && q.length == unbounded {
		return true
	}
	s := t.String()
	return (!q.listed || slices.Contains(q.texts, s)) &&
		(q.pattern == nil || q.pattern.MatchString(s)) &&
		(q.format == nil || q.format(s) == nil) &&
		q.length.holds(utf8.RuneCountInString(s))
}

func (q *quick) number(s string) bool {
	if strings.ContainsAny(s, "eE") {
		return false
	}
	if q.format != nil && q.format(stdjson.Number(s)) != nil {
		return false
	}
	if strings.Contains(s, ".") {
		return q.types&aNumber != 0
	}
	return q.types&anInteger != 0
}

func (q *quick) array(d *jsontext.Decoder) bool {
	items := q.items
	if items == nil {
		items = anyForm
	}
	n := 0
	for ; d.PeekKind() != jsontext.KindEndArray; n++ {
		if !items.value(d) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && q.count.holds(n)
}

func (q *quick) object(d *jsontext.Decoder) bool {
	seen := uint64(0)
	for d.PeekKind() != jsontext.KindEndObject {
		t, err := d.ReadToken()
		if err != nil {
			return false
		}
		m, known := q.members[t.String()]
		switch {
		case known:
			seen |= m.bit
		case q.closed:
			return false
		default:
			m.form = anyForm
		}
		if !m.form.value(d) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && seen == q.required
}

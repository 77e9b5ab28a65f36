package openai

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Writer appends JSON objects and arrays. It puts the commas where they belong;
// what is put between them is the caller's affair.
type Writer struct{ B []byte }

// comma separates from the value before, if there is one.
func (w *Writer) comma() {
	if n := len(w.B); n > 0 {
		switch w.B[n-1] {
		case '{', '[', ':':
		default:
			w.B = append(w.B, ',')
		}
	}
}

// Open begins an object or array, as an element or as a member's value.
func (w *Writer) Open(c byte) { w.comma(); w.B = append(w.B, c) }

// Begin begins the outermost value: whatever stands before it is left alone.
func (w *Writer) Begin(c byte) { w.B = append(w.B, c) }

// Close ends an object or array.
func (w *Writer) Close(c byte) { w.B = append(w.B, c) }

// Name begins a member.
func (w *Writer) Name(name string) {
	w.comma()
	w.B = append(w.B, '"')
	w.B = append(w.B, name...)
	w.B = append(w.B, '"', ':')
}

// Text writes a member whose value is a string.
func (w *Writer) Text(name, value string) {
	w.Name(name)
	w.B = rawjson.Quote(w.B, value)
}

// Int writes a member whose value is a number.
func (w *Writer) Int(name string, value int64) {
	w.Name(name)
	w.B = strconv.AppendInt(w.B, value, 10)
}

// Bool writes a member whose value is true or false.
func (w *Writer) Bool(name string, value bool) {
	w.Name(name)
	w.B = strconv.AppendBool(w.B, value)
}

// Value writes a member whose value is JSON already.
func (w *Writer) Value(name string, value jsontext.Value) {
	w.comma()
	w.B = rawjson.Quote(w.B, name)
	w.B = append(w.B, ':')
	w.B = append(w.B, value...)
}

// Element writes an array's element that is JSON already.
func (w *Writer) Element(value jsontext.Value) {
	w.comma()
	w.B = append(w.B, value...)
}

// Splice writes the members of an object into the open object, but for those
// that skip names.
func (w *Writer) Splice(object jsontext.Value, skip ...string) {
	if len(object) == 0 {
		return
	}
members:
	for o := rawjson.InObject(object); o.More(); {
		name, value := o.Member()
		for _, s := range skip {
			if string(name) == s {
				continue members
			}
		}
		w.comma()
		w.B = rawjson.Quote(w.B, name)
		w.B = append(w.B, ':')
		w.B = append(w.B, value...)
	}
}

// Extra collects the members that no field holds. The zero value is empty.
type Extra struct{ w Writer }

// Add keeps one member.
func (e *Extra) Add(name string, value jsontext.Value) {
	if e.w.B == nil {
		e.w.B = append(make([]byte, 0, len(name)+len(value)+len(`{"":}`)), '{')
	}
	e.w.Value(name, value)
}

// Object is what was collected, nil for nothing. Nothing may be added later.
func (e *Extra) Object() jsontext.Value {
	if e.w.B == nil {
		return nil
	}
	e.w.Close('}')
	return jsontext.Value(e.w.B)
}

// Without is a JSON object without the members that drop names; nil when none
// are left. When nothing is dropped it is the object itself.
func Without(object jsontext.Value, drop func(name string, value jsontext.Value) bool) jsontext.Value {
	var kept Extra
	dropped := false
	for o := rawjson.InObject(object); o.More(); {
		name, value := o.Member()
		if drop(string(name), value) {
			dropped = true
			continue
		}
		kept.Add(string(name), value)
	}
	if !dropped {
		return object
	}
	return kept.Object()
}

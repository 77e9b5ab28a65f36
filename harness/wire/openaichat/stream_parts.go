package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// members are an object's members as a stream brings them.
type members []memberOf

type memberOf struct {
	name    string
	raw     jsontext.Value // the last value that was no text
	text    []byte         // texts, joined
	isText  bool
	details []members // elements of a list, joined by type and index
}

func (m *members) find(name string) *memberOf {
	for i := range *m {
		if (*m)[i].name == name {
			return &(*m)[i]
		}
	}
	*m = append(*m, memberOf{name: name})
	return &(*m)[len(*m)-1]
}

// set overwrites.
func (m *members) set(name string, v jsontext.Value) { m.find(name).raw = v }

// add joins texts, and lists element by element; anything else overwrites.
func (m *members) add(name string, v jsontext.Value) {
	switch {
	case openai.IsEmpty(v):
	case openai.IsString(v):
		f := m.find(name)
		f.isText = true
		f.text = append(f.text, rawjson.TextOf(v)...)
	case openai.IsArray(v):
		f := m.find(name)
		for a := rawjson.InArray(v); a.More(); {
			f.detail(a.Value())
		}
	default:
		m.set(name, v)
	}
}

// detail adds one element of reasoning_details. Elements of one type and index
// are fragments of one: OpenRouter's documentation has its chunks joined so.
func (f *memberOf) detail(v jsontext.Value) {
	if !openai.IsObject(v) {
		return
	}
	key := func(name string) string { return string(rawjson.Get(v, name)) }
	var d *members
	for i := range f.details {
		if last := &f.details[i]; string(last.value("type")) == key("type") && string(last.value("index")) == key("index") {
			d = last
		}
	}
	if d == nil {
		f.details = append(f.details, nil)
		d = &f.details[len(f.details)-1]
	}
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch n := string(name); n {
		case "text", "summary", "data", "thinking":
			if text := d.find(n); openai.IsString(value) {
				text.isText = true
				text.text = append(text.text, rawjson.TextOf(value)...)
				continue
			}
			d.set(n, value)
		default:
			if !openai.IsNull(value) || d.value(n) == nil {
				d.set(n, value)
			}
		}
	}
}

func (m members) value(name string) jsontext.Value {
	for i := range m {
		if m[i].name == name {
			return m[i].raw
		}
	}
	return nil
}

func (m members) into(e *openai.Extra) {
	for i := range m {
		switch f := &m[i]; {
		case f.isText:
			e.Add(f.name, rawjson.Quote(nil, f.text))
		case f.details != nil:
			w := openai.Writer{}
			w.Begin('[')
			for _, d := range f.details {
				w.Element(d.object())
			}
			w.Close(']')
			e.Add(f.name, w.B)
		case f.raw != nil:
			e.Add(f.name, f.raw)
		}
	}
}

func (m members) object() jsontext.Value {
	var e openai.Extra
	m.into(&e)
	return e.Object()
}

// raw is the reasoning as a JSON answer has it, and its readable text.
func (m members) raw() (raw jsontext.Value, text string) {
	raw = m.object()
	for o := rawjson.InObject(raw); o.More(); {
		_, value := o.Member()
		text = thought(text, value)
	}
	return raw, text
}

// part is one part of the content: running text, running thought, or a thing
// that came whole.
type part struct {
	kind wire.Kind
	text []byte
	raw  jsontext.Value
}

// content adds a delta's content: a text, or (Mistral) a list of parts.
func (s *stream) content(v jsontext.Value) {
	if t, ok := rawjson.Text(v); ok {
		s.run(wire.KindText, t)
		return
	}
	for a := rawjson.InArray(v); a.More(); {
		p := a.Value()
		switch b := decodePart(p); {
		case b.Kind == wire.KindText && b.Extra == nil, b.Kind == wire.KindReasoning && b.Text != "":
			s.run(b.Kind, b.Text)
		default:
			s.parts = append(s.parts, part{kind: b.Kind, raw: p})
		}
	}
}

func (s *stream) run(kind wire.Kind, text string) {
	if text == "" {
		return
	}
	if n := len(s.parts); n == 0 || s.parts[n-1].kind != kind || s.parts[n-1].raw != nil {
		s.parts = append(s.parts, part{kind: kind})
	}
	p := &s.parts[len(s.parts)-1]
	p.text = append(p.text, text...)
}

func (p *part) block() wire.Block {
	switch {
	case p.raw != nil:
		return decodePart(p.raw)
	case p.kind == wire.KindReasoning:
		return wire.Block{Kind: p.kind, Text: string(p.text), Raw: thinkingPart(p.text)}
	}
	return wire.Block{Kind: p.kind, Text: string(p.text)}
}

// thinkingPart is Mistral's form of a thought.
func thinkingPart(text []byte) jsontext.Value {
	raw := []byte(`{"type":"thinking","thinking":[{"type":"text","text":`)
	raw = rawjson.Quote(raw, text)
	return append(raw, "}]}"...)
}

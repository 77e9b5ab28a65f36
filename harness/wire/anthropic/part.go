package anthropic

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// part is one block of a stream: what it started as, and what its deltas added.
type part struct {
	index     int64
	start     jsontext.Value
	text      []byte // the text, the thinking or the input's JSON so far
	signature []byte
	citations []byte // a list without its brackets
	signed    bool
	stopped   bool
}

// delta takes one delta. The names of its members say what they add to, so its
// type is not needed.
func (p *part) delta(v jsontext.Value) {
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := c.Name(); string(name) {
		case "type":
			c.Value()
		case "text", "partial_json", "thinking":
			p.text = c.AppendText(p.text)
		case "signature":
			p.signature, p.signed = c.AppendText(p.signature), true
		case "citation":
			p.citations = append(comma(p.citations, len(p.citations)), c.Value()...)
		default:
			p.overlay(string(name), c.Value())
		}
	}
}

// overlay takes a member that this package does not know: texts grow, anything
// else is replaced.
func (p *part) overlay(name string, v jsontext.Value) {
	if old, ok := rawjson.Text(rawjson.Get(p.start, name)); ok {
		if more, ok := rawjson.Text(v); ok {
			v = rawjson.Quote(nil, old+more)
		}
	}
	p.start = rawjson.Set(p.start, name, v)
}

// block is the finished block. cut says that it may lack its end.
func (p *part) block(cut bool) (wire.Block, wire.ProblemKind) {
	kind, _ := rawjson.Text(rawjson.Get(p.start, "type"))
	switch kind {
	case typeText:
		b := decodeText(p.start)
		b.Text += string(p.text)
		if p.citations != nil {
			b.Extra = p.cite(b.Extra)
		}
		return b, ""
	case typeToolUse:
		return p.toolUse(cut)
	case typeThinking:
		return decodeBlock(p.thinking()), ""
	}
	if len(p.text) > 0 {
		input := p.text
		if !rawjson.Valid(input) {
			input = rawjson.Quote(nil, p.text)
		}
		p.start = rawjson.Set(p.start, "input", input)
	}
	return decodeBlock(p.start), ""
}

// toolUse: without deltas the input is the one of the block's start ({} for a
// tool without arguments), if the block was not cut before they came.
func (p *part) toolUse(cut bool) (wire.Block, wire.ProblemKind) {
	b := decodeToolUse(p.start)
	if len(bytes.TrimSpace(p.text)) > 0 || b.Args == nil || cut && empty(b.Args) {
		problem := wire.ReadArgs(&b, p.text)
		return b, problem
	}
	if b.Args[0] != '{' {
		return b, wire.ProblemArgsInvalid
	}
	return b, ""
}

func (p *part) thinking() jsontext.Value {
	v := p.start
	if len(p.text) > 0 {
		begun, _ := rawjson.Text(rawjson.Get(v, "thinking"))
		v = rawjson.Set(v, "thinking", rawjson.Quote(nil, begun+string(p.text)))
	}
	if p.signed {
		v = rawjson.Set(v, "signature", rawjson.Quote(nil, p.signature))
	}
	return v
}

// cite adds the citations that came as deltas to those of the start.
func (p *part) cite(extra jsontext.Value) jsontext.Value {
	list := []byte{'['}
	begun := rawjson.Get(extra, "citations")
	if begun = bytes.TrimSpace(begun); len(begun) > 2 && begun[0] == '[' {
		list = append(append(list, begun[1:len(begun)-1]...), ',')
	}
	list = append(append(list, p.citations...), ']')
	if extra == nil {
		extra = jsontext.Value("{}")
	}
	return rawjson.Canonical(nil, rawjson.Set(extra, "citations", list))
}

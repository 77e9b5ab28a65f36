package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Normal appends the canonical text of what a request means: two requests with
// the same text mean the same. It is a JSON document, so that a difference
// between two of them can be pointed at.
//
// What the API's documentation says is the default anyway is left out (see
// Codec.Canonical, which changes r); call ids are renamed in the order in which
// they first appear; arguments, schemas and parameters are canonical JSON with
// numbers as written. Everything else that differs makes the texts differ.
func Normal(dst []byte, c Codec, r *Request) []byte {
	c.Canonical(r)
	n := normalizer{dst: dst}
	n.request(r)
	return n.dst
}

type normalizer struct {
	dst []byte
	ids callNumbers
}

func (n *normalizer) request(r *Request) {
	n.dst = append(n.dst, `{"model":`...)
	n.quote(r.Model)
	if r.Stream {
		n.dst = append(n.dst, `,"stream":true`...)
	}
	if r.MaxTokens > 0 {
		n.dst = strconv.AppendInt(append(n.dst, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	}
	if len(r.System) > 0 {
		n.member("system")
		n.blocks(r.System)
	}
	n.member("messages")
	n.dst = append(n.dst, '[')
	for i := range r.Messages {
		n.message(i, &r.Messages[i])
	}
	n.dst = append(n.dst, ']')
	n.tools(r.Tools)
	n.choice(&r.ToolChoice)
	n.params(r.Params)
	n.dst = append(n.dst, '}')
}

// member begins a further member of the object.
func (n *normalizer) member(name string) {
	n.dst = append(n.dst, `,"`...)
	n.dst = append(append(n.dst, name...), `":`...)
}

func (n *normalizer) quote(s string) { n.dst = rawjson.Quote(n.dst, s) }

// text adds a member unless it is empty.
func (n *normalizer) text(name, s string) {
	if s != "" {
		n.member(name)
		n.quote(s)
	}
}

// value adds a member in canonical JSON unless it is nil.
func (n *normalizer) value(name string, v jsontext.Value) {
	if v != nil {
		n.member(name)
		n.dst = rawjson.Canonical(n.dst, v)
	}
}

func (n *normalizer) comma(i int) {
	if i > 0 {
		n.dst = append(n.dst, ',')
	}
}

func (n *normalizer) message(i int, m *Message) {
	n.comma(i)
	n.dst = append(n.dst, `{"role":`...)
	n.quote(string(m.Role))
	n.member("content")
	n.blocks(m.Blocks)
	n.value("extra", m.Extra)
	n.dst = append(n.dst, '}')
}

func (n *normalizer) blocks(blocks []Block) {
	n.dst = append(n.dst, '[')
	for i := range blocks {
		n.comma(i)
		n.block(&blocks[i])
	}
	n.dst = append(n.dst, ']')
}

func (n *normalizer) block(b *Block) {
	n.dst = append(n.dst, `{"kind":`...)
	n.quote(string(b.Kind))
	switch {
	case b.Kind == KindToolCall:
		n.id(b.ID)
		n.text("name", b.Name)
		n.value("args", b.Args)
		n.text("args_text", b.ArgsText)
		n.value("extra", b.Extra)
	case b.Kind == KindToolResult:
		n.id(b.ID)
		n.text("name", b.Name)
		if b.IsError {
			n.dst = append(n.dst, `,"is_error":true`...)
		}
		n.member("content")
		n.blocks(b.Result)
		n.value("extra", b.Extra)
	case b.Raw != nil:
		n.value("raw", b.Raw)
	default:
		n.member("text")
		n.quote(b.Text)
		n.value("extra", b.Extra)
	}
	n.dst = append(n.dst, '}')
}

// id names a call by its number: calls and their results agree, whatever the
// provider made up.
func (n *normalizer) id(id string) {
	if id == "" {
		return
	}
	n.member("id")
	n.dst = append(n.dst, `"call-`...)
	n.dst = append(strconv.AppendInt(n.dst, int64(n.ids.of(id)), 10), '"')
}

func (n *normalizer) tools(tools []Tool) {
	if len(tools) == 0 {
		return
	}
	n.member("tools")
	n.dst = append(n.dst, '[')
	for i := range tools {
		t := &tools[i]
		n.comma(i)
		n.dst = append(n.dst, `{"name":`...)
		n.quote(t.Name)
		if t.Raw != nil {
			n.value("raw", t.Raw)
		} else {
			n.text("description", t.Description)
			n.value("schema", t.Schema)
			n.value("extra", t.Extra)
		}
		n.dst = append(n.dst, '}')
	}
	n.dst = append(n.dst, ']')
}

func (n *normalizer) choice(c *ToolChoice) {
	if c.Mode == ChoiceUnset && c.Name == "" && !c.NoParallel && c.Extra == nil {
		return
	}
	n.member("tool_choice")
	n.dst = append(n.dst, `{"mode":`...)
	n.quote(string(c.Mode))
	n.text("name", c.Name)
	if c.NoParallel {
		n.dst = append(n.dst, `,"no_parallel":true`...)
	}
	n.value("extra", c.Extra)
	n.dst = append(n.dst, '}')
}

func (n *normalizer) params(params []Field) {
	if len(params) == 0 {
		return
	}
	n.member("params")
	n.dst = append(n.dst, '{')
	for i, p := range params {
		n.comma(i)
		n.quote(p.Name)
		n.dst = append(n.dst, ':')
		n.dst = rawjson.Canonical(n.dst, p.Value)
	}
	n.dst = append(n.dst, '}')
}

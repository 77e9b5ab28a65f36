package openaichat

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// call accumulates one tool call of a stream.
type call struct {
	index    int64 // -1 when the server gives none
	id, name string
	kind     string // the type, unless it is function
	args     []byte
	object   jsontext.Value // arguments that came as JSON, not as text
	extra    members
	repeated bool
}

// call finds the call that a fragment belongs to and adds it.
func (s *stream) call(v jsontext.Value) {
	if !openai.IsObject(v) {
		return
	}
	index := int64(-1)
	if n := openai.Int(rawjson.Get(v, "index")); n != nil {
		index = *n
	}
	id := rawjson.TextOf(rawjson.Get(v, "id"))
	function := rawjson.Get(v, "function")
	c := s.find(index, id, rawjson.TextOf(rawjson.Get(function, "name")))
	if id != "" {
		c.repeated = c.repeated || c.id != ""
		if c.id == "" {
			c.id = id
		}
	}
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch n := string(name); {
		case openai.IsNull(value), n == "index", n == "id":
		case n == "type":
			if kind := rawjson.TextOf(value); kind != "function" {
				c.kind = kind
			}
		case n == "function", n == "custom":
			c.function(value)
		default:
			c.extra.set(n, value)
		}
	}
}

// find is the call that a fragment continues, or a new one. The index decides;
// but where a server gives every call the same index, another id together with a
// name begins a new call. Without an index the id decides, and without an id a
// name that comes after whole arguments begins a new call.
func (s *stream) find(index int64, id, name string) *call {
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := &s.calls[i]
		switch {
		case c.index != index:
			continue
		case id != "" && c.id != "" && c.id != id && (name != "" || index < 0):
			continue
		case id == "" && index < 0 && name != "" && c.name != "" && (c.object != nil || rawjson.Valid(c.args)):
			return s.begin(index)
		}
		return c
	}
	return s.begin(index)
}

func (s *stream) begin(index int64) *call {
	s.calls = append(s.calls, call{index: index})
	return &s.calls[len(s.calls)-1]
}

// function adds {"name":…,"arguments":…}, or a custom tool's {"name":…,"input":…}.
// A name is set once: servers repeat it whole.
func (c *call) function(v jsontext.Value) {
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch string(name) {
		case "name":
			s := rawjson.TextOf(value)
			if s == "" {
				continue
			}
			c.repeated = c.repeated || c.name != ""
			if c.name == "" {
				c.name = s
			}
		case "arguments", "input":
			if openai.IsObject(value) {
				c.object = value
				continue
			}
			c.args = append(c.args, rawjson.TextOf(value)...)
		}
	}
}

// rawFunction is the function as a JSON answer has it.
func (c *call) rawFunction(arguments string) jsontext.Value {
	var w openai.Writer
	w.Begin('{')
	w.Text("name", c.name)
	w.Text(arguments, string(c.args))
	w.Close('}')
	return w.B
}

// raw is a call of another type than function as a JSON answer has it.
func (c *call) raw() jsontext.Value {
	member, arguments := c.kind, "input"
	if member != "custom" {
		member, arguments = "function", "arguments"
	}
	var w openai.Writer
	w.Begin('{')
	w.Text("id", c.id)
	w.Text("type", c.kind)
	w.Value(member, c.rawFunction(arguments))
	w.Splice(c.extra.object())
	w.Close('}')
	return w.B
}

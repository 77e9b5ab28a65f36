package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// FunctionMember takes a member of a declared function: into the tool's field, or
// into extra where none holds it.
func FunctionMember(t *wire.Tool, extra *Extra, name []byte, v jsontext.Value) {
	switch s := string(name); {
	case s == "name" && IsString(v):
		t.Name = rawjson.TextOf(v)
	case s == "description" && IsString(v):
		t.Description = rawjson.TextOf(v)
	case s == "parameters" && !IsNull(v):
		t.Schema = v
	default:
		extra.Add(s, v)
	}
}

// Function writes the members of a declared function, but those of its Extra.
func (w *Writer) Function(t *wire.Tool) {
	w.Text("name", t.Name)
	if t.Description != "" {
		w.Text("description", t.Description)
	}
	if t.Schema != nil {
		w.Value("parameters", t.Schema)
	}
}

// Word is the string that v is, like rawjson.TextOf; the common roles and types
// of items cost no allocation.
func Word(v jsontext.Value) string {
	for _, word := range [...]string{
		"user", "assistant", "tool", "system", "developer",
		"message", "reasoning", "function_call", "function_call_output",
	} {
		if len(v) == len(word)+2 && v[0] == '"' && string(v[1:len(v)-1]) == word {
			return word
		}
	}
	return rawjson.TextOf(v)
}

package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// RequestMember puts a top-level member that both protocols have into its field;
// false when none holds it, which is so where it says the default.
func RequestMember(r *wire.Request, name []byte, v jsontext.Value) (held bool) {
	switch string(name) {
	case "model":
		r.Model = rawjson.TextOf(v)
		return r.Model != ""
	case "parallel_tool_calls":
		r.ToolChoice.NoParallel = string(v) == "false"
		return r.ToolChoice.NoParallel
	case "stream":
		r.Stream = string(v) == "true"
		return r.Stream
	}
	return false
}

// MaxTokens takes the limit of the answer's tokens; false when it is none.
func MaxTokens(r *wire.Request, v jsontext.Value) (held bool) {
	n := Int(v)
	if n == nil || *n <= 0 || *n > 1<<31 {
		return false
	}
	r.MaxTokens = int(*n)
	return true
}

// CanonicalChoice drops a tool choice that is the default: "none is the default
// when no tools are present. auto is the default if tools are present."
func CanonicalChoice(r *wire.Request) {
	c := &r.ToolChoice
	if c.Extra == nil && (c.Mode == wire.ChoiceAuto && len(r.Tools) > 0 || c.Mode == wire.ChoiceNone && len(r.Tools) == 0) {
		c.Mode = wire.ChoiceUnset
	}
}

// SaysNothing tells the values that mean the same as a member's absence: null,
// which OpenAI's API reference allows for every optional member, and an empty
// list.
func SaysNothing(v jsontext.Value) bool { return IsNull(v) || IsArray(v) && IsEmpty(v) }

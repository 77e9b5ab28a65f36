// Package gemini speaks generateContent and streamGenerateContent of the Gemini
// API and of Vertex AI, both ways.
//
// Facts that shape it: the model and the streaming mode are in the URL; a stream
// is a row of whole answers, as events or as one JSON array; a turn with calls
// ends with STOP like any other, so calls are found by their parts; ids of calls
// are optional; a thoughtSignature belongs to the part it came with and must go
// back there; protocol buffers' JSON allows each name in snake_case too.
package gemini

import (
	"strings"

	"github.com/retake-harness/retake/harness/wire"
)

// Codec is the wire.Codec of generateContent.
type Codec struct{}

var _ wire.Codec = Codec{}

// API is wire.GeminiGenerate.
func (Codec) API() wire.API { return wire.GeminiGenerate }

const (
	methodWhole  = ":generateContent"
	methodStream = ":streamGenerateContent"
)

// Path is the Gemini API's path for a model: "gemini-2.5-flash", or a resource
// name such as "tunedModels/x".
func (Codec) Path(model string, stream bool) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	if stream {
		return "/v1beta/" + model + methodStream + "?alt=sse"
	}
	return "/v1beta/" + model + methodWhole
}

// fromPath is the model and the streaming mode that a URL path says.
func fromPath(path string) (model string, stream bool) {
	path, _, _ = strings.Cut(path, "?")
	colon := strings.LastIndexByte(path, ':')
	if colon < 0 {
		return "", false
	}
	stream = path[colon:] == methodStream
	path = path[:colon]
	if after, ok := afterLast(path, "/models/"); ok {
		return after, stream
	}
	if i := strings.LastIndex(path, "tunedModels/"); i >= 0 {
		return path[i:], stream
	}
	if after, ok := afterLast(path, "/"); ok {
		return after, stream
	}
	return path, stream
}

func afterLast(s, sep string) (after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):], true
	}
	return "", false
}

// camel is a member's name in the spelling that this package writes; only names
// with an underscore cost anything.
func camel(name []byte) string {
	s := string(name)
	if !strings.Contains(s, "_") {
		return s
	}
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

package codec

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// DetectAnswer tells which API an answer is of by its body alone, JSON or a stream:
// for bodies without the request that they answer. False means that it looks like
// none of the APIs', as errors do, whose bodies are alike.
func DetectAnswer(body []byte) (wire.API, bool) {
	if sse.Is("", body) {
		return streamAPI(body)
	}
	body = bytes.TrimSpace(body)
	if !rawjson.Valid(body) {
		return "", false
	}
	if body[0] == '[' { // Gemini's streams without alt=sse
		return answerAPI(firstObject(body))
	}
	return answerAPI(body)
}

func streamAPI(body []byte) (wire.API, bool) {
	s := sse.NewScanner(body)
	for e, ok := s.Next(); ok; e, ok = s.Next() {
		if !rawjson.Valid(e.Data) {
			continue
		}
		if api, ok := answerAPI(e.Data); ok {
			return api, true
		}
	}
	return "", false
}

// marks are what a document of an answer is recognised by.
type marks struct {
	kind, object string
	candidates   bool // Gemini's
	choices      bool // of a chat: with a message or a delta
	content      bool
}

func answerAPI(document jsontext.Value) (wire.API, bool) {
	var m marks
	for c := rawjson.InObject(document); len(document) > 0 && c.More(); {
		m.member(c.Member())
	}
	switch {
	case m.candidates:
		return wire.GeminiGenerate, true
	case m.choices:
		return wire.OpenAIChat, true
	case m.object == "response", strings.HasPrefix(m.kind, "response."):
		return wire.OpenAIResponses, true
	case m.kind == "message" && m.content, m.kind == "message_start", m.kind == "message_delta", strings.HasPrefix(m.kind, "content_block_"):
		return wire.AnthropicMessages, true
	}
	return "", false
}

func (m *marks) member(name []byte, v jsontext.Value) {
	switch string(name) {
	case "type":
		m.kind, _ = rawjson.Text(v)
	case "object":
		m.object, _ = rawjson.Text(v)
	case "candidates", "usageMetadata", "promptFeedback":
		m.candidates = true
	case "choices":
		first := firstObject(v)
		m.choices = rawjson.Get(first, "message") != nil || rawjson.Get(first, "delta") != nil
	case "content":
		m.content = v[0] == '['
	}
}

package codec

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Detect tells which API's generation endpoint a request is for. False means
// that it asks for no model turn (embeddings, counting tokens, files, batches,
// lists of models), or speaks an API that retake does not.
//
// url may be a whole URL or a path. The end of the path decides where it is one
// that the APIs have; vendors and gateways differ in what comes before it. For
// other paths, a proxy's own for instance, the body's shape decides.
func Detect(method, url string, body []byte) (wire.API, bool) {
	if method != "" && !strings.EqualFold(method, "POST") {
		return "", false
	}
	path := pathOf(url)
	if api := byPath(path); api != "" {
		return api, true
	}
	if otherEndpoint(path) {
		return "", false
	}
	api := byBody(body)
	return api, api != ""
}

// pathOf is the URL's path, without slashes at its end.
func pathOf(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	if i := strings.Index(url, "://"); i >= 0 {
		url = url[i+len("://"):]
		slash := strings.IndexByte(url, '/')
		if slash < 0 {
			return ""
		}
		url = url[slash:]
	}
	return strings.TrimRight(url, "/")
}

func byPath(path string) wire.API {
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch method := last[strings.LastIndexByte(last, ':')+1:]; method {
	case "generateContent", "streamGenerateContent":
		return wire.GeminiGenerate
	case "rawPredict", "streamRawPredict": // Claude on Vertex AI
		if strings.Contains(path, "/publishers/anthropic/") {
			return wire.AnthropicMessages
		}
	case "messages":
		if !strings.Contains(path, "/threads/") { // of the Assistants API
			return wire.AnthropicMessages
		}
	case "completions":
		if strings.HasSuffix(path, "chat/completions") {
			return wire.OpenAIChat
		}
	case "responses":
		return wire.OpenAIResponses
	}
	return ""
}

// others are ends of paths of which the body's shape must not be asked: they
// carry bodies that look alike.
var others = [...]string{
	// the same vendors' other endpoints
	"/embeddings", "/completions", "/count_tokens", "/input_tokens", "/batches", "/files", "/models",
	"/moderations", "/generations", "/edits", "/speech", "/transcriptions", "/translations", "/rerank",
	"/messages", "/runs", "/threads", "/assistants", "/interactions", "/compact", "/cancel",
	":countTokens", ":embedContent", ":batchEmbedContents", ":batchGenerateContent", ":predict", ":predictLongRunning",
	":rawPredict", ":streamRawPredict",
	// APIs with messages of their own: Ollama, Cohere, Bedrock
	"/api/chat", "/api/generate", "/api/embed", "/v1/chat", "/v2/chat",
	"/converse", "/converse-stream", "/invoke", "/invoke-with-response-stream",
	"/predictions", "/completions/stream",
}

func otherEndpoint(path string) bool {
	for _, end := range others {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return strings.Contains(path, "/batches/") || strings.Contains(path, "/files/") || strings.Contains(path, "/responses/")
}

// shape are the marks by which bodies of the APIs are told apart.
type shape struct {
	contents, messages, model, input bool
	turns                            bool // input is a list of items
	anthropic, responses             bool // members that only this API has
}

func byBody(body []byte) wire.API {
	if !rawjson.Valid(body) {
		return ""
	}
	var s shape
	c := rawjson.New(body)
	if c.Kind() != '{' {
		return ""
	}
	for c.Object(); c.More(); {
		name := c.Name()
		s.member(string(name), c.Value())
	}
	switch {
	case s.contents:
		return wire.GeminiGenerate
	case s.messages && s.anthropic:
		return wire.AnthropicMessages
	case s.messages && s.model:
		return wire.OpenAIChat
	case s.input && s.model && (s.turns || s.responses):
		return wire.OpenAIResponses
	}
	return ""
}

func (s *shape) member(name string, v jsontext.Value) {
	switch name {
	case "contents":
		s.contents = v[0] == '['
	case "messages":
		s.messages = v[0] == '['
	case "model":
		s.model = v[0] == '"'
	case "input":
		s.input, s.turns = v[0] == '"' || v[0] == '[', listOfObjects(v)
	case "anthropic_version", "stop_sequences", "system":
		s.anthropic = true
	case "tools":
		first := firstObject(v)
		s.anthropic = s.anthropic || rawjson.Get(first, "input_schema") != nil
	case "instructions", "max_output_tokens", "previous_response_id", "reasoning":
		s.responses = true
	}
}

func listOfObjects(v jsontext.Value) bool { return firstObject(v) != nil }

// firstObject is a list's first element, if that is an object.
func firstObject(v jsontext.Value) jsontext.Value {
	if v[0] != '[' {
		return nil
	}
	c := rawjson.New(v)
	c.Array()
	if !c.More() || c.Kind() != '{' {
		return nil
	}
	return c.Value()
}

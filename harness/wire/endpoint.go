package wire

import (
	"net/http"
	"strings"
)

// Endpoint is where an API's path lies below a base URL.
//
// A query of the base URL (?api-version=…) goes with every request. The API's
// version is left out where the base URL has one of its own: it ends in the same
// version, or, on Vertex AI, in a publisher.
func Endpoint(base, path string) string {
	base, always, _ := strings.Cut(base, "?")
	base = strings.TrimSuffix(base, "/")
	if version, rest := cutVersion(path); strings.HasSuffix(base, version) || publisher(base) {
		path = rest
	}
	switch {
	case always == "":
		return base + path
	case strings.Contains(path, "?"):
		return base + path + "&" + always
	}
	return base + path + "?" + always
}

// cutVersion splits /v1 or /v1beta off the front of a path; "" when there is
// none.
func cutVersion(path string) (version, rest string) {
	end := strings.IndexByte(path[1:], '/') + 1
	if end < 3 || path[1] != 'v' || path[2] < '0' || path[2] > '9' {
		return "/", path // no base URL ends in a slash here
	}
	return path[:end], path[end:]
}

// publisher tells a base URL such as
// https://HOST/v1/projects/P/locations/L/publishers/google.
func publisher(base string) bool {
	i := strings.LastIndexByte(base, '/')
	return i > 0 && strings.HasSuffix(base[:i], "/publishers")
}

// PlaceSystem puts system texts into a request where the API has them: beside the
// messages, or, for the OpenAI APIs, as messages of their own.
func PlaceSystem(api API, r *Request, system []Block) {
	if api == AnthropicMessages || api == GeminiGenerate {
		r.System = system
		return
	}
	for _, b := range system {
		r.Messages = append(r.Messages, Message{Role: RoleSystem, Blocks: []Block{b}})
	}
}

// SetHeaders sets the headers without which the API does not answer, but for the
// key.
func SetHeaders(api API, h http.Header) {
	h["Content-Type"] = []string{"application/json"}
	if api == AnthropicMessages {
		h["Anthropic-Version"] = []string{"2023-06-01"}
	}
}

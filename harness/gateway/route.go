package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Where each provider's API is.
const (
	anthropicPath = "/anthropic"
	openAIPath    = "/openai/v1"
	geminiPath    = "/gemini"
	toolsPath     = "/mcp"
)

// target is where a request goes.
type target struct {
	api wire.API // that of the provider, in whose form errors are told
	url *url.URL
}

// route finds where a request goes; false for a path that is no API's.
func (s *Server) route(r *http.Request) (target, bool) {
	path := r.URL.EscapedPath()
	api, rest, ok := prefixed(path)
	if !ok {
		if api, ok = guess(r, path); !ok {
			return target{}, false
		}
		rest = path
	}
	if exact, ok := codec.Detect(r.Method, rest, nil); ok && sameProvider(exact, api) {
		api = exact
	}
	u, err := url.Parse(s.bases[api] + versioned(api, rest))
	if err != nil {
		return target{}, false
	}
	u.RawQuery = withoutKey(r.URL.RawQuery)
	return target{api, u}, true
}

// prefixed takes the provider's name off a path.
func prefixed(path string) (api wire.API, rest string, ok bool) {
	for _, p := range [...]struct {
		name string
		api  wire.API
	}{{anthropicPath, wire.AnthropicMessages}, {"/openai", wire.OpenAIChat}, {geminiPath, wire.GeminiGenerate}} {
		if rest, ok := strings.CutPrefix(path, p.name); ok && strings.HasPrefix(rest, "/") {
			return p.api, rest, true
		}
	}
	return "", "", false
}

// guess tells whose a path without a prefix is: by its end, else by where the
// client has put its key.
func guess(r *http.Request, path string) (wire.API, bool) {
	if api, ok := codec.Detect(r.Method, path, nil); ok {
		return api, true
	}
	switch {
	case strings.HasPrefix(path, "/v1beta"), r.Header.Get("X-Goog-Api-Key") != "":
		return wire.GeminiGenerate, true
	case !strings.HasPrefix(path, "/v1/"):
		return "", false
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "":
		return wire.AnthropicMessages, true
	case r.Header.Get("Authorization") != "":
		return wire.OpenAIChat, true
	}
	return "", false
}

func sameProvider(a, b wire.API) bool {
	openAI := func(api wire.API) bool { return api == wire.OpenAIChat || api == wire.OpenAIResponses }
	return a == b || openAI(a) && openAI(b)
}

// versioned is the path behind the base URL: OpenAI's has the version already,
// others' have it in the path, and some SDKs want it in the base URL that they are
// given.
func versioned(api wire.API, path string) string {
	switch api {
	case wire.AnthropicMessages:
		if !strings.HasPrefix(path, "/v1/") {
			return "/v1" + path
		}
	case wire.GeminiGenerate:
		if !strings.HasPrefix(path, "/v1") && !strings.HasPrefix(path, "/upload/") {
			return "/v1beta" + path
		}
	default:
		return strings.TrimPrefix(path, "/v1")
	}
	return path
}

// withoutKey is a query without an API key.
func withoutKey(query string) string {
	if !strings.Contains(query, "key=") {
		return query
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if !strings.HasPrefix(pair, "key=") {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

package cassette

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// keptHeaders are what a recording may have of headers: what a client or a reader
// acts on and tells nothing of who asked. An ending of - stands for any that begin
// like it.
var keptHeaders = []string{
	"Accept", "Content-Type", "Content-Encoding", "Content-Length", "User-Agent", "Date", "Location", "Allow",
	"Retry-After", "Retry-After-", "X-Should-Retry", "X-Stainless-", "X-Ratelimit-", "Ratelimit-",
	"Request-Id", "X-Request-Id", "X-Retake-",
	"Anthropic-Version", "Anthropic-Beta", "Anthropic-Ratelimit-", "Anthropic-Priority-",
	"Openai-Beta", "Openai-Version", "Openai-Processing-Ms", "Openai-Model",
	"X-Goog-Api-Client", "X-Gemini-Service-Tier", "Server-Timing",
}

// credentials are headers that no rule can keep.
var credentials = []string{
	"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Set-Cookie", "X-Amz-Security-Token",
}

func allowed(name string) bool {
	return slices.ContainsFunc(keptHeaders, func(k string) bool {
		return name == k || strings.HasSuffix(k, "-") && strings.HasPrefix(name, k)
	})
}

// counts tells whether a header may be written, and so count in matching where it
// is asked to.
func (r *rules) counts(name string) bool {
	return !slices.Contains(credentials, name) && !slices.Contains(r.headers, name)
}

// header is a copy of h with what may be written; also names headers that are kept
// besides those that always are.
func (r *rules) header(h http.Header, also []string) http.Header {
	out := http.Header{}
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		if !r.counts(name) || !allowed(name) && !slices.Contains(also, name) {
			continue
		}
		values = slices.Clone(values)
		if name == "Location" {
			for i, v := range values {
				values[i] = r.address(v)
			}
		}
		out[name] = append(out[name], values...)
	}
	return out
}

// address redacts a URL in a text; one that cannot be read is not kept.
func (r *rules) address(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return redacted
	}
	return r.url(u).String()
}

package fault

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// overloaded is the provider that has no room: 529 at Anthropic, 503 at the
// others, each with its own body. In real life it comes in bursts, and retries at
// several layers (the SDK's, the loop's, the job's) multiply. A right loop makes a
// bounded number of attempts in all.
var overloaded = Fault{
	Name:    "model.overloaded",
	What:    "the provider is overloaded: 529 at Anthropic, 503 at OpenAI and Gemini",
	Breaks:  "it comes in bursts, and the retries of SDK, loop and job multiply",
	Right:   "a bounded number of attempts in all, with growing waits",
	Retried: true,
	model: func(s *strike) (*http.Response, error) {
		e := &wire.APIError{Status: http.StatusServiceUnavailable, Type: "server_error", Message: "The server is overloaded. Please try again later."}
		switch s.api() {
		case wire.AnthropicMessages:
			e = &wire.APIError{Status: statusOverloaded, Type: "overloaded_error", Message: "Overloaded"}
		case wire.GeminiGenerate:
			e = &wire.APIError{Status: http.StatusServiceUnavailable, Type: "UNAVAILABLE", Message: "The model is overloaded. Please try again later."}
		default:
		}
		return s.fail(e, nil)
	},
}

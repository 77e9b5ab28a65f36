package fault

import "net/http"

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
	model:   func(s *strike) (*http.Response, error) { return s.fail(s.overloadStatus(), nil) },
}

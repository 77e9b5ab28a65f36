package fault

import "net/http"

// serverError is a defect at the provider. In real life it comes in bursts, like
// an overload, and nobody knows whether the request was worked on. A right loop
// tries again, a bounded number of times in all.
var serverError = Fault{
	Name:    "model.server_error",
	What:    "the provider answers with status 500 and its own error",
	Breaks:  "the run ends at the first hiccup, or the retries of SDK, loop and job multiply",
	Right:   "a bounded number of attempts in all, with growing waits",
	Retried: true,
	model:   func(s *strike) (*http.Response, error) { return s.fail(http.StatusInternalServerError, nil) },
}

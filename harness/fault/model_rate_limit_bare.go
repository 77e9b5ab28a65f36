package fault

import "net/http"

// rateLimitBare is a quota that is used up, and no word on when there is more. In
// real life clients without a time to wait for try again at once, all together. A
// right loop waits longer after each attempt, and makes a bounded number of them.
var rateLimitBare = Fault{
	Name:    "model.rate_limit_bare",
	What:    "the provider answers 429 and does not say how long to wait",
	Breaks:  "retries at once, which keep the quota used up",
	Right:   "a bounded number of attempts with growing waits",
	Retried: true,
	model:   func(s *strike) (*http.Response, error) { return s.fail(http.StatusTooManyRequests, nil) },
}

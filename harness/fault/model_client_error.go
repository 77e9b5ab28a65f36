package fault

import (
	"cmp"
	"net/http"
)

// clientError is a request that the provider refuses: a wrong key, a model that is
// gone, a conversation that has grown too large. In real life a loop that retries
// everything sends it again until its budget is gone. A right loop does not try
// again, and says once what the provider said.
var clientError = Fault{
	Name:   "model.client_error",
	What:   "the provider refuses the request for good: 400, 401, 403, 404, 413 or the like, with its own error",
	Breaks: "the same refused request is sent again and again",
	Right:  "no retry; the refusal is told once",
	Takes:  []Param{{"status", "400"}},
	model: func(s *strike) (*http.Response, error) {
		return s.fail(cmp.Or(s.params().Status, http.StatusBadRequest), nil)
	},
}

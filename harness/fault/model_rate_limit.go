package fault

import (
	"net/http"
	"strconv"
	"time"
)

// rateLimit is a quota that is used up, with the time after which there is more. In
// real life the time is ignored and the quota never recovers, or it is obeyed
// without a cap and a run sleeps for an hour. A right loop waits that long, or
// gives up where it is longer than its policy allows.
var rateLimit = Fault{
	Name:    "model.rate_limit",
	What:    "the provider answers 429 and says in Retry-After how long to wait",
	Breaks:  "the wait is ignored, or obeyed however long it is",
	Right:   "wait at least that long; over the policy's cap end as rate_limited",
	Takes:   []Param{{"retry_after", "2s"}},
	Retried: true,
	model: func(s *strike) (*http.Response, error) {
		d := orDefault(s.params().RetryAfter, defaultRetryAfter)
		seconds := int64((d + time.Second - 1) / time.Second)
		return s.fail(http.StatusTooManyRequests, http.Header{"Retry-After": {strconv.FormatInt(seconds, 10)}})
	},
}

const defaultRetryAfter = 2 * time.Second

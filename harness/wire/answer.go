package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/failure"
)

// Text is the answer's text: its text and refusal blocks, one after the other.
func (r *Response) Text() string {
	var parts []string
	for _, b := range r.Message.Blocks {
		if (b.Kind == KindText || b.Kind == KindRefusal) && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "")
}

// ClassOf files what came of one attempt, as DecodeResponse gave it: None when
// the answer may be acted upon.
func ClassOf(r *Response, err error) failure.Class {
	switch {
	case err != nil:
		return failure.Of(err)
	case r.Err != nil:
		return r.Err.Class()
	case r.Complete:
		return failure.None
	case r.has(ProblemBadEvent) && !r.has(ProblemNoTerminal):
		return failure.Protocol
	}
	return failure.Truncated
}

func (r *Response) has(kind ProblemKind) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind == kind })
}

// Total adds up what the answer cost in tokens; figures that were not reported
// count 0. In the neutral accounting Output includes Reasoning.
func (u Usage) Total() int64 {
	var n int64
	for _, p := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		if p != nil {
			n += *p
		}
	}
	return n
}

// Class files the error: by a type or code that says more than a status, else by
// its status, and inside a stream, whose status is 200, by its type.
func (e *APIError) Class() failure.Class {
	for _, word := range [...]string{e.Type, e.Code} {
		switch strings.ToLower(word) {
		case "overloaded_error", "overloaded", "unavailable", "server_overloaded", "server_is_overloaded":
			return failure.Overloaded
		case "rate_limit_error", "rate_limit_exceeded", "resource_exhausted":
			return failure.RateLimited
		case "authentication_error", "permission_error", "invalid_api_key", "unauthenticated", "permission_denied":
			return failure.Unauthorized
		case "timeout_error", "deadline_exceeded":
			return failure.Timeout
		}
	}
	if e.Status >= http.StatusBadRequest {
		return StatusClass(e.Status)
	}
	switch strings.ToLower(e.Type) {
	case "api_error", "server_error", "internal", "internal_error", "internal_server_error":
		return failure.ServerError
	case "invalid_request_error", "not_found_error", "billing_error", "request_too_large", "invalid_argument":
		return failure.ClientError
	}
	return StatusClass(e.Status)
}

// StatusClass files a failed HTTP status; a status below 400 is a protocol
// error, since a failure came with it.
func StatusClass(status int) failure.Class {
	switch {
	case status < 400:
		return failure.Protocol
	case status == 401, status == 403:
		return failure.Unauthorized
	case status == 408, status == 504:
		return failure.Timeout
	case status == 429:
		return failure.RateLimited
	case status == 503, status == 529:
		return failure.Overloaded
	case status >= 500:
		return failure.ServerError
	}
	return failure.ClientError
}

// RetryAfter is how long an answer asks to wait: Retry-After-Ms, else
// Retry-After in seconds; 0 when it does not say. A date is not read, since a
// replayed one would be long past.
func RetryAfter(h http.Header) time.Duration {
	if ms := number(h.Get("Retry-After-Ms")); ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if s := number(h.Get("Retry-After")); s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	return 0
}

// number reads a header's figure; 0 when there is none.
func number(text string) float64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	const most = 1e9 // thirty years of seconds, which a Duration still holds
	return min(n, most)
}

// Add adds v to u; a figure that neither reports stays unreported.
func (u *Usage) Add(v Usage) {
	add := func(a **int64, b *int64) {
		if b == nil {
			return
		}
		n := *b
		if *a != nil {
			n += **a
		}
		*a = &n
	}
	add(&u.Input, v.Input)
	add(&u.CacheRead, v.CacheRead)
	add(&u.CacheWrite, v.CacheWrite)
	add(&u.Output, v.Output)
	add(&u.Reasoning, v.Reasoning)
}

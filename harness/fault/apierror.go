package fault

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// statusLine is the status as HTTP/1.1 spells it.
func statusLine(status int) string {
	text := http.StatusText(status)
	if status == statusOverloaded {
		text = "Overloaded"
	}
	return fmt.Sprintf("%d %s", status, text)
}

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

// api is the API that the request speaks; "" for one that no codec knows.
func (s *strike) api() wire.API {
	api, _ := codec.Detect(s.req.Method, s.req.URL.String(), s.body)
	return api
}

// overloadStatus is the status with which the provider says that it has no room.
func (s *strike) overloadStatus() int {
	if s.api() == wire.AnthropicMessages {
		return statusOverloaded
	}
	return http.StatusServiceUnavailable
}

// fail answers with a provider's error in the provider's own form.
func (s *strike) fail(status int, header http.Header) (*http.Response, error) {
	e := s.apiError(status)
	c, ok := codec.For(s.api())
	if !ok {
		return s.reply(status, header, []byte(`{"error":{"message":`+strconv.Quote(e.Message)+`}}`)), nil
	}
	text, err := c.EncodeResponse(nil, &wire.Response{Err: e}, false)
	if err != nil {
		return nil, err
	}
	return s.reply(status, header, text), nil
}

// apiError is the provider's error of a status: its type and code as the API's
// reference has them, its message in words of our own.
func (s *strike) apiError(status int) *wire.APIError {
	e := &wire.APIError{Status: status, Message: errorMessage(status)}
	switch s.api() {
	case wire.AnthropicMessages:
		e.Type = anthropicError(status)
	case wire.GeminiGenerate:
		e.Type, e.Code = geminiError(status), strconv.Itoa(status)
	default:
		e.Type, e.Code = openaiError(status)
	}
	return e
}

func errorMessage(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The request is not valid."
	case http.StatusUnauthorized:
		return "The API key is not valid."
	case http.StatusForbidden:
		return "The API key may not use this resource."
	case http.StatusNotFound:
		return "The model was not found."
	case http.StatusRequestEntityTooLarge:
		return "The request is too large."
	case http.StatusTooManyRequests:
		return "Too many requests. Please try again later."
	case http.StatusServiceUnavailable, statusOverloaded:
		return "The model is overloaded. Please try again later."
	}
	if status < http.StatusInternalServerError {
		return "The request was refused."
	}
	return "The server could not answer."
}

func anthropicError(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case statusOverloaded:
		return "overloaded_error"
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}

func openaiError(status int) (kind, code string) {
	switch status {
	case http.StatusUnauthorized:
		return "invalid_request_error", "invalid_api_key"
	case http.StatusForbidden:
		return "request_forbidden", "unsupported_country_region_territory"
	case http.StatusNotFound:
		return "invalid_request_error", "model_not_found"
	case http.StatusTooManyRequests:
		return "requests", "rate_limit_exceeded"
	case http.StatusServiceUnavailable:
		return "server_error", "server_is_overloaded"
	}
	if status >= http.StatusInternalServerError {
		return "server_error", "server_error"
	}
	return "invalid_request_error", ""
}

func geminiError(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	if status >= http.StatusInternalServerError {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

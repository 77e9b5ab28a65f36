package standin

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// usual is what a provider says with a status.
func usual(api wire.API, status int) wire.APIError {
	e := wire.APIError{Status: status, Message: http.StatusText(status)}
	switch api {
	case wire.AnthropicMessages:
		e.Type = anthropicType(status)
	case wire.GeminiGenerate:
		e.Type = geminiStatus(status)
	default:
		e.Type, e.Code = openAIType(status)
	}
	if status == http.StatusUnauthorized {
		e.Message = "the request brings no valid API key"
	}
	if e.Message == "" {
		e.Message = "Overloaded" // net/http has no word for 529
	}
	return e
}

func anthropicType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case 529, http.StatusServiceUnavailable:
		return "overloaded_error"
	default:
		return "api_error"
	}
}

func geminiStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	case 529, http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	default:
		return "INTERNAL"
	}
}

func openAIType(status int) (kind, code string) {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound:
		return "invalid_request_error", ""
	case http.StatusUnauthorized:
		return "invalid_request_error", "invalid_api_key"
	case http.StatusTooManyRequests:
		return "requests", "rate_limit_exceeded"
	default:
		return "server_error", ""
	}
}

package httptool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// Codes of what only a status tells.
const (
	CodeUnauthorized = "UNAUTHORIZED"
	CodeForbidden    = "FORBIDDEN"
	CodeNotFound     = "NOT_FOUND"
	CodeConflict     = "CONFLICT"
	CodeRefused      = "REQUEST_REFUSED"
)

// result reads an answer that came.
func (t *Tool) result(res *http.Response, body []byte) tool.Result {
	failed := res.StatusCode >= http.StatusBadRequest
	if e, ok := tool.Reported(body, failed); ok {
		if failed {
			e.Detail = res.Status
			e.Class = classOf(res.StatusCode, e.Class)
		}
		return tool.Result{Err: e}
	}
	if res.StatusCode/100 == 2 {
		return tool.Result{Content: string(body)}
	}
	e := ofStatus(res.StatusCode)
	e.Detail = res.Status
	if len(body) > 0 {
		e.Detail += ": " + t.secrets.Text(string(body[:min(len(body), maxDetail)]))
	}
	return tool.Result{Err: e}
}

// classOf is the class of an error that has a code of the tool's own, where its
// status says more.
func classOf(status int, ofCode failure.Class) failure.Class {
	if ofCode != failure.ToolFailed {
		return ofCode
	}
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusConflict, http.StatusNotFound:
		return ofCode // a business error, whatever the code is called
	}
	return ofStatus(status).Class
}

// ofStatus is what a status alone tells.
func ofStatus(status int) *tool.Error {
	switch status {
	case http.StatusUnauthorized:
		return &tool.Error{Code: CodeUnauthorized, Message: "the tool does not accept the host's credentials", Class: failure.ToolFailed}
	case http.StatusForbidden:
		return &tool.Error{Code: CodeForbidden, Message: "the tool does not allow this", Class: failure.ToolFailed}
	case http.StatusNotFound:
		return &tool.Error{Code: CodeNotFound, Message: "there is no such thing", Class: failure.ToolFailed}
	case http.StatusConflict:
		return &tool.Error{Code: CodeConflict, Message: "the call conflicts with what is there", Class: failure.ToolFailed}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return &tool.Error{Code: tool.CodeValidation, Message: "the tool does not accept these arguments", Class: failure.ToolInvalidArguments}
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return timedOut()
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return &tool.Error{Code: tool.CodeUnavailable, Message: "the tool is not available right now", Retryable: true, Class: failure.ToolUnavailable}
	}
	if status >= http.StatusInternalServerError {
		return &tool.Error{Code: tool.CodeUpstream, Message: "the tool failed", Retryable: true, Class: failure.ToolUnavailable}
	}
	return &tool.Error{Code: CodeRefused, Message: "the tool refused the call", Class: failure.ToolFailed}
}

func timedOut() *tool.Error {
	return &tool.Error{Code: tool.CodeTimeout, Message: "the tool did not answer in time", Retryable: true, Class: failure.ToolTimeout}
}

func (t *Tool) tooLong() *tool.Error {
	return &tool.Error{
		Code: tool.CodeBadOutput, Message: "the tool's answer is too long", Class: failure.ToolBadOutput,
		Detail: fmt.Sprintf("more than %d bytes", t.endpoint.MaxAnswer),
	}
}

// broken is the error of a request without an answer. Only when nothing was sent
// (unreached) it is certain that nothing has happened.
func (t *Tool) broken(ctx context.Context, unreached bool, err error) tool.Result {
	e := &tool.Error{Code: tool.CodeUpstream, Message: "the tool broke off", Retryable: true, Class: failure.ToolUnavailable}
	elsewhere := new(elsewhereError)
	switch {
	case errors.As(err, &elsewhere):
		e = &tool.Error{Code: tool.CodeUnavailable, Message: "the tool is not available", Class: failure.ToolUnavailable}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e = timedOut()
	case errors.Is(ctx.Err(), context.Canceled):
		e = &tool.Error{Code: tool.CodeCancelled, Message: "the call was cancelled", Class: failure.ToolUnavailable}
	case unreached:
		e = &tool.Error{Code: tool.CodeUnavailable, Message: "the tool is not available", Retryable: true, Class: failure.ToolUnavailable}
	}
	e.Detail = t.detail(err)
	return tool.Result{Err: e}
}

// unreached tells that no connection was made.
func unreached(err error) bool {
	op := new(net.OpError)
	return errors.As(err, &op) && op.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED)
}

func asURLError(err error, to **url.Error) bool { return errors.As(err, to) }

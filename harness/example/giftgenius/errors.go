package giftgenius

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The codes of errors.
const (
	CodeValidation  = "VALIDATION_ERROR"
	CodeNotFound    = "NOT_FOUND"
	CodeDiscont     = "DISCONTINUED"
	CodeDailyLimit  = "DAILY_LIMIT"
	CodeKeyReused   = "IDEMPOTENCY_KEY_REUSED"
	CodeKeyInUse    = "IDEMPOTENCY_KEY_IN_USE"
	CodeExpired     = "DRAFT_EXPIRED"
	CodeChanged     = "DRAFT_CHANGED"
	CodeSpent       = "DRAFT_ALREADY_ORDERED"
	CodeUnconfirmed = "CONFIRMATION_MISMATCH"
	CodePayment     = "PAYMENT_PROVIDER_ERROR"
	CodePartly      = "PARTLY_SENT"
	CodeInternal    = "INTERNAL_ERROR"
)

// Error is a tool's error as the model reads it: {"ok":false,"error":{code,
// message, retryable}}.
type Error struct {
	Code      string
	Message   string // clean: no path, query, address, name of a table
	Retryable bool   // the same call may succeed later
	Detail    error  // for the log alone; nil: nothing to add
	With      any    // further members beside "error", as a struct or map; nil: none
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap gives the detail.
func (e *Error) Unwrap() error { return e.Detail }

// refusal is an error that stays one however often the call is repeated.
func refusal(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// asError makes of any failure one that may be shown. What nobody foresaw is an
// internal error, its text kept for the log.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{
		Code: CodeInternal, Message: "the shop could not do that just now; repeat the call unchanged, with the same idempotency_key if it has one",
		Retryable: true, Detail: err,
	}
}

// body is the error as JSON.
func (e *Error) body() json.RawMessage {
	members := map[string]any{}
	if e.With != nil {
		text, err := json.Marshal(e.With)
		if err == nil {
			err = json.Unmarshal(text, &members)
		}
		if err != nil {
			panic(err) // our own structs of strings and numbers
		}
	}
	members["ok"] = false
	members["error"] = map[string]any{"code": e.Code, "message": e.Message, "retryable": e.Retryable}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return text
}

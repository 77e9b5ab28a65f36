package giftgenius

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The codes of errors.
const (
	CodeValidation   = "VALIDATION_ERROR"
	CodeNotFound     = "NOT_FOUND"
	CodeDiscontinued = "DISCONTINUED"
	CodeDailyLimit   = "DAILY_LIMIT"
	CodeKeyReused    = "IDEMPOTENCY_KEY_REUSED"
	CodeKeyInUse     = "IDEMPOTENCY_KEY_IN_USE"
	CodeExpired      = "DRAFT_EXPIRED"
	CodeChanged      = "DRAFT_CHANGED"
	CodeSpent        = "DRAFT_ALREADY_ORDERED"
	CodeUnconfirmed  = "CONFIRMATION_MISMATCH"
	CodePayment      = "PAYMENT_PROVIDER_ERROR"
	CodePartly       = "PARTLY_SENT"
	CodeInternal     = "INTERNAL_ERROR"
)

// Error is a tool's error as the model reads it: {"ok":false,"error":{code,
// message, retryable}}.
type Error struct {
	Code      string
	Message   string     // clean: no path, query, address, name of a table
	Retryable bool       // the same call may succeed later
	Detail    error      // for the log alone; nil: nothing to add
	Part      *sentCards // of a batch that was partly done: which items are, and which are not; else nil
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
	type shown struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Retryable bool   `json:"retryable"`
	}
	out := struct {
		OK     bool       `json:"ok"`
		Error  shown      `json:"error"`
		Sent   []sentCard `json:"sent,omitempty"`
		Failed []int      `json:"failed,omitempty"`
	}{Error: shown{Code: e.Code, Message: e.Message, Retryable: e.Retryable}}
	if e.Part != nil {
		out.Sent, out.Failed = e.Part.Sent, e.Part.Failed
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // strings and numbers
	}
	return text
}

package tool

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness/failure"
)

// reported is the form of an error, as a tool writes it.
type reported struct {
	OK    *bool `json:"ok"`
	Error *said `json:"error"`
	said  `json:",embed"`
}

type said struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Reported reads an error that a tool has written in the form that it is shown
// to the model in: {"ok":false,"error":{"code":…,"message":…,"retryable":…}}. Of
// an answer that is known to be an error (failed) the inner object alone will do.
// Its class follows from its code. ok is false for any other text.
func Reported(text []byte, failed bool) (e *Error, ok bool) {
	var r reported
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, false //nolint:nilerr // that it is another text is no error
	}
	what := &r.said
	switch {
	case r.OK != nil && *r.OK:
		return nil, false
	case r.Error != nil && (r.OK != nil || failed):
		what = r.Error
	case !failed:
		return nil, false
	}
	if what.Code == "" {
		return nil, false
	}
	return &Error{
		Code: what.Code, Message: cmp.Or(what.Message, "the tool failed"), Retryable: what.Retryable,
		Class: ClassOfCode(what.Code),
	}, true
}

// ClassOfCode files an error by its code: one that retake gives has its class,
// any other is the tool's own affair.
func ClassOfCode(code string) failure.Class {
	switch code {
	case CodeValidation:
		return failure.ToolInvalidArguments
	case CodeTimeout:
		return failure.ToolTimeout
	case CodeUnavailable, CodeUpstream, CodeCancelled:
		return failure.ToolUnavailable
	case CodeBadOutput:
		return failure.ToolBadOutput
	case CodeNotApproved:
		return failure.ToolNotApproved
	case CodeBlocked:
		return failure.ToolBlocked
	case CodeUnknownTool:
		return failure.UnknownTool
	}
	return failure.ToolFailed
}

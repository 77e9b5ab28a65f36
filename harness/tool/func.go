package tool

import (
	"context"
	"errors"

	"github.com/retake-harness/retake/harness/failure"
)

// Func makes an executor of a Go func that gets the arguments as JSON and
// returns the text that the model reads. An error that is, or wraps, an *Error
// is passed on as it is; any other is told to the model as UPSTREAM_ERROR
// without its text, which stays in the log.
func Func(f func(ctx context.Context, args []byte) (string, error)) Executor {
	return ExecutorFunc(func(ctx context.Context, c Call) (Result, error) {
		text, err := f(ctx, c.Args)
		if err == nil {
			return Result{Content: text}, nil
		}
		return Result{Err: asError(err)}, nil
	})
}

func asError(err error) *Error {
	var own *Error
	switch {
	case errors.As(err, &own):
		e := *own
		if e.Class == failure.None {
			e.Class = failure.ToolFailed
		}
		return &e
	case errors.Is(err, context.DeadlineExceeded):
		return timeoutError(err.Error())
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCancelled, Message: "the call was cancelled", Class: failure.ToolUnavailable, Detail: err.Error()}
	}
	return &Error{
		Code: CodeUpstream, Message: "the tool failed", Retryable: true,
		Class: failure.ToolUnavailable, Detail: err.Error(),
	}
}

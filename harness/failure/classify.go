package failure

import (
	"context"
	"errors"
)

// Classify gives the error of an HTTP attempt its class, unless it has one:
// timeout for a deadline, interrupted for a cancellation, transport otherwise.
func Classify(err error) error {
	var own *Error
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case errors.Is(err, context.Canceled):
		return Wrap(Interrupted, err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Wrap(Timeout, err)
	}
	return Wrap(Transport, err)
}

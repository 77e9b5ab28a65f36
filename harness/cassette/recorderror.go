package cassette

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
)

// transportErrorOf files an error of a transport; transportError makes it again.
func transportErrorOf(err error) *TransportError {
	if u, ok := errors.AsType[*url.Error](err); ok { // its text has the address, with its query
		err = u.Err
	}
	return &TransportError{Kind: kindOf(err), Message: err.Error()}
}

func kindOf(err error) TransportKind {
	var timeout interface{ Timeout() bool }
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return TransportCancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return TransportTimeout
	case errors.As(err, &dns):
		return TransportDNS
	case errors.Is(err, syscall.ECONNREFUSED):
		return TransportRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EPIPE):
		return TransportReset
	case errors.Is(err, io.ErrUnexpectedEOF):
		return TransportCut
	case errors.Is(err, io.EOF):
		return TransportClosed
	}
	return TransportOther
}

// otherError is a failure of the transport that has no kind of its own.
type otherError string

func (e otherError) Error() string   { return string(e) }
func (e otherError) Timeout() bool   { return false }
func (e otherError) Temporary() bool { return false }

package cassette

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// answer makes a recorded response, or the recorded error of the transport.
func answer(req *http.Request, in *Interaction, wait func(context.Context, time.Duration) error) (*http.Response, error) {
	broken := transportError(in.Notes)
	pace := paceOf(in)
	if wait != nil {
		if err := wait(req.Context(), pace.first()); err != nil {
			return nil, err
		}
	}
	a := &in.Response
	if broken != nil && a.Code == 0 {
		return nil, broken
	}
	if broken == nil && in.Notes != nil && in.Notes.Complete != nil && !*in.Notes.Complete {
		broken = io.ErrUnexpectedEOF // the client has left there: what was to come is not known
	}
	body := &replayBody{rest: a.Body, end: broken, size: len(a.Body)}
	if wait != nil && len(pace.steps) > 1 {
		body.pace, body.wait, body.ctx = pace.steps, wait, req.Context()
	}
	resp := &http.Response{
		Status: a.Status, StatusCode: a.Code,
		Proto: a.Proto, ProtoMajor: a.ProtoMajor, ProtoMinor: a.ProtoMinor,
		Header:           a.Header.HTTP(),
		Body:             body,
		ContentLength:    int64(len(a.Body)),
		TransferEncoding: append([]string(nil), a.TransferEncoding...),
		Uncompressed:     a.Uncompressed,
		Request:          req,
	}
	if a.ContentLength < 0 || broken != nil {
		resp.ContentLength = a.ContentLength
	}
	if len(a.Trailer) > 0 {
		resp.Trailer = a.Trailer.HTTP()
	}
	fillIn(resp)
	return resp, nil
}

// fillIn supplies what a hand-written recording may leave out.
func fillIn(resp *http.Response) {
	if resp.Status == "" {
		resp.Status = fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if resp.Proto == "" {
		resp.Proto, resp.ProtoMajor, resp.ProtoMinor = "HTTP/1.1", 1, 1
	}
}

// transportError is the error that the recorded exchange ended in; nil for
// none.
func transportError(n *Notes) error {
	if n == nil || n.Transport == nil {
		return nil
	}
	switch n.Transport.Kind {
	case TransportReset:
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case TransportRefused:
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case TransportTimeout:
		return &net.OpError{Op: "read", Net: "tcp", Err: timeout{}}
	case TransportCut:
		return io.ErrUnexpectedEOF
	case TransportDNS:
		return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}
	case TransportClosed:
		return io.EOF
	case TransportCancelled:
		return context.Canceled
	case TransportOther:
	}
	return otherError(n.Transport.Message)
}

// timeout is what a deadline looks like to a client: net.Error with Timeout,
// equal to context.DeadlineExceeded and os.ErrDeadlineExceeded.
type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }
func (timeout) Is(target error) bool {
	return target == context.DeadlineExceeded || target == os.ErrDeadlineExceeded
}

// pace is when the parts of a body arrive.
type pace struct {
	total time.Duration
	steps []step
}

// step says that the body has bytes up to end at a time since the request.
type step struct {
	end int
	at  time.Duration
}

func paceOf(in *Interaction) pace {
	p := pace{total: in.Response.Duration}
	if in.Notes == nil {
		return p
	}
	for _, c := range in.Notes.Chunks {
		p.steps = append(p.steps, step{c.Bytes, time.Duration(c.Micros) * time.Microsecond})
	}
	if n := len(p.steps); n > 0 && p.steps[n-1].at < p.total {
		p.steps = append(p.steps, step{len(in.Response.Body), p.total})
	}
	return p
}

// first is the time until the answer begins.
func (p pace) first() time.Duration {
	if len(p.steps) > 0 {
		return p.steps[0].at
	}
	return p.total
}

// replayBody reads recorded bytes, at their pace, and then ends in end or EOF.
// It has no WriteTo: that would hand the recording itself to a writer.
type replayBody struct {
	rest   []byte
	size   int
	end    error
	closed bool

	pace []step // pace[0] has arrived
	wait func(context.Context, time.Duration) error
	ctx  context.Context
}

func (b *replayBody) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	arrived, err := b.arrive()
	switch {
	case err != nil:
		return 0, err
	case len(b.rest) == 0 && b.end != nil:
		return 0, b.end
	case len(b.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, b.rest[:arrived])
	b.rest = b.rest[n:]
	return n, nil
}

// arrive waits until unread bytes are there, or the end, and counts them.
func (b *replayBody) arrive() (int, error) {
	at := b.size - len(b.rest)
	for len(b.pace) > 1 && b.pace[0].end <= at {
		if err := b.wait(b.ctx, b.pace[1].at-b.pace[0].at); err != nil {
			return 0, err
		}
		b.pace = b.pace[1:]
	}
	if len(b.pace) > 1 {
		return min(b.pace[0].end-at, len(b.rest)), nil
	}
	return len(b.rest), nil
}

func (b *replayBody) Close() error {
	b.closed = true
	return nil
}

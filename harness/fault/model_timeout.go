package fault

import (
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// timeout is a model that does not answer: not at all, later than asked for, or no
// further from an event of its stream on. In real life a connection hangs behind a
// load balancer, and a client without a deadline hangs with it. A right loop has a
// deadline for the attempt and one for the task, and tries again between the two.
var timeout = Fault{
	Name:    "model.timeout",
	What:    "no answer comes, or its stream stalls at an event; with a delay it comes after that",
	Breaks:  "a client without a deadline waits for ever",
	Right:   "try again within the task's deadline; no tool runs from the part that arrived",
	Takes:   []Param{{"delay", "no answer: a quarter of an hour, or until the attempt's deadline"}},
	Retried: true,
	Inside:  MayInside,
	Waits:   silent,
	model: func(s *strike) (*http.Response, error) {
		if s.armed.At.Event != 0 {
			return s.cutAt(s.stall)
		}
		if err := s.hang(); err != nil {
			return nil, err
		}
		return s.injector.pass(s)
	},
}

// silence is longer than the ten minutes for which SDKs wait.
const silence = 15 * time.Minute

// hang waits. Without a delay an answer never comes: where no deadline of the
// client's ends the wait, the transport's own does.
func (s *strike) hang() error {
	d := s.params().Delay
	if err := s.injector.wait(s.ctx, orDefault(d, silence)); err != nil {
		return err
	}
	if d == 0 {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return nil
}

// stall hangs inside the body. Where the rest of it comes after all, the call is
// answered.
func (s *strike) stall(rest []byte) ([]byte, error) {
	if err := s.hang(); err != nil {
		return nil, err
	}
	s.injector.done(s.call)
	return rest, io.EOF
}

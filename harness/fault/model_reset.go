package fault

import (
	"net"
	"net/http"
	"os"
	"syscall"
)

// reset is a connection that is torn down, before the answer or inside its body.
// In real life a proxy or a deployment does it, and nobody knows whether the
// request was worked on. A right loop tries again, and no effect is doubled.
var reset = Fault{
	Name:    "model.reset",
	What:    "the connection is reset, before the answer or at an event inside it",
	Breaks:  "a part of an answer is taken for the whole, or its calls run twice",
	Right:   "try again; nothing runs from the part that arrived",
	Retried: true,
	Inside:  MayInside,
	model: func(s *strike) (*http.Response, error) {
		if s.armed.At.Event == 0 {
			return nil, connectionReset()
		}
		return s.cutAt(func([]byte) ([]byte, error) { return nil, connectionReset() })
	},
}

func connectionReset() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

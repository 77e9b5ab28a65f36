package fault

import (
	"io"
	"net/http"
)

// truncatedStream is a stream that ends cleanly before its terminal event. In
// real life a gateway closes an idle connection, and no SDK reports it. A right
// loop sees that the end is missing, and runs no tool.
var truncatedStream = Fault{
	Name:    "model.truncated_stream",
	What:    "the stream ends cleanly before its last event",
	Breaks:  "SDKs report no error, and a call runs with what arrived of its arguments",
	Right:   "class truncated; no tool of that turn runs",
	Retried: true,
	Inside:  OnlyInside,
	partly:  true,
	model: func(s *strike) (*http.Response, error) {
		return s.cutAt(func([]byte) ([]byte, error) { return nil, io.EOF })
	},
}

package fault

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strconv"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// streamError is an error that the provider sends inside a stream which began with
// status 200. In real life the status is all that many clients look at: they keep
// the part that arrived, or take the event for text. A right loop reads the
// error's type, drops the part, and tries again where that may help.
var streamError = Fault{
	Name:    "model.stream_error",
	What:    "an error event ends a stream that began with status 200",
	Breaks:  "the part that arrived is taken for the answer, and its calls run",
	Right:   "classed by the error's type, the part dropped, a bounded retry",
	Takes:   []Param{{"kind", "overloaded"}},
	Kinds:   []string{"overloaded", "rate_limit", "server_error"},
	Retried: true,
	Inside:  OnlyInside,
	model: func(s *strike) (*http.Response, error) {
		var failed error
		resp, err := s.inside(func(kept []byte, n int) ([]byte, func() ([]byte, error)) {
			event, err := s.errorEvent(n)
			failed = err
			return append(kept, event...), func() ([]byte, error) { return nil, io.EOF }
		})
		return resp, cmp.Or(err, failed)
	},
}

// errorEvent is the event number n of the stream, as the provider breaks off.
func (s *strike) errorEvent(n int) ([]byte, error) {
	status := http.StatusInternalServerError
	switch s.params().Kind {
	case "rate_limit":
		status = http.StatusTooManyRequests
	case "", "overloaded":
		status = s.overloadStatus()
	}
	e := s.apiError(status)
	e.Status = http.StatusOK
	if s.held.place.API != wire.OpenAIResponses {
		return s.codec().EncodeResponse(nil, &wire.Response{Err: e}, true)
	}
	e.Type = cmp.Or(e.Code, e.Type) // its event has no other word
	event, err := s.codec().EncodeResponse(nil, &wire.Response{Err: e}, true)
	if err != nil {
		return nil, err
	}
	return numbered(event, n-1), nil
}

// numbered gives the one event its place in the stream.
func numbered(event []byte, n int) []byte {
	scanner := sse.NewScanner(bytes.Clone(event))
	e, _ := scanner.Next()
	return sse.Append(nil, string(e.Name), rawjson.Set(e.Data, "sequence_number", strconv.AppendInt(nil, int64(n), 10)))
}

package fault

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// shortBody is a body that ends before the length that its header promised. In
// real life a proxy is restarted in the middle of an answer; a client that reads
// what is there takes a half for the whole. A right loop sees the missing rest and
// tries again.
var shortBody = Fault{
	Name:    "model.short_body",
	What:    "the body ends before its Content-Length, at a byte or at an event of a stream",
	Breaks:  "a part of an answer is taken for the whole",
	Right:   "the missing rest is noticed, and the attempt made again",
	Takes:   []Param{{"bytes", "half of the body"}},
	Retried: true,
	Inside:  MayInside,
	fits:    readable,
	model: func(s *strike) (*http.Response, error) {
		resp, err := s.short()
		if err != nil || s.misfit != "" {
			return nil, err
		}
		whole := len(s.held.body)
		resp.ContentLength = int64(whole)
		resp.Header.Set("Content-Length", strconv.Itoa(whole))
		return resp, nil
	},
}

func (s *strike) short() (*http.Response, error) {
	end := func([]byte) ([]byte, error) { return nil, io.ErrUnexpectedEOF }
	if s.armed.At.Event != 0 {
		return s.cutAt(end)
	}
	h, err := s.answer()
	if err != nil {
		return nil, err
	}
	kept := s.params().Bytes
	switch {
	case kept == 0:
		kept = len(h.body) / 2 //nolint:mnd // half of it
	case kept >= len(h.body):
		return s.unfit(fmt.Sprintf("the body has %d bytes; keep fewer", len(h.body)))
	}
	if _, err := s.rob(); err != nil {
		return nil, err
	}
	resp := newResponse(s.req, h.status, h.header, nil)
	resp.Body = &endingBody{rest: h.body[:kept:kept], end: func() ([]byte, error) { return end(nil) }}
	return resp, nil
}

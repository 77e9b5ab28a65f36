package fault

import (
	"net/http"
	"sort"

	"github.com/retake-harness/retake/harness/wire/codec"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// cutAt sends the events before the addressed one, and ends as end says.
func (s *strike) cutAt(end func(rest []byte) ([]byte, error)) (*http.Response, error) {
	return s.inside(func(kept []byte, _ int) ([]byte, func() ([]byte, error)) {
		rest := s.held.body[len(kept):]
		return kept, func() ([]byte, error) { return end(rest) }
	})
}

// inside strikes a stream at the addressed event, without one in the middle. shape
// gets the events before it and its number, and gives what is sent and how the
// body ends.
func (s *strike) inside(shape func(kept []byte, n int) ([]byte, func() ([]byte, error))) (*http.Response, error) {
	if _, err := s.place(); err != nil {
		return nil, err
	}
	n, kept, why := s.before()
	if why != "" {
		return s.unfit(why)
	}
	h, err := s.rob()
	if err != nil {
		return nil, err
	}
	s.event = n
	resp := newResponse(s.req, h.status, h.header, nil)
	text, end := shape(h.body[:kept:kept], n)
	resp.Body, resp.ContentLength = &endingBody{rest: text, end: end}, -1
	resp.Header.Del("Content-Length")
	return resp, nil
}

// before is the event that is struck, and how much of the body lies before it;
// why says that there is none to strike.
func (s *strike) before() (n, kept int, why string) {
	if !s.held.place.Stream {
		return 0, 0, "the answer is no stream"
	}
	ends := sse.Ends(s.held.body)
	if n = s.armed.At.Event; n == 0 {
		n = (len(ends) + 1) / 2
	}
	if n > len(ends) {
		return 0, 0, plural(len(ends), "the stream has one event", "the stream has %d events")
	}
	if n > 1 {
		kept = ends[n-2]
	}
	if s.tellsNothing(kept) {
		return 0, 0, "without that event the answer is as complete as with it"
	}
	return n, kept, ""
}

// tellsNothing tells that the beginning of the stream is a complete answer: what
// comes after it says nothing.
func (s *strike) tellsNothing(kept int) bool {
	r, err := s.codec().DecodeResponse(s.held.status, s.held.header.Get("Content-Type"), s.held.body[:kept])
	return err == nil && r.Complete
}

// survey fills in where the events and blocks of a stream lie. The number of
// blocks only grows with the events, so each boundary is searched for.
func (p *Place) survey(h *held) {
	if !p.Stream || p.Answer == nil {
		return
	}
	ends := sse.Ends(h.body)
	p.Events = len(ends)
	c, _ := codec.For(p.API)
	blocks := func(n int) int {
		r, err := c.DecodeResponse(h.status, h.header.Get("Content-Type"), h.body[:ends[n-1]])
		if err != nil {
			return 0
		}
		return len(r.Message.Blocks)
	}
	for k := 2; k <= len(p.Answer.Message.Blocks); k++ {
		n := sort.Search(p.Events, func(i int) bool { return blocks(i+1) >= k })
		if n > 0 && n < p.Events {
			p.Bounds = append(p.Bounds, n+1)
		}
	}
}

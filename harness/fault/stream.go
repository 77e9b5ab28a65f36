package fault

import (
	"net/http"
	"sort"

	"github.com/retake-harness/retake/harness/wire/codec"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// cutAt sends the events before the addressed one, and ends as end says. Without
// an event it is the middle one.
func (s *strike) cutAt(end func() error) (*http.Response, error) {
	p, err := s.place()
	if err != nil {
		return nil, err
	}
	if !p.Stream {
		s.misfit = "the answer is no stream"
		return nil, nil //nolint:nilnil // the misfit says that there is no answer
	}
	ends := sse.Ends(s.held.body)
	n := s.armed.At.Event
	if n == 0 {
		n = (len(ends) + 1) / 2
	}
	if n > len(ends) {
		s.misfit = plural(len(ends), "the stream has one event", "the stream has %d events")
		return nil, nil //nolint:nilnil // as above
	}
	kept := 0
	if n > 1 {
		kept = ends[n-2]
	}
	if s.tellsNothing(kept) {
		s.misfit = "without that event the answer is as complete as with it"
		return nil, nil //nolint:nilnil // as above
	}
	h, err := s.rob()
	if err != nil {
		return nil, err
	}
	s.event = n
	resp := newResponse(s.req, h.status, h.header, nil)
	resp.Body, resp.ContentLength = &endingBody{rest: h.body[:kept:kept], end: end}, -1
	resp.Header.Del("Content-Length")
	return resp, nil
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

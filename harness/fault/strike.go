package fault

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// held is an answer that was read whole.
type held struct {
	status  int
	header  http.Header
	body    []byte
	took    time.Duration
	broken  error // how the body ended, nil when whole
	guessed bool  // it is one of the tries of a turn
	place   *Place
}

func (h *held) response(req *http.Request) *http.Response {
	resp := newResponse(req, h.status, h.header, h.body)
	if h.broken != nil {
		resp.Body = &endingBody{rest: h.body, end: func() ([]byte, error) { return nil, h.broken }}
		resp.ContentLength = -1
	}
	return resp
}

// newResponse is an answer of the transport's. A length that header says is
// brought in line with text.
func newResponse(req *http.Request, status int, header http.Header, text []byte) *http.Response {
	header = header.Clone()
	if header.Get("Content-Length") != "" {
		header.Set("Content-Length", strconv.Itoa(len(text)))
	}
	return &http.Response{
		Status: statusLine(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)), Request: req,
	}
}

// endingBody gives its bytes and then what end says: more bytes or none, and the
// error after them. end is asked once.
type endingBody struct {
	rest []byte
	end  func() (more []byte, err error)
	err  error
}

func (b *endingBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 && b.end != nil {
		b.rest, b.err = b.end()
		b.end = nil
	}
	if len(b.rest) == 0 {
		return 0, b.err
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (*endingBody) Close() error { return nil }

// strike is one HTTP attempt that a fault may strike.
type strike struct {
	injector *Injector
	began    time.Duration
	ctx      context.Context
	req      *http.Request
	body     []byte
	call     *modelCall
	next     http.RoundTripper
	at       Address
	armed    *armed

	held       *held
	unanswered bool   // the answer could not be had: that is not the fault's doing
	damaged    bool   // the answer is none that may be acted upon: a further attempt gets it whole
	repeats    bool   // the fault goes on with an answer that it has struck at an earlier call
	later      bool   // the answer goes through, and the fault strikes at the next call
	misfit     string // the fault found only while striking that it does not fit
	event      int    // the event of the stream that was struck
}

func (s *strike) params() Params { return s.armed.Params }

func (s *strike) struckAt() Address {
	at := s.at
	at.Event = s.event
	return at
}

// answer is the answer as it comes without a fault, read whole. An attempt that
// was robbed of it leaves it to the next one.
func (s *strike) answer() (*held, error) {
	if s.held != nil {
		return s.held, nil
	}
	if h := s.injector.robbed(s.call); h != nil {
		s.held = h
		return h, clock.Pass(s.ctx, h.took)
	}
	start := clock.Now(s.ctx)
	resp, err := s.next.RoundTrip(s.req)
	if err != nil {
		s.unanswered = true
		return nil, err
	}
	text, broken := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	h := &held{status: resp.StatusCode, header: resp.Header, body: text, took: clock.Now(s.ctx) - start, broken: broken}
	if plain, err := wire.Plain(resp.Header.Get("Content-Encoding"), text); err == nil && broken == nil {
		h.body, h.header = plain, resp.Header.Clone()
		h.header.Del("Content-Encoding")
	}
	s.held = h
	return h, nil
}

// rob takes the answer from this attempt and keeps it for the next.
func (s *strike) rob() (*held, error) {
	h, err := s.answer()
	if err != nil {
		return nil, err
	}
	s.damaged = true
	s.injector.keep(s.call, h)
	return h, nil
}

// place describes the answer that is being struck.
func (s *strike) place() (*Place, error) {
	h, err := s.answer()
	if err != nil {
		return nil, err
	}
	if h.place == nil {
		h.place = s.injector.placeOf(s, h)
	}
	return h.place, nil
}

func (i *Injector) placeOf(s *strike, h *held) *Place {
	p := &Place{Side: SideModel, Call: s.at.Call, Status: h.status, Decls: i.specs, guessed: h.guessed}
	api, ok := codec.Detect(s.req.Method, s.req.URL.String(), s.body)
	if !ok {
		return p
	}
	c, _ := codec.For(api)
	p.API = api
	p.Asked, _ = c.DecodeRequest(s.req.URL.String(), s.body)
	kind := h.header.Get("Content-Type")
	p.Stream = h.status < http.StatusBadRequest && sse.Is(kind, h.body)
	if answer, err := c.DecodeResponse(h.status, kind, h.body); err == nil && h.broken == nil {
		p.Answer = answer
	}
	return p
}

func (s *strike) codec() wire.Codec {
	c, _ := codec.For(s.held.place.API)
	return c
}

// reply answers instead of the model.
func (s *strike) reply(status int, header http.Header, text []byte) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return newResponse(s.req, status, header, text)
}

// rewrite changes a copy of the answer and sends it in the form it came in.
// change must replace what it changes, not write into it.
func (s *strike) rewrite(change func(r *wire.Response)) (*http.Response, error) {
	p, err := s.place()
	if err != nil {
		return nil, err
	}
	r := *p.Answer
	r.Message.Blocks = append([]wire.Block(nil), r.Message.Blocks...)
	r.Problems = nil // they are those of the answer as it came
	change(&r)
	return s.send(&r)
}

// send encodes an answer in the form of the one that is struck.
func (s *strike) send(r *wire.Response) (*http.Response, error) {
	text, err := s.codec().EncodeResponse(nil, r, s.held.place.Stream)
	if err != nil {
		return nil, err
	}
	if s.injector.mustKnow() {
		s.injector.order(r.Calls())
	}
	return newResponse(s.req, s.held.status, s.held.header, text), nil
}

// unfit says that the fault does not fit, for what showed only while striking.
func (s *strike) unfit(why string) (*http.Response, error) {
	s.misfit = why
	return nil, nil //nolint:nilnil // the misfit says that there is no answer
}

// understood is what a client reads of an answer that a fault has made.
func (s *strike) understood(text []byte) (*wire.Response, error) {
	return s.codec().DecodeResponse(s.held.status, s.held.header.Get("Content-Type"), text)
}

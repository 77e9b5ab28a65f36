package fault

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// Model wraps what answers the model's requests. A request whose body is that of
// one which was not answered well is a further attempt of the same call; any
// other begins the next call.
func (i *Injector) Model(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) { return i.roundTrip(next, req) })
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// modelCall is a call that was not answered well so far.
type modelCall struct {
	body     []byte
	number   int
	attempts int
	held     *held // the answer that an attempt was robbed of
}

// begin finds the call that the body belongs to.
func (i *Injector) begin(text []byte) (*modelCall, int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.open {
		if bytes.Equal(c.body, text) {
			c.attempts++
			return c, c.attempts
		}
	}
	i.calls++
	c := &modelCall{body: text, number: i.calls, attempts: 1}
	i.open = append(i.open, c)
	return c, 1
}

// done closes a call that was answered well.
func (i *Injector) done(c *modelCall) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, o := range i.open {
		if o == c {
			i.open = append(i.open[:n], i.open[n+1:]...)
			return
		}
	}
}

func (i *Injector) roundTrip(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	text, err := body.Read(req)
	if err != nil {
		return nil, err
	}
	if req.Body != nil {
		req = req.WithContext(req.Context()) // a copy: a RoundTripper must not change its request
		req.Body = body.Of(text)
	}
	c, attempt := i.begin(text)
	s := &strike{injector: i, ctx: req.Context(), req: req, body: text, call: c, next: next, at: Address{Call: c.number, Attempt: attempt}}
	resp, err := i.strikeModel(s)
	if err == nil && resp.StatusCode < http.StatusBadRequest && !s.damaged {
		i.done(c)
	}
	return resp, err
}

// strikeModel lets the first spec strike that is due and fits; without one the
// answer goes through.
func (i *Injector) strikeModel(s *strike) (*http.Response, error) {
	for _, a := range i.armed {
		if a.fault.model == nil || !i.isDue(a, s.at) {
			continue
		}
		s.armed, s.misfit = a, ""
		if err := i.prepare(s, a); err != nil {
			return nil, err
		}
		var resp *http.Response
		var err error
		if s.misfit == "" {
			resp, err = a.fault.model(s)
		}
		if s.misfit != "" {
			i.misfit(a, s.at, s.misfit)
			continue
		}
		i.carry(a, s.held)
		i.struck(s.ctx, a, s.struckAt())
		return resp, err
	}
	return i.pass(s)
}

// prepare looks whether a fits the answer. A lasting fault that has struck goes on
// with the answer that it struck first: there is no recording of what it makes up.
func (i *Injector) prepare(s *strike, a *armed) error {
	if h := i.carriedBy(a); h != nil {
		s.held = h
		return clock.Sleep(s.ctx, h.took)
	}
	if a.fault.fits == nil && a.fault.Inside != OnlyInside {
		return nil
	}
	p, err := s.place()
	if err != nil {
		return err
	}
	s.misfit = a.fault.Fits(p, &a.Spec)
	return nil
}

func (i *Injector) carry(a *armed, h *held) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.fault.Lasting && a.carried == nil {
		a.carried = h
	}
}

func (i *Injector) carriedBy(a *armed) *held {
	i.mu.Lock()
	defer i.mu.Unlock()
	return a.carried
}

func (i *Injector) isDue(a *armed, at Address) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.due(a, at)
}

// pass lets the answer through, read whole only where somebody has to know it.
func (i *Injector) pass(s *strike) (*http.Response, error) {
	if s.held == nil && s.call.held == nil && !i.mustKnow() {
		return s.next.RoundTrip(s.req)
	}
	h, err := s.answer()
	if err != nil {
		return nil, err
	}
	i.learn(s, h)
	return h.response(s.req), nil
}

// mustKnow tells that answers are looked at: for a survey, and where calls may
// arrive at their tools in another order than the model made them.
func (i *Injector) mustKnow() bool {
	return i.opts.Survey || i.opts.Clock != clock.ModeVirtual && i.opts.Clock != "" ||
		slices.ContainsFunc(i.armed, func(a *armed) bool { return a.fault.turn })
}

// held is an answer that was read whole.
type held struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	broken error // how the body ended, nil when whole
	place  *Place
}

func (h *held) response(req *http.Request) *http.Response {
	resp := newResponse(req, h.status, h.header, h.body)
	if h.broken != nil {
		resp.Body = &endingBody{rest: h.body, end: func() error { return h.broken }}
		resp.ContentLength = -1
	}
	return resp
}

// newResponse is an answer of the transport's.
func newResponse(req *http.Request, status int, header http.Header, text []byte) *http.Response {
	return &http.Response{
		Status: statusLine(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header.Clone(), ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)), Request: req,
	}
}

// endingBody gives its bytes and then ends as end says.
type endingBody struct {
	rest []byte
	end  func() error
}

func (b *endingBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, b.end()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (*endingBody) Close() error { return nil }

// strike is one HTTP attempt that a fault may strike.
type strike struct {
	injector *Injector
	ctx      context.Context
	req      *http.Request
	body     []byte
	call     *modelCall
	next     http.RoundTripper
	at       Address
	armed    *armed

	held    *held
	damaged bool   // the answer is none that may be acted upon: a further attempt gets it whole
	misfit  string // the fault found only while striking that it does not fit
	event   int    // the event of the stream that was struck
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
	if h := s.call.held; h != nil {
		s.held = h
		return h, clock.Sleep(s.ctx, h.took)
	}
	start := clock.Now(s.ctx)
	resp, err := s.next.RoundTrip(s.req)
	if err != nil {
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
	s.damaged, s.call.held = true, h
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
	p := &Place{Side: SideModel, Call: s.at.Call, Status: h.status, Decls: i.specs}
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
	change(&r)
	return s.send(&r)
}

// send encodes an answer in the form of the one that is struck.
func (s *strike) send(r *wire.Response) (*http.Response, error) {
	text, err := s.codec().EncodeResponse(nil, r, s.held.place.Stream)
	if err != nil {
		return nil, err
	}
	return newResponse(s.req, s.held.status, s.held.header, text), nil
}

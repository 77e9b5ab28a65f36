package fault

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
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
	url      string
	body     []byte
	number   int
	attempts int
	held     *held // the answer that an attempt was robbed of
}

// begin finds the call that the request belongs to.
func (i *Injector) begin(method, url string, text []byte) (*modelCall, int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.open {
		if c.url == url && bytes.Equal(c.body, text) {
			c.attempts++
			return c, c.attempts
		}
	}
	for c := range i.partial {
		if !goesOn(method, c, url, text) {
			delete(i.partial, c) // the part that had arrived was thrown away
		}
	}
	i.calls++
	c := &modelCall{url: url, body: text, number: i.calls, attempts: 1}
	i.open = append(i.open, c)
	return c, 1
}

// goesOn tells whether a request shows the model an answer to call c that was
// given in part: it has the call's messages, and then one of the model's.
func goesOn(method string, c *modelCall, url string, text []byte) bool {
	api, ok := codec.Detect(method, url, text)
	if !ok {
		return true
	}
	cd, _ := codec.For(api)
	before, err := cd.DecodeRequest(c.url, c.body)
	if err != nil {
		return true
	}
	now, err := cd.DecodeRequest(url, text)
	n := len(before.Messages)
	return err == nil && len(now.Messages) > n && wire.HasPrefix(now.Messages, before.Messages) && now.Messages[n].Role == wire.RoleAssistant
}

// Calls is how many model calls there were so far, the one that is being answered
// included.
func (i *Injector) Calls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls
}

// done closes a call that was answered well.
func (i *Injector) done(c *modelCall) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.partial, c)
	for n, o := range i.open {
		if o == c {
			i.open = append(i.open[:n], i.open[n+1:]...)
			return
		}
	}
}

// robbed is the answer that an attempt of the call was robbed of; nil for none.
func (i *Injector) robbed(c *modelCall) *held {
	i.mu.Lock()
	defer i.mu.Unlock()
	return c.held
}

// keep leaves an answer to the next attempt of the call.
func (i *Injector) keep(c *modelCall, h *held) {
	i.mu.Lock()
	defer i.mu.Unlock()
	c.held = h
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
	c, attempt := i.begin(req.Method, req.URL.String(), text)
	s := &strike{injector: i, began: clock.Now(req.Context()), ctx: req.Context(), req: req, body: text, call: c, next: next, at: Address{Call: c.number, Attempt: attempt}}
	if err := i.continueGuess(s); err != nil {
		return nil, err
	}
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
		s.armed, s.misfit, s.later, s.repeats = a, "", false, false
		if err := i.prepare(s, a); err != nil {
			return nil, err
		}
		var resp *http.Response
		var err error
		if s.misfit == "" {
			resp, err = a.fault.model(s)
		}
		switch {
		case s.misfit != "":
			i.misfit(a, s.at, s.misfit)
			continue
		case s.unanswered:
			return nil, err // the model's own end, not the fault's doing
		case s.later:
			i.postpone(a, s)
			continue
		}
		i.carry(a, s.held)
		i.struck(s.began, a, s.struckAt())
		i.crowdedOut(a, s)
		return resp, err
	}
	return i.pass(s)
}

// crowdedOut notes of the other faults that were due at the attempt that a has
// struck it, and of a call whether a part of its answer was given as if it were
// the whole.
func (i *Injector) crowdedOut(a *armed, s *strike) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.fault.partly && s.event > 1 {
		i.partial[s.call] = true
	}
	for _, other := range i.armed[a.index+1:] {
		if other.fault.model != nil && other.fired == 0 && i.due(other, s.at) {
			other.misfit = s.at.String() + ": " + a.Name + " struck that attempt, and one strikes at a time"
		}
	}
}

// prepare looks whether a fits the answer. A lasting fault that has struck goes on
// with the answer that it struck first: there is no recording of what it makes up.
func (i *Injector) prepare(s *strike, a *armed) error {
	if h := i.carriedBy(a, s.at.Call); h != nil {
		s.held, s.repeats = h, true
		return clock.Pass(s.ctx, h.took)
	}
	if s.misfit = i.tooLong(a, 0); s.misfit != "" || a.fault.fits == nil && a.fault.Inside != OnlyInside {
		return nil
	}
	p, err := s.place()
	if err != nil {
		return err
	}
	s.misfit = a.fault.Fits(p, &a.Spec)
	return nil
}

// carry keeps the answer that a lasting fault has struck first.
func (i *Injector) carry(a *armed, h *held) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.fault.Lasting && a.carried == nil {
		a.carried = h
	}
}

// postpone keeps the answer of this call, which goes through, for the next call:
// there the fault strikes.
func (i *Injector) postpone(a *armed, s *strike) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.fired == 0 {
		a.carried, a.later, a.pinned = s.held, true, s.at.Call+1
	}
}

// carriedBy is the answer that a fault goes on with at this call; nil for none.
func (i *Injector) carriedBy(a *armed, call int) *held {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.fault.Lasting || a.later && a.pinned == call {
		return a.carried
	}
	return nil
}

func (i *Injector) isDue(a *armed, at Address) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.due(a, at)
}

// pass lets the answer through, read whole only where somebody has to know it.
func (i *Injector) pass(s *strike) (*http.Response, error) {
	if s.held == nil && i.robbed(s.call) == nil && !i.mustKnow() {
		return s.next.RoundTrip(s.req)
	}
	h, err := s.answer()
	if err != nil {
		return nil, err
	}
	if i.mustKnow() {
		i.learn(s, h)
	}
	return h.response(s.req), nil
}

// mustKnow tells that answers are looked at: for a survey, and where calls may
// arrive at their tools in another order than the model made them.
func (i *Injector) mustKnow() bool {
	return i.opts.Survey || i.opts.Clock != clock.ModeVirtual && i.opts.Clock != "" ||
		slices.ContainsFunc(i.armed, func(a *armed) bool { return a.fault.turn })
}

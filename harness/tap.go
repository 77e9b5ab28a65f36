package harness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// tap is the outermost layer of the model's side: it sees what the agent sees,
// one HTTP attempt at a time, and writes it to the journal when the answer has
// been read to its end, closed, or failed.
type tap struct {
	next    http.RoundTripper
	journal *journal.Journal

	mu   sync.Mutex
	dead bool // the host has crashed: nobody asks any more
	n    int
	last []byte // the newest request's body
	same int    // how often it came in a row
	open map[*tapBody]struct{}
}

// mostAttempts is how often an agent may ask for just the same in a row before it
// is stopped: one that looks neither at its context nor at a count goes on for
// ever, and time that costs nothing does not end it.
const mostAttempts = 1000

// runaway is what an agent's call panics with on a virtual clock.
type runaway struct{}

// stop ends the goroutine that asks, once it has asked too often. On a virtual
// clock that is the caller's own, which must live on.
func (t *tap) stop(ctx context.Context, text []byte) {
	t.mu.Lock()
	if bytes.Equal(t.last, text) {
		t.same++
	} else {
		t.last, t.same = text, 1
	}
	ran := t.same > mostAttempts
	t.mu.Unlock()
	switch {
	case !ran:
	case clock.IsVirtual(ctx):
		panic(runaway{})
	default:
		runtime.Goexit()
	}
}

func (t *tap) ranAway() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.same > mostAttempts
}

// live says whether the agent's host lives.
func (t *tap) live(yes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dead = !yes
}

func (t *tap) isDead() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dead
}

func newTap(next http.RoundTripper, j *journal.Journal) *tap {
	return &tap{next: next, journal: j, open: map[*tapBody]struct{}{}}
}

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.isDead() {
		return nil, fault.ErrCrashed
	}
	ctx := req.Context()
	e := &journal.ModelAttempt{At: clock.Now(ctx), Method: req.Method, URL: req.URL.String()}
	t.mu.Lock()
	t.n++
	e.Ordinal = t.n
	t.mu.Unlock()
	text, err := body.Read(req)
	if err != nil {
		t.write(ctx, e, err)
		return nil, err
	}
	t.stop(ctx, text)
	if req.Body != nil {
		req = req.WithContext(ctx) // a copy: a RoundTripper must not change its request
		req.Body = body.Of(text)
	}
	t.decodeRequest(e, text)
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		t.write(ctx, e, err)
		return nil, err
	}
	e.Status, e.RetryAfter = resp.StatusCode, wire.RetryAfter(resp.Header)
	b := &tapBody{tap: t, ctx: ctx, event: e, body: resp.Body, kind: resp.Header.Get("Content-Type"), coded: resp.Header.Get("Content-Encoding")}
	if resp.ContentLength > 0 {
		b.seen.Grow(int(min(resp.ContentLength, 1<<20)))
	}
	resp.Body = b
	t.mu.Lock()
	t.open[b] = struct{}{}
	t.mu.Unlock()
	return resp, nil
}

func (t *tap) decodeRequest(e *journal.ModelAttempt, body []byte) {
	api, ok := codec.Detect(e.Method, e.URL, body)
	if !ok {
		return
	}
	e.API = api
	c, _ := codec.For(api)
	e.Request, e.RequestErr = c.DecodeRequest(e.URL, body)
}

// write files the attempt's error, unless it has a class, and writes the event.
func (t *tap) write(ctx context.Context, e *journal.ModelAttempt, err error) {
	e.Latency = clock.Now(ctx) - e.At
	if err != nil {
		e.Err = failure.Classify(err)
		e.Class = failure.Of(e.Err)
	}
	t.journal.Write(e)
}

// flush writes the events of bodies that the agent neither read to the end nor
// closed.
func (t *tap) flush() {
	t.mu.Lock()
	var left []*tapBody
	for b := range t.open {
		left = append(left, b)
	}
	t.mu.Unlock()
	slices.SortFunc(left, func(a, b *tapBody) int { return cmp.Compare(a.event.Ordinal, b.event.Ordinal) })
	for _, b := range left {
		b.finish(nil, true)
	}
}

// tapBody passes the answer's body on and keeps a copy.
type tapBody struct {
	tap   *tap
	ctx   context.Context
	event *journal.ModelAttempt
	body  io.ReadCloser
	kind  string
	coded string // the Content-Encoding, of an agent that undoes it by itself
	once  sync.Once

	mu   sync.Mutex // a reader that was left alone may still read while the run is judged
	seen bytes.Buffer
}

// Read implements io.Reader.
func (b *tapBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.mu.Lock()
	b.seen.Write(p[:n])
	b.mu.Unlock()
	if err != nil {
		b.finish(err, false)
	}
	return n, err
}

// Close implements io.Closer.
func (b *tapBody) Close() error {
	err := b.body.Close()
	b.finish(nil, true)
	return err
}

func (b *tapBody) finish(err error, hung bool) {
	b.once.Do(func() {
		e := b.event
		if errors.Is(err, io.EOF) {
			err = nil
		}
		// Many a client stops reading at the terminal event: that is no hang-up.
		b.decode(err)
		e.Hung = hung && (e.Response == nil || !e.Response.Complete && e.Class != failure.Protocol)
		if err == nil && e.Err != nil {
			err = e.Err
		}
		b.tap.write(b.ctx, e, err)
		// Only now: whoever still finds it open waits until its event is written.
		b.tap.mu.Lock()
		delete(b.tap.open, b)
		b.tap.mu.Unlock()
	})
}

// decode reads what came of the answer. A transport error keeps its class; what
// had arrived before it is still decoded, for the record.
func (b *tapBody) decode(broken error) {
	e := b.event
	if e.API == "" {
		if e.Status >= 400 {
			e.Class = wire.StatusClass(e.Status)
		}
		return
	}
	c, _ := codec.For(e.API)
	b.mu.Lock()
	text := b.seen.Bytes() // what is read later is written behind it
	b.mu.Unlock()
	text, err := wire.Plain(b.coded, text)
	var resp *wire.Response
	if err == nil || broken != nil {
		resp, err = c.DecodeResponse(e.Status, b.kind, text)
	}
	e.Response = resp
	if broken != nil {
		return
	}
	e.Err, e.Class = err, wire.ClassOf(resp, err)
}

package harness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
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
	n    int
	open map[*tapBody]struct{}
}

func newTap(next http.RoundTripper, j *journal.Journal) *tap {
	return &tap{next: next, journal: j, open: map[*tapBody]struct{}{}}
}

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	e := &journal.ModelAttempt{At: clock.Now(ctx), Method: req.Method, URL: req.URL.String()}
	t.mu.Lock()
	t.n++
	e.Ordinal = t.n
	t.mu.Unlock()
	body, err := readBody(req)
	if err != nil {
		t.write(ctx, e, err)
		return nil, err
	}
	if len(body) > 0 || req.Body != nil {
		req = req.Clone(ctx) // a RoundTripper must not change its request
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	t.decodeRequest(e, body)
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		t.write(ctx, e, err)
		return nil, err
	}
	e.Status, e.RetryAfter = resp.StatusCode, wire.RetryAfter(resp.Header)
	b := &tapBody{tap: t, ctx: ctx, event: e, body: resp.Body, kind: resp.Header.Get("Content-Type")}
	if resp.ContentLength > 0 {
		b.seen.Grow(int(min(resp.ContentLength, 1<<20)))
	}
	resp.Body = b
	t.mu.Lock()
	t.open[b] = struct{}{}
	t.mu.Unlock()
	return resp, nil
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	if n := req.ContentLength; n > 0 && n < 64<<20 {
		buf := make([]byte, n)
		_, err := io.ReadFull(req.Body, buf)
		return buf, err
	}
	return io.ReadAll(req.Body)
}

func (t *tap) decodeRequest(e *journal.ModelAttempt, body []byte) {
	api, ok := codec.Detect(e.Method, e.URL, body)
	if !ok {
		return
	}
	e.API = api
	c, _ := codec.For(api)
	path := e.URL
	e.Request, e.RequestErr = c.DecodeRequest(path, body)
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
	seen  bytes.Buffer
	once  sync.Once
}

// Read implements io.Reader.
func (b *tapBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.seen.Write(p[:n])
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
		b.tap.mu.Lock()
		delete(b.tap.open, b)
		b.tap.mu.Unlock()
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
	resp, err := c.DecodeResponse(e.Status, b.kind, b.seen.Bytes())
	e.Response = resp
	if broken != nil {
		return
	}
	e.Err, e.Class = err, wire.ClassOf(resp, err)
}

package cassette

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Recording says how a Recorder records. Next is required.
type Recording struct {
	Next    http.RoundTripper // asks the real API
	Notes   FileNotes         // of the cassette; Source and RecordedAt are filled in
	Redact  Redaction         // what is taken out before anything is written
	Secrets *redact.Values    // values that must not be written: an exchange that has one is refused
	Replay  Options           // how an exchange that an interrupted session has kept is found again
}

// Recorder is a http.RoundTripper that asks another one and keeps what was asked
// and answered. Answers pass through as they come, streams too. It may be used by
// many goroutines; equal requests get a recording each, and the cassette has them
// in the order in which they began.
//
// An exchange is kept as soon as its body was read to the end or closed: in a file
// beside the cassette (see PartialPath), redacted and synced, so that what was paid
// for outlives a crash. The next Recorder of the same path takes it up: what is
// whole and no error answers first, and only what is missing is asked for. What
// belongs to another prompt, scenario or set of tools is set aside.
//
// An exchange that has the value of a secret, in any spelling, is not kept, and the
// recording cannot be finished. The client has its answer all the same.
type Recorder struct {
	next    http.RoundTripper
	rules   *rules
	also    []string // headers that count in matching
	session *session

	kept   *Player // over what was kept; nil without any
	usable []Interaction
}

// Record begins the recording of the cassette at path. A wrong option is of class
// scenario_invalid, a file in the way that is no cassette of class cassette_invalid,
// what the system refuses of class world.
func Record(path string, o Recording) (*Recorder, error) { return recordOn(realDisk{}, path, o) }

func recordOn(d disk, path string, o Recording) (*Recorder, error) {
	rules, err := o.Redact.rules()
	if err != nil {
		return nil, err
	}
	r := &Recorder{next: o.Next, rules: rules}
	for _, h := range o.Replay.Headers {
		r.also = append(r.also, http.CanonicalHeaderKey(h))
	}
	// A wrong option is told before anything is touched.
	o.Replay.Redact = o.Redact
	if _, err := NewPlayer(&File{Name: path, Version: 2}, o.Replay); err != nil {
		return nil, err
	}
	s, kept, err := openSession(d, path, o.Notes, o.Secrets, func(in *Interaction) { rules.again(in, r.also) })
	if err != nil {
		return nil, err
	}
	r.session = s
	for i := range kept {
		if worthKeeping(&kept[i]) {
			r.usable = append(r.usable, kept[i])
		}
	}
	s.leftover = slices.Repeat([]bool{true}, len(r.usable))
	if len(r.usable) > 0 {
		if r.kept, err = NewPlayer(&File{Name: path, Version: 2, Interactions: r.usable}, o.Replay); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return r, nil
}

// worthKeeping knows answers that were paid for: whole ones, and no errors, which
// may be why the session was interrupted.
func worthKeeping(in *Interaction) bool {
	return in.Response.Code >= 200 && in.Response.Code < 400 && transportError(in.Notes) == nil &&
		(in.Notes == nil || in.Notes.Complete == nil || *in.Notes.Complete)
}

// Kept is how many requests were answered by what an interrupted session had kept.
func (r *Recorder) Kept() int { kept, _ := r.session.counts(); return kept }

// Recorded is how many exchanges with the real API are kept so far.
func (r *Recorder) Recorded() int { _, filed := r.session.counts(); return filed }

// Warnings tell what an interrupted session has left that is not used, and
// exchanges that could not be kept on disk.
func (r *Recorder) Warnings() []string { return r.session.told() }

// Finish ends the recording: it writes the cassette, whole or not at all, and
// removes what was kept beside it. Bodies that nobody has read to their end are cut
// where they are. Where an exchange was refused, or the system refuses to write, the
// cassette that was there stays, and what was recorded is left for the next session
// (class world). Without any exchange nothing is written. Call Close afterwards in
// any case.
func (r *Recorder) Finish() error { return r.session.finish() }

// Close ends the recording without a cassette, and leaves what was recorded for the
// next session. After Finish it does nothing.
func (r *Recorder) Close() error { return r.session.close() }

// RoundTrip asks the real API, or answers with what an interrupted session has kept.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := body.Read(req)
	if err != nil {
		return nil, err
	}
	o, resp, err := r.again(req, text)
	if resp != nil || err != nil {
		return resp, err
	}
	r.session.client(req.UserAgent())
	asked := r.asked(req, text)
	x := &asking{recorder: r, slot: o, asked: asked, api: req, watch: clock.Stopwatch()}
	if resp, err = r.next.RoundTrip(onward(req, text)); err != nil {
		x.failed(err)
		return nil, err
	}
	resp.Request = req
	x.answered(resp)
	return resp, nil
}

// again answers with a kept exchange; without one it gives the place for a new one.
func (r *Recorder) again(req *http.Request, text []byte) (*slot, *http.Response, error) {
	if r.kept == nil {
		o, err := r.session.begin()
		return o, nil, err
	}
	q := r.kept.question(req, text)
	o, in, err := r.session.reuse(r.usable, func() int {
		i, _ := r.kept.index.take(q)
		return i
	})
	if err != nil || in == nil {
		return o, nil, err
	}
	plain, err := uncompressed(req, in)
	if err != nil {
		return nil, nil, failure.Errorf(failure.CassetteInvalid, "%s: exchange %d: %w", PartialPath(r.session.path), o.number, err)
	}
	resp, err := answer(req, plain, r.kept.opts.Wait)
	return nil, resp, err
}

// onward is the request as it goes to the real API: with its body again, and without
// Accept-Encoding. Clients send that by rote; left to net/http, an answer is
// compressed on the way and plain for the client and the cassette.
func onward(req *http.Request, text []byte) *http.Request {
	out := req.Clone(req.Context())
	out.Header.Del("Accept-Encoding")
	out.Body, out.GetBody, out.ContentLength = http.NoBody, nil, int64(len(text))
	if len(text) > 0 {
		out.Body = body.Of(text)
		out.GetBody = func() (io.ReadCloser, error) { return body.Of(text), nil }
	}
	return out
}

// asked is the request as it is filed, redacted.
func (r *Recorder) asked(req *http.Request, text []byte) *exchange {
	x := &exchange{req: req.Clone(context.Background()), sent: text}
	q := x.req
	q.Method = cmp.Or(q.Method, http.MethodGet)
	q.URL = r.rules.url(req.URL)
	q.Header, q.Trailer = r.rules.header(req.Header, r.also), nil
	q.Body, q.GetBody, q.Form, q.PostForm = nil, nil, nil, nil
	plain, err := wire.Plain(q.Header.Get("Content-Encoding"), text)
	if err != nil {
		return x
	}
	if clean, _ := r.rules.body("", plain); !bytes.Equal(clean, plain) {
		x.sent = clean
		q.Header.Del("Content-Encoding")
		q.Header.Del("Content-Length")
	}
	return x
}

// asking is one exchange with the real API on its way.
type asking struct {
	recorder *Recorder
	slot     *slot
	asked    *exchange
	api      *http.Request
	watch    func() time.Duration
}

// failed files an exchange without an answer.
func (x *asking) failed(err error) {
	x.file(Notes{Transport: transportErrorOf(err)}, x.watch())
}

// answered lets the answer pass, and files it when its body ends.
func (x *asking) answered(resp *http.Response) {
	seen := *resp // before a client changes it
	seen.Header = x.recorder.rules.header(resp.Header, nil)
	t := &taking{from: resp.Body, watch: x.watch}
	t.over = func(got taken) {
		seen.Trailer = x.recorder.rules.header(resp.Trailer, nil)
		x.ended(&seen, &got)
	}
	resp.Body = t
	x.recorder.session.opened(x.slot, func() { t.end(false, nil) })
}

// ended files an exchange whose body has ended.
func (x *asking) ended(resp *http.Response, got *taken) {
	whole := got.whole || got.broken == nil && x.complete(resp, got.body)
	notes := Notes{Complete: &whole, Chunks: got.pace(resp)}
	if got.broken != nil {
		switch e := transportErrorOf(got.broken); e.Kind {
		case TransportCancelled: // that is the client's doing
		case TransportClosed: // a plain EOF would be a good end
			notes.Transport = &TransportError{Kind: TransportCut, Message: e.Message}
		default:
			notes.Transport = e
		}
	}
	if err := x.redacted(resp, got.body, &notes); err != nil {
		x.recorder.session.refuse(x.slot, err)
		return
	}
	x.file(notes, got.took)
}

// complete tells whether a body that the client has left has all that was to come:
// as many bytes as were announced, or the last event of a stream.
func (x *asking) complete(resp *http.Response, got []byte) bool {
	if resp.ContentLength >= 0 {
		return int64(len(got)) == resp.ContentLength
	}
	api, ok := codec.Detect(x.asked.req.Method, x.asked.req.URL.String(), x.asked.sent)
	if !ok {
		return false
	}
	c, ok := codec.For(api)
	if !ok {
		return false
	}
	r, err := c.DecodeResponse(resp.StatusCode, resp.Header.Get("Content-Type"), got)
	return err == nil && r.Complete
}

// redacted takes the answer as it is filed. What has to be taken out of a compressed
// one leaves it in plain, as net/http would give it to a client; else it stays as it
// came, so that a replay gives the same.
func (x *asking) redacted(resp *http.Response, got []byte, notes *Notes) error {
	r := x.recorder.rules
	contentType, encoding := resp.Header.Get("Content-Type"), resp.Header.Get("Content-Encoding")
	plain, err := wire.Plain(encoding, got)
	if err := x.opaque("answer", plain, err); err != nil {
		return err
	}
	x.asked.resp, x.asked.got = resp, got
	out, moved := r.body(contentType, plain)
	if bytes.Equal(out, plain) {
		return nil
	}
	x.asked.got = out
	resp.Header.Del("Content-Length")
	if resp.ContentLength >= 0 {
		resp.ContentLength = int64(len(out))
	}
	if encoding != "" && !bytes.Equal(plain, got) {
		resp.Header.Del("Content-Encoding")
		resp.ContentLength, resp.Uncompressed, notes.Chunks = -1, true, nil
	}
	notes.move(moved, len(out))
	return nil
}

// opaque refuses a body that cannot be unfolded, and so not be searched for what must
// not be written.
func (x *asking) opaque(whose string, plain []byte, err error) error {
	if err == nil || len(plain) > 0 || x.recorder.session.secrets == nil && len(x.recorder.rules.pointers) == 0 {
		return nil
	}
	return fmt.Errorf("its %s cannot be searched for what must not be written: %w", whose, err)
}

func (x *asking) file(notes Notes, took time.Duration) {
	plain, err := wire.Plain(x.asked.req.Header.Get("Content-Encoding"), x.asked.sent)
	if err := x.opaque("request", plain, err); err != nil {
		x.recorder.session.refuse(x.slot, err)
		return
	}
	in, err := filed(x.asked)
	if err != nil {
		x.recorder.session.refuse(x.slot, fmt.Errorf("go-vcr does not file it: %w", err))
		return
	}
	if e := notes.Transport; e != nil {
		e.Message = x.recorder.session.secrets.Text(e.Message)
	}
	in.Response.Duration, in.Notes = took, &notes
	x.recorder.session.file(x.slot, in)
}

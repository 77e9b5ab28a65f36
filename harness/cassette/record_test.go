package cassette_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
)

// api answers requests as the func says.
type api func(req *http.Request) (*http.Response, error)

func (a api) RoundTrip(req *http.Request) (*http.Response, error) { return a(req) }

// answerOf is a response of status 200.
func answerOf(body io.Reader, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(body), ContentLength: -1,
	}
}

// sent is a POST of a body.
func sent(tb testing.TB, path, body string, header ...string) *http.Request {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "https://api.example.com"+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// exchanged is one exchange, its body read to the end.
func exchanged(rt http.RoundTripper, req *http.Request) (string, error) {
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), errors.Join(err, resp.Body.Close())
}

func record(tb testing.TB, path string, o cassette.Recording) *cassette.Recorder {
	tb.Helper()
	r, err := cassette.Record(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func finish(tb testing.TB, r interface{ Finish() error }) {
	tb.Helper()
	if err := r.Finish(); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, path string) *cassette.File {
	tb.Helper()
	f, err := cassette.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// slow is a body whose pieces come at their times after the first read.
type slow struct {
	ctx    context.Context
	pieces []piece
	at     time.Duration
	end    error
}

type piece struct {
	at   time.Duration
	text string
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		if s.end != nil {
			return 0, s.end
		}
		return 0, io.EOF
	}
	next := &s.pieces[0]
	if err := clock.Sleep(s.ctx, next.at-s.at); err != nil {
		return 0, err
	}
	s.at = next.at
	n := copy(p, next.text)
	if next.text = next.text[n:]; next.text == "" {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func TestAStreamPassesThroughAndKeepsItsPace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	const events = "data: one\n\ndata: two\n\ndata: three\n\n"
	synctest.Test(t, func(t *testing.T) {
		r := record(t, path, cassette.Recording{Next: api(func(req *http.Request) (*http.Response, error) {
			return answerOf(&slow{ctx: req.Context(), pieces: []piece{{0, "data: one\n\n"}, {30 * time.Millisecond, "data: two\n\n"}, {80 * time.Millisecond, "data: three\n\n"}}},
				"Content-Type", "text/event-stream"), nil
		})})
		begun := time.Now()
		resp, err := r.RoundTrip(sent(t, "/v1/messages", `{"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		var at []time.Duration
		var got bytes.Buffer
		for p := make([]byte, 64); ; {
			n, err := resp.Body.Read(p)
			got.Write(p[:n])
			if err != nil {
				break
			}
			at = append(at, time.Since(begun))
		}
		if d := cmp.Diff([]time.Duration{0, 30 * time.Millisecond, 80 * time.Millisecond}, at); d != "" || got.String() != events {
			t.Errorf("the client got %q at:\n%s", got.String(), d)
		}
		finish(t, r)
	})
	in := open(t, path).Interactions[0]
	if d := cmp.Diff([]cassette.Chunk{{Bytes: 11, Micros: 0}, {Bytes: 22, Micros: 30000}, {Bytes: 35, Micros: 80000}}, in.Notes.Chunks); d != "" {
		t.Errorf("the pace:\n%s", d)
	}
	if in.Response.Duration != 80*time.Millisecond || !*in.Notes.Complete || string(in.Response.Body) != events {
		t.Errorf("recorded: %+v, %+v", in.Response, in.Notes)
	}
	if _, err := os.Stat(cassette.PartialPath(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the partial file is still there: %v", err)
	}
}

func TestTheOrderIsThatOfTheRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	r := record(t, path, cassette.Recording{Next: api(func(req *http.Request) (*http.Response, error) {
		return answerOf(strings.NewReader("of " + req.URL.Path)), nil
	})})
	var answers []*http.Response
	for _, p := range []string{"/a", "/b", "/c"} {
		resp, err := r.RoundTrip(sent(t, p, `{}`))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, resp)
	}
	for _, i := range []int{2, 0, 1} { // they end in another order
		if _, err := io.ReadAll(answers[i].Body); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, r)
	var got []string
	for _, in := range open(t, path).Interactions {
		got = append(got, in.Request.URL+" "+string(in.Response.Body))
	}
	if d := cmp.Diff([]string{"https://api.example.com/a of /a", "https://api.example.com/b of /b", "https://api.example.com/c of /c"}, got); d != "" {
		t.Error(d)
	}
	if r.Recorded() != 3 || r.Kept() != 0 {
		t.Errorf("recorded %d, kept %d", r.Recorded(), r.Kept())
	}
}

func TestEqualRequestsInParallelGetARecordingEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	var n atomic.Int64
	r := record(t, path, cassette.Recording{Next: api(func(*http.Request) (*http.Response, error) {
		return answerOf(strings.NewReader(strconv.FormatInt(n.Add(1), 10))), nil
	})})
	all := func(rt http.RoundTripper) map[string]int {
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				text, err := exchanged(rt, sent(t, "/v1/messages", `{"same":true}`))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[text]++
			})
		}
		wg.Wait()
		return got
	}
	recorded := all(r)
	finish(t, r)
	f := open(t, path)
	if d := cmp.Diff(recorded, all(player(t, f, cassette.Options{}))); d != "" || len(recorded) != 8 {
		t.Errorf("recorded and replayed: %v\n%s", recorded, d)
	}
	// One after the other they come in the order of the file, every time.
	for range 2 {
		p := player(t, f, cassette.Options{})
		for i := range f.Interactions {
			if text, err := exchanged(p, sent(t, "/v1/messages", `{"same":true}`)); err != nil || text != string(f.Interactions[i].Response.Body) {
				t.Errorf("request %d got %q, %v; want %q", i+1, text, err, f.Interactions[i].Response.Body)
			}
		}
	}
}

// status is an answer of another status.
func status(code int, body string) *http.Response {
	resp := answerOf(strings.NewReader(body))
	resp.StatusCode, resp.Status = code, strconv.Itoa(code)+" "+http.StatusText(code)
	return resp
}

func TestErrorsOfTheTransportAreRecordedAndReplayed(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	rows := []struct {
		why     string
		err     error
		is      error
		timeout bool
	}{
		{"refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), syscall.ECONNREFUSED, false},
		{"reset", dial(os.NewSyscallError("read", syscall.ECONNRESET)), syscall.ECONNRESET, false},
		{"the client's deadline", context.DeadlineExceeded, context.DeadlineExceeded, true},
		{"a deadline of the connection", dial(os.ErrDeadlineExceeded), os.ErrDeadlineExceeded, true},
		{"cut", fmt.Errorf("http: %w", io.ErrUnexpectedEOF), io.ErrUnexpectedEOF, false},
		{"closed before an answer", &url.Error{Op: "Post", URL: "https://x/?key=1234567", Err: io.EOF}, io.EOF, false},
		{"given up by the client", fmt.Errorf("net/http: %w", context.Canceled), context.Canceled, false},
		{"a name that is not found", dial(&net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}), nil, false},
		{"anything else", errors.New("tls: bad certificate"), nil, false},
	}
	for _, when := range []string{"before the answer", "in the middle of it"} {
		for _, row := range rows {
			why := row.why + " " + when
			path := filepath.Join(t.TempDir(), "m.yaml")
			r := record(t, path, cassette.Recording{Next: api(func(req *http.Request) (*http.Response, error) {
				if when == "before the answer" {
					return nil, row.err
				}
				return answerOf(&slow{ctx: req.Context(), pieces: []piece{{0, "half"}}, end: row.err}), nil
			})})
			text, err := exchanged(r, sent(t, "/v1/messages", `{}`))
			if !errors.Is(err, row.err) {
				t.Errorf("%s: the client got %v", why, err)
			}
			finish(t, r)
			again, err := exchanged(player(t, open(t, path), cassette.Options{}), sent(t, "/v1/messages", `{}`))
			switch {
			case again != text || err == nil || failure.Of(err) == failure.CassetteMiss:
				t.Errorf("%s: replayed %q, %v; want %q", why, again, err, text)
			case (errors.Is(row.is, context.Canceled) || errors.Is(row.is, io.EOF)) && when != "before the answer":
				row.is = io.ErrUnexpectedEOF // no good end
			}
			if row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("%s: the replay's error is %v, want %v", why, err, row.is)
			}
			var n net.Error
			if got := errors.As(err, &n) && n.Timeout(); got != row.timeout {
				t.Errorf("%s: the replay's error %v has Timeout %v", why, err, got)
			}
			var dns *net.DNSError
			if strings.HasPrefix(why, "a name") && (!errors.As(err, &dns) || !dns.IsNotFound) {
				t.Errorf("%s: the replay's error is %v", why, err)
			}
		}
	}
}

func TestAClientThatHangsUp(t *testing.T) {
	const stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
	const end = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	rows := []struct {
		why      string
		body     string
		announce bool
		read     int
		complete bool
	}{
		{"in the middle of a stream", stream + end, false, len(stream), false},
		{"behind the last event, as SDKs do that look no further", stream + end, false, len(stream + end), true},
		{"behind the last announced byte", `{"a":1}`, true, 7, true},
		{"before the last announced byte", `{"a":1}`, true, 5, false},
		{"at once", stream + end, false, 0, false},
	}
	for _, row := range rows {
		path := filepath.Join(t.TempDir(), "m.yaml")
		r := record(t, path, cassette.Recording{Next: api(func(*http.Request) (*http.Response, error) {
			resp := answerOf(strings.NewReader(row.body), "Content-Type", "text/event-stream")
			if row.announce {
				resp.ContentLength = int64(len(row.body))
			}
			return resp, nil
		})})
		resp, err := r.RoundTrip(sent(t, "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, row.read)); err != nil {
			t.Fatal(err)
		}
		if row.read > 0 || row.complete {
			resp.Body.Close()
		}
		finish(t, r)
		in := open(t, path).Interactions[0]
		if *in.Notes.Complete != row.complete || string(in.Response.Body) != row.body[:row.read] || in.Notes.Transport != nil {
			t.Errorf("%s: complete %v, body %q, %v", row.why, *in.Notes.Complete, in.Response.Body, in.Notes.Transport)
		}
		_, err = exchanged(player(t, open(t, path), cassette.Options{}), sent(t, "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`))
		if row.complete != (err == nil) || !row.complete && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: a replay that reads on got %v", row.why, err)
		}
	}
}

func TestCompressedAnswersAreRecorded(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, `{"user":{"email":"bob@example.com"}}`)
	_ = w.Close()
	rows := []struct {
		why    string
		redact cassette.Redaction
		want   string
	}{
		{"as they came", cassette.Redaction{}, zipped.String()},
		{"in plain where something is taken out", cassette.Redaction{JSON: []string{"/user/email"}}, `{"user":{"email":"[redacted]"}}`},
	}
	for _, row := range rows {
		path := filepath.Join(t.TempDir(), "m.yaml")
		r := record(t, path, cassette.Recording{Redact: row.redact, Next: api(func(req *http.Request) (*http.Response, error) {
			if a := req.Header.Get("Accept-Encoding"); a != "" {
				t.Errorf("%s: the API is asked for %q", row.why, a)
			}
			return answerOf(bytes.NewReader(zipped.Bytes()), "Content-Encoding", "gzip", "Content-Type", "application/json"), nil
		})})
		text, err := exchanged(r, sent(t, "/x", `{}`, "Accept-Encoding", "gzip, br"))
		if err != nil || text != zipped.String() {
			t.Errorf("%s: the client got %q, %v", row.why, text, err)
		}
		finish(t, r)
		text, err = exchanged(player(t, open(t, path), cassette.Options{}), sent(t, "/x", `{}`, "Accept-Encoding", "gzip, br"))
		if err != nil || text != row.want {
			t.Errorf("%s: the replay gives %q, %v", row.why, text, err)
		}
	}
}

func TestABodyThatCannotBeSearchedIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	r := record(t, path, cassette.Recording{Secrets: redact.New(redact.Secret{Name: "KEY", Value: "canary-1234"}), Next: api(func(*http.Request) (*http.Response, error) {
		return answerOf(strings.NewReader("\x00\x01\x02"), "Content-Encoding", "zstd"), nil
	})})
	if _, err := exchanged(r, sent(t, "/x", `{}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(); err == nil || !strings.Contains(err.Error(), "zstd") {
		t.Errorf("Finish: %v", err)
	}
}

func TestPace(t *testing.T) {
	var waited time.Duration
	wait := func(_ context.Context, d time.Duration) error { waited += d; return nil }
	if cassette.Pace(0, wait) != nil {
		t.Error("speed 0 waits")
	}
	for speed, want := range map[float64]time.Duration{1: time.Minute, 10: 6 * time.Second, 0.5: 2 * time.Minute} {
		waited = 0
		if err := cassette.Pace(speed, wait)(t.Context(), time.Minute); err != nil || waited != want {
			t.Errorf("speed %v waits %v for a minute, %v", speed, waited, err)
		}
	}
}

// serve is the address of a server on loopback.
func serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return s.URL
}

package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
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
func sent(t testing.TB, path, body string, header ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.com"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
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

func record(t testing.TB, path string, o cassette.Recording) *cassette.Recorder {
	t.Helper()
	r, err := cassette.Record(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func finish(t testing.TB, r interface{ Finish() error }) {
	t.Helper()
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *cassette.File {
	t.Helper()
	f, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
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

package referee_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/cassette"
)

// answering is a transport that answers each request with the next body.
type answering []string

func (a *answering) RoundTrip(*http.Request) (*http.Response, error) {
	body := (*a)[0]
	*a = (*a)[1:]
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// TestStockReadsWhatTheRecorderWrites: both releases of go-vcr read a recorded
// cassette as its reader here does, whatever was answered. (v3.2.0 loses a
// leading newline in files of its own writing, not in these.)
func TestStockReadsWhatTheRecorderWrites(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "m.yaml")
		_ = os.Remove(path)
		bodies := rapid.SliceOfN(hardText(), 1, 3).Draw(t, "answers")
		asked := rapid.SliceOfN(hardText(), len(bodies), len(bodies)).Draw(t, "requests")
		next := answering(append([]string(nil), bodies...))
		rec, err := cassette.Record(path, cassette.Recording{Next: &next})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range asked {
			req, err := http.NewRequest(http.MethodPost, "https://api.example.invalid/v1/messages?beta=true", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := rec.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Fatal(err)
			}
		}
		if err := rec.Finish(); err != nil {
			t.Fatal(err)
		}
		f, err := cassette.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for release, load := range stock() {
			got, err := load(path)
			if err != nil {
				t.Fatalf("go-vcr %s does not load it: %v", release, err)
			}
			for i := range got {
				if got[i].Asked != asked[i] || got[i].Answered != bodies[i] {
					t.Fatalf("go-vcr %s, exchange %d: asked %q, answered %q; want %q, %q", release, i+1, got[i].Asked, got[i].Answered, asked[i], bodies[i])
				}
			}
			if d := cmp.Diff(exchanges(f), got); d != "" {
				t.Fatalf("go-vcr %s (-written +read):\n%s", release, d)
			}
		}
	})
}

package cassette_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/redact"
)

// BenchmarkRecorder is what recording adds to an exchange of 5 KB each way: nothing
// at all (bare), all but the disk (memory), all of it (disk).
func BenchmarkRecorder(b *testing.B) {
	asked := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 1000) + `"}]}`
	answered := `{"content":[{"type":"text","text":"` + strings.Repeat("word ", 1000) + `"}]}`
	live := api(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return answerOf(strings.NewReader(answered), "Content-Type", "application/json"), nil
	})
	run := func(b *testing.B, rt http.RoundTripper) {
		b.Helper()
		for b.Loop() {
			if _, err := exchanged(rt, sent(b, "/v1/messages", asked)); err != nil {
				b.Fatal(err)
			}
		}
	}
	o := cassette.Recording{
		Next: live, Secrets: redact.New(redact.Secret{Name: "KEY", Value: "sk-live-0123456789abcdef"}),
		Redact: cassette.Redaction{JSON: []string{"/user/email"}},
	}
	b.Run("bare", func(b *testing.B) { run(b, live) })
	b.Run("memory", func(b *testing.B) {
		r, err := cassette.RecordOn(cassette.BadDisk{Fault: func(string) error { return nil }}, filepath.Join(b.TempDir(), "m.yaml"), o)
		if err != nil {
			b.Fatal(err)
		}
		run(b, r)
		_ = r.Close()
	})
	b.Run("disk", func(b *testing.B) { run(b, record(b, filepath.Join(b.TempDir(), "m.yaml"), o)) })
	b.Run("filed by go-vcr alone", func(b *testing.B) {
		for b.Loop() {
			if err := cassette.FileOnce(sent(b, "/v1/messages", asked), []byte(asked), answerOf(strings.NewReader("")), []byte(answered)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRecordedLoopback is an exchange over a real connection, with and without.
func BenchmarkRecordedLoopback(b *testing.B) {
	answered := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("word ", 1000) + `"}]}`)
	server := serve(b, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answered)
	}))
	asked := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 1000) + `"}]}`
	for _, way := range []string{"bare", "recorded"} {
		b.Run(way, func(b *testing.B) {
			live := &http.Transport{}
			defer live.CloseIdleConnections()
			rt := http.RoundTripper(live)
			if way == "recorded" {
				rt = record(b, filepath.Join(b.TempDir(), "m.yaml"), cassette.Recording{Next: live})
			}
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server+"/v1/messages", strings.NewReader(asked))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := exchanged(rt, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

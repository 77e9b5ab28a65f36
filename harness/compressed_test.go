package harness_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/retake-harness/retake/harness"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// An agent that undoes a compression by itself is read like any other.
func TestACompressedAnswerIsRead(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, `{"id":"1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hello!"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":4}}`); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := newProject(t)
	r := p.exec("hello", func(hp *harness.Params) {
		hp.Transport = transport(func(req *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(bytes.NewReader(packed.Bytes())),
				Header: http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}},
			}, nil
		})
		hp.Agent = harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
			resp, err := ask(ctx, env, hello)
			if err != nil {
				return "", err
			}
			defer func() { _ = resp.Body.Close() }()
			if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, packed.Bytes()) {
				t.Errorf("the agent got other bytes: %v", err)
			}
			return "Hello!", nil
		})
	})
	if r.Verdict != harness.Pass || r.Tokens.Total() != 13 {
		t.Errorf("%s, %d tokens: %+v", r.Verdict, r.Tokens.Total(), r.Failures)
	}
}

package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	govcr "gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

const liveKey = "live-key-c4n4ry-7781"

// conversation is what a client of an API asks, over and over: a request of each
// kind, the second after an answer.
func conversation(t *testing.T, api wire.API, base, key string) []*http.Request {
	t.Helper()
	c, ok := codec.For(api)
	if !ok {
		t.Fatal(api)
	}
	if api == wire.OpenAIChat || api == wire.OpenAIResponses {
		base += "/v1"
	}
	var out []*http.Request
	for _, stream := range []bool{false, true} {
		r := &wire.Request{Model: "m-1", MaxTokens: 64, Stream: stream, Messages: []wire.Message{
			{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: "What is the weather?"}}},
		}}
		body, err := c.EncodeRequest(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+c.Path(r.Model, stream), bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		switch api {
		case wire.AnthropicMessages:
			req.Header.Set("X-Api-Key", key)
		case wire.GeminiGenerate:
			req.Header.Set("X-Goog-Api-Key", key)
			q := req.URL.Query()
			q.Set("key", key)
			req.URL.RawQuery = q.Encode()
		default:
			req.Header.Set("Authorization", "Bearer "+key)
		}
		out = append(out, req)
	}
	return out
}

// heard is what a client gets of an answer.
type heard struct {
	Code   int
	Header http.Header
	Body   string
	Err    bool
}

func listen(rt http.RoundTripper, req *http.Request) heard {
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return heard{Err: true}
	}
	body, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	h := resp.Header.Clone()
	for name := range h { // what a recording does not have
		switch name {
		case "Content-Type", "Retry-After", "Request-Id", "X-Request-Id":
		default:
			h.Del(name)
		}
	}
	return heard{resp.StatusCode, h, string(body), err != nil}
}

// TestEachAPIIsRecordedAndReplayed is the whole way over a real connection: refused
// for its rate, answered whole, streamed, cut off; then the same without network and
// key. The key is in no file.
func TestEachAPIIsRecordedAndReplayed(t *testing.T) {
	for _, a := range []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate} {
		t.Run(string(a), func(t *testing.T) {
			server, err := standin.Start(standin.Script{
				Key: liveKey, Header: http.Header{"Set-Cookie": {liveKey}},
				Conversations: []standin.Conversation{{Turns: []standin.Turn{{
					Turn:     script.Turn{Text: "It rains in London.", Calls: []script.Call{{Name: "get_weather", Args: `{"city":"London"}`}}},
					Failures: []standin.Failure{{Status: 429}, {Break: standin.Break{How: standin.EndsCut, After: 2}}},
				}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			path := filepath.Join(t.TempDir(), "m.yaml")
			live := &http.Transport{}
			defer live.CloseIdleConnections()
			secrets := redact.New(redact.Secret{Name: "KEY", Value: liveKey})
			r := record(t, path, cassette.Recording{Next: live, Secrets: secrets, Notes: cassette.FileNotes{Model: "m-1"}})
			var recorded []heard
			for range 2 {
				for _, req := range conversation(t, a, server.URL, liveKey) {
					recorded = append(recorded, listen(r, req))
				}
			}
			noSecretIn(t, filepath.Dir(path), secrets)
			finish(t, r)
			noSecretIn(t, filepath.Dir(path), secrets)
			if recorded[0].Code != 429 || !recorded[1].Err || recorded[2].Code != 200 || !strings.Contains(recorded[2].Body, "London") || recorded[3].Err || recorded[3].Code != 200 {
				t.Errorf("recorded: %+v", recorded)
			}
			f := open(t, path)
			p := player(t, f, cassette.Options{})
			var replayed []heard
			for range 2 {
				for _, req := range conversation(t, a, "https://nobody.invalid", "") {
					replayed = append(replayed, listen(p, req))
				}
			}
			if d := cmp.Diff(recorded, replayed); d != "" {
				t.Errorf("recorded and replayed:\n%s", d)
			}
			stockReplays(t, path, f)
		})
	}
}

// stockReplays has go-vcr itself replay what is whole in the cassette.
func stockReplays(t *testing.T, path string, f *cassette.File) {
	t.Helper()
	vcr, err := recorder.New(strings.TrimSuffix(path, ".yaml"), recorder.WithMode(recorder.ModeReplayOnly), recorder.WithSkipRequestLatency(true),
		recorder.WithMatcher(func(req *http.Request, q govcr.Request) bool {
			body, err := io.ReadAll(req.Body)
			req.Body = io.NopCloser(bytes.NewReader(body))
			return err == nil && req.Method == q.Method && req.URL.String() == q.URL && string(body) == q.Body
		}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Interactions {
		in := &f.Interactions[i]
		req, err := http.NewRequestWithContext(context.Background(), in.Request.Method, in.Request.URL, bytes.NewReader(in.Request.Body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := exchanged(vcr, req); err != nil || body != string(in.Response.Body) {
			t.Errorf("go-vcr replays exchange %d as %q, %v", i+1, body, err)
		}
	}
}

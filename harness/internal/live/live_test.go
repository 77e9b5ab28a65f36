package live_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

var apis = []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate}

// hello is a stand-in that says hello for 120 tokens.
func hello(t *testing.T, turn standin.Turn) *standin.Server {
	t.Helper()
	if turn.Text == "" {
		turn.Text = "Hello."
	}
	turn.Usage = script.Usage{Input: 100, Output: 20}
	s, err := standin.Start(standin.Script{Conversations: []standin.Conversation{{Turns: []standin.Turn{turn}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// base is the base URL of an API at a server.
func base(api wire.API, url string) string {
	if api == wire.OpenAIChat || api == wire.OpenAIResponses {
		return url + "/v1"
	}
	return url
}

func request(t *testing.T, ctx context.Context, api wire.API, base string, stream bool) *http.Request {
	t.Helper()
	k, _ := codec.For(api)
	text, err := k.EncodeRequest(nil, &wire.Request{
		Model: "m-1", MaxTokens: 9, Stream: stream,
		Messages: []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: "go"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+k.Path("m-1", stream), bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func transport(t *testing.T, s *live.Session, target live.Target) *live.Transport {
	t.Helper()
	out, err := s.Transport(target)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var price = &harness.Price{Input: new(1000.0), Output: new(5000.0)}

// Whatever the API and the form of the answer, the session has counted it when it
// was read.
func TestCounted(t *testing.T) {
	for _, api := range apis {
		for _, stream := range []bool{false, true} {
			server := hello(t, standin.Turn{})
			session := live.NewSession(live.Cap{}, nil)
			var told []live.Spent
			session.Watch = func(s live.Spent) { told = append(told, s) }
			target := live.Target{API: api, Model: "m-1", BaseURL: base(api, server.URL), Key: live.Key{Name: "KEY", Value: server.Key()}, Price: price}
			req := request(t, t.Context(), api, target.BaseURL, stream)
			req.Header.Set("Cookie", "a=b")
			req.Header.Set("X-Retake-Run", "7")
			resp, err := transport(t, session, target).RoundTrip(req)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %+v, %v", api, resp, err)
			}
			if session.Spent().Tokens != 0 {
				t.Errorf("%s: counted before it was read", api)
			}
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Error(err)
			}
			resp.Body.Close()
			want := live.Spent{Requests: 1, Tokens: 120, Cost: 0.2}
			if diff := cmp.Diff(want, session.Spent()); diff != "" {
				t.Errorf("%s, stream %v (-want +got):\n%s", api, stream, diff)
			}
			if diff := cmp.Diff([]live.Spent{want}, told); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", api, diff)
			}
			if h := server.Asked()[0].Header; h.Get("Cookie") != "" || h.Get("X-Retake-Run") != "" {
				t.Errorf("%s: what is nobody else's business went out: %v", api, h)
			}
			if req.Header.Get("Cookie") == "" || strings.Contains(strings.Join(req.Header.Values("Authorization"), ""), server.Key()) {
				t.Errorf("%s: the agent's own request was changed: %v", api, req.Header)
			}
		}
	}
}

// A key comes into the provider's header, unless the agent has its own.
func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		why    string
		api    wire.API
		header string
		value  string
		query  string
		want   int
	}{
		{"no key at all", wire.AnthropicMessages, "", "", "", 200},
		{"the placeholder", wire.AnthropicMessages, "X-Api-Key", harness.PlaceholderKey, "", 200},
		{"the placeholder as a token", wire.AnthropicMessages, "Authorization", "Bearer " + harness.PlaceholderKey, "", 200},
		{"one of the agent's own", wire.AnthropicMessages, "X-Api-Key", "another", "", 401},
		{"the placeholder, chat", wire.OpenAIChat, "Authorization", "Bearer " + harness.PlaceholderKey, "", 200},
		{"one of the agent's own, responses", wire.OpenAIResponses, "Authorization", "Bearer another", "", 401},
		{"the placeholder, Gemini", wire.GeminiGenerate, "X-Goog-Api-Key", harness.PlaceholderKey, "", 200},
		{"the placeholder in the query, Gemini", wire.GeminiGenerate, "", "", "key=" + harness.PlaceholderKey, 200},
		{"one of the agent's own in the query, Gemini", wire.GeminiGenerate, "", "", "key=another", 401},
	} {
		server := hello(t, standin.Turn{})
		target := live.Target{API: tt.api, Model: "m-1", BaseURL: base(tt.api, server.URL), Key: live.Key{Name: "KEY", Value: server.Key()}}
		req := request(t, t.Context(), tt.api, target.BaseURL, false)
		if tt.header != "" {
			req.Header.Set(tt.header, tt.value)
		}
		req.URL.RawQuery = tt.query
		resp, err := transport(t, live.NewSession(live.Cap{}, nil), target).RoundTrip(req)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.why, resp.StatusCode, tt.want)
		}
		asked := server.Asked()[0]
		if strings.Contains(asked.URL, harness.PlaceholderKey) {
			t.Errorf("%s: the placeholder went out: %s", tt.why, asked.URL)
		}
	}
}

// A redirect to another host gets neither the key nor the conversation.
func TestRedirect(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/messages", http.StatusTemporaryRedirect))
	defer first.Close()
	target := live.Target{API: wire.AnthropicMessages, Model: "m-1", BaseURL: first.URL, Key: live.Key{Name: "KEY", Value: "the-secret-key"}}
	client := &http.Client{Transport: transport(t, live.NewSession(live.Cap{}, nil), target)}
	_, err := client.Do(request(t, t.Context(), target.API, target.BaseURL, false))
	if err == nil || failure.Of(err) != failure.World || !strings.Contains(err.Error(), "is not sent: the model's address is "+first.URL) || reached {
		t.Errorf("%v, reached: %v", err, reached)
	}
}

// The request that would go out when the cap is reached is refused; what was under
// way is not.
func TestCap(t *testing.T) {
	for _, tt := range []struct {
		why   string
		cap   live.Cap
		price *harness.Price
		pass  int
		says  string
	}{
		{"tokens", live.Cap{Tokens: 240}, price, 2, "240 tokens are used, of at most 240"},
		{"tokens, passed by the last answer", live.Cap{Tokens: 130}, price, 2, "240 tokens are used, of at most 130"},
		{"money", live.Cap{Tokens: 100000, Cost: 0.5}, price, 3, "$0.60 are spent, of at most $0.50"},
		{"money, of which nobody knows", live.Cap{Tokens: 360, Cost: 0.1}, nil, 3, "360 tokens are used"},
	} {
		server := hello(t, standin.Turn{})
		session := live.NewSession(tt.cap, nil)
		target := live.Target{API: wire.OpenAIChat, Model: "m-1", BaseURL: server.URL + "/v1", Key: live.Key{Value: server.Key()}, Price: tt.price}
		tr := transport(t, session, target)
		for n := 0; ; n++ {
			resp, err := tr.RoundTrip(request(t, t.Context(), target.API, target.BaseURL, true))
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				continue
			}
			if n != tt.pass || !errors.Is(err, live.ErrCap) || failure.Of(err) != failure.Budget || !strings.Contains(err.Error(), tt.says) || session.Reached() == "" {
				t.Errorf("%s: after %d requests: %v", tt.why, n, err)
			}
			break
		}
		if unpriced := len(session.Spent().Unpriced); (unpriced == 1) != (tt.price == nil) {
			t.Errorf("%s: %+v", tt.why, session.Spent())
		}
	}
}

// Parallel clients share one account.
func TestShared(t *testing.T) {
	server := hello(t, standin.Turn{})
	session := live.NewSession(live.Cap{}, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			target := live.Target{API: wire.AnthropicMessages, Model: "m-1", BaseURL: server.URL, Key: live.Key{Value: server.Key()}, Price: price}
			tr, err := session.Transport(target)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := tr.RoundTrip(request(t, t.Context(), target.API, target.BaseURL, false))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	wg.Wait()
	if s := session.Spent(); s.Requests != 8 || s.Tokens != 960 {
		t.Errorf("%+v", s)
	}
}

// A failed answer costs nothing; one that broke off costs by its length.
func TestWhatIsNotSaid(t *testing.T) {
	for _, tt := range []struct {
		why  string
		turn standin.Turn
		want func(live.Spent) bool
	}{
		{"a refusal", standin.Turn{Failures: []standin.Failure{{Status: 529}}}, func(s live.Spent) bool { return s.Tokens == 0 && s.Estimated == 0 && s.Requests == 1 }},
		{"an error inside a stream", standin.Turn{Break: standin.Break{How: standin.EndsError}}, func(s live.Spent) bool { return s.Tokens > 0 && s.Estimated == 1 }},
		{"a stream that is cut", standin.Turn{Break: standin.Break{How: standin.EndsCut, After: 2}}, func(s live.Spent) bool { return s.Tokens > 0 && s.Estimated == 1 }},
		{"a reset before the answer", standin.Turn{Break: standin.Break{How: standin.EndsReset}}, func(s live.Spent) bool { return s.Tokens == 0 && s.Estimated == 0 }},
	} {
		server := hello(t, tt.turn)
		session := live.NewSession(live.Cap{}, nil)
		target := live.Target{API: wire.AnthropicMessages, Model: "m-1", BaseURL: server.URL, Key: live.Key{Value: server.Key()}, Price: price}
		resp, err := transport(t, session, target).RoundTrip(request(t, t.Context(), target.API, target.BaseURL, true))
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if s := session.Spent(); !tt.want(s) {
			t.Errorf("%s: %+v", tt.why, s)
		}
	}
}

// Counting holds nothing back: the first event arrives while the stand-in waits
// for that before it says the second.
func TestStreamsPass(t *testing.T) {
	arrived := make(chan struct{})
	server, err := standin.Start(standin.Script{
		Conversations: []standin.Conversation{{Turns: []standin.Turn{{Turn: script.Turn{Text: "Hello."}}}}},
		Before: func(ctx context.Context, _ standin.Asked, event int) {
			if event == 1 {
				select {
				case <-arrived:
				case <-ctx.Done():
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	target := live.Target{API: wire.AnthropicMessages, Model: "m-1", BaseURL: server.URL, Key: live.Key{Value: server.Key()}}
	resp, err := transport(t, live.NewSession(live.Cap{}, nil), target).RoundTrip(request(t, t.Context(), target.API, target.BaseURL, true))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	close(arrived)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
}

func TestFindKey(t *testing.T) {
	env := map[string]string{"ANTHROPIC_API_KEY": "a", "GOOGLE_API_KEY": "g", "MINE": "m", "BLANK": " "}
	for _, tt := range []struct {
		why   string
		api   wire.API
		named string
		own   bool
		want  string // name, or what the error says
	}{
		{"the provider's usual one", wire.AnthropicMessages, "", false, "ANTHROPIC_API_KEY"},
		{"the second of two usual ones", wire.GeminiGenerate, "", false, "GOOGLE_API_KEY"},
		{"the named one goes before", wire.AnthropicMessages, "MINE", false, "MINE"},
		{"a named one that is not set", wire.AnthropicMessages, "OTHER", false, "the environment variable OTHER is not set"},
		{"a named one that is blank", wire.AnthropicMessages, "BLANK", true, "the environment variable BLANK is not set"},
		{"a usual one that is not set", wire.OpenAIChat, "", false, "set the environment variable OPENAI_API_KEY, or name another one in retake.yaml under models.m-1.key"},
		{"an address of its own gets no usual one", wire.AnthropicMessages, "", true, ""},
		{"an address of its own with a named one", wire.AnthropicMessages, "MINE", true, "MINE"},
	} {
		got, err := live.FindKey(tt.api, "m-1", tt.named, tt.own, "retake.yaml", func(name string) string { return env[name] })
		switch {
		case err != nil && (failure.Of(err) != failure.World || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v", tt.why, err)
		case err == nil && got.Name != tt.want:
			t.Errorf("%s: %+v, want %s", tt.why, got, tt.want)
		}
	}
}

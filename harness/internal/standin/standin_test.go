package standin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

var apis = []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate}

func start(t *testing.T, s standin.Script) *standin.Server {
	t.Helper()
	server, err := standin.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// client speaks one API to a stand-in.
type client struct {
	api    wire.API
	base   string
	key    string
	stream bool
}

// post sends a request; the caller closes the answer's body.
func (c client) post(ctx context.Context, r *wire.Request) (*http.Response, error) {
	k, _ := codec.For(c.api)
	r.Stream = c.stream
	body, err := k.EncodeRequest(nil, r)
	if err != nil {
		return nil, err
	}
	base := c.base
	if c.api == wire.OpenAIChat || c.api == wire.OpenAIResponses {
		base += "/v1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+k.Path(r.Model, c.stream), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	switch {
	case c.key == "":
	case c.api == wire.AnthropicMessages:
		req.Header.Set("X-Api-Key", c.key)
	case c.api == wire.GeminiGenerate:
		req.Header.Set("X-Goog-Api-Key", c.key)
	default:
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return new(http.Client).Do(req)
}

// ask sends a request and decodes the answer.
func (c client) ask(ctx context.Context, r *wire.Request) (*wire.Response, *http.Response, error) {
	resp, err := c.post(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, resp, err
	}
	k, _ := codec.For(c.api)
	got, err := k.DecodeResponse(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	return got, resp, err
}

func says(text string) wire.Message {
	return wire.Message{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: text}}}
}

func first(text string) *wire.Request {
	return &wire.Request{Model: "m-1", MaxTokens: 100, Messages: []wire.Message{says(text)}}
}

// next is the request with the results of the answer's calls.
func next(r *wire.Request, a *wire.Response) *wire.Request {
	out := *r
	results := wire.Message{Role: wire.RoleUser}
	for _, c := range a.Calls() {
		results.Blocks = append(results.Blocks, wire.Block{Kind: wire.KindToolResult, ID: c.ID, Name: c.Name, Result: []wire.Block{{Kind: wire.KindText, Text: `{"rain":true}`}}})
	}
	out.Messages = append(append([]wire.Message(nil), r.Messages...), a.Message, results)
	return &out
}

var weather = standin.Conversation{User: "umbrella", Turns: []standin.Turn{
	{Turn: script.Turn{Text: "I look.", Calls: []script.Call{{Name: "get_weather", Args: `{"city":"London"}`}, {Name: "get_weather", Args: `{"city":"Oslo"}`}}, Usage: script.Usage{Input: 20, Output: 9}}},
	{Turn: script.Turn{Text: "Take one.", Usage: script.Usage{Input: 40, Output: 3}}, Models: map[string]script.Turn{"m-2": {Text: "Better take one."}}},
}}

// Eight clients at once each get the answers of their own conversation, over all
// APIs, in streams and not.
func TestConversations(t *testing.T) {
	hello := standin.Conversation{User: "hello", Turns: []standin.Turn{{Turn: script.Turn{Text: "Hello."}}}}
	server := start(t, standin.Script{Conversations: []standin.Conversation{hello, weather}})
	var wg sync.WaitGroup
	for _, api := range apis {
		for _, stream := range []bool{false, true} {
			c := client{api, server.URL, server.Key(), stream}
			wg.Go(func() {
				r := first("Do I need an umbrella?")
				a, _, err := c.ask(t.Context(), r)
				if err != nil || a.Stop != wire.StopToolCalls || !a.Complete || len(a.Calls()) != 2 || a.Usage.Total() != 29 || a.Streamed != stream {
					t.Errorf("%s: %+v, %v", api, a, err)
					return
				}
				b, _, err := c.ask(t.Context(), next(r, a))
				if err != nil || b.Text() != "Take one." || b.Stop != wire.StopDone {
					t.Errorf("%s: %+v, %v", api, b, err)
				}
				other := next(r, a)
				other.Model = "m-2"
				if b, _, err = c.ask(t.Context(), other); err != nil || b.Text() != "Better take one." {
					t.Errorf("%s: m-2: %+v, %v", api, b, err)
				}
				if b, _, err = c.ask(t.Context(), first("hello")); err != nil || b.Text() != "Hello." {
					t.Errorf("%s: the other conversation: %+v, %v", api, b, err)
				}
			})
		}
	}
	wg.Wait()
	if n := len(server.Asked()); n != 4*2*4 {
		t.Errorf("%d requests were noted", n)
	}
}

// A request that builds on an answer which the provider keeps brings no history.
func TestContinued(t *testing.T) {
	server := start(t, standin.Script{Conversations: []standin.Conversation{weather}})
	c := client{api: wire.OpenAIResponses, base: server.URL, key: server.Key()}
	a, _, err := c.ask(t.Context(), first("umbrella"))
	if err != nil {
		t.Fatal(err)
	}
	r := next(first("umbrella"), a)
	r.Messages = r.Messages[2:]
	r.Params = []wire.Field{{Name: "previous_response_id", Value: []byte(`"` + a.ID + `"`)}}
	if b, _, err := c.ask(t.Context(), r); err != nil || b.Text() != "Take one." {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestRefusals(t *testing.T) {
	server := start(t, standin.Script{Header: http.Header{"X-Extra": {"yes"}}, Conversations: []standin.Conversation{{User: "busy", Turns: []standin.Turn{{
		Turn: script.Turn{Text: "At last."},
		Failures: []standin.Failure{
			{Status: 429, RetryAfter: 7 * time.Second},
			{Status: 529},
			{Status: 500},
			{Status: 502, Body: "<html>bad gateway</html>"},
		},
	}}}}})
	for _, api := range apis {
		c := client{api: api, base: server.For(string(api)), key: server.Key()}
		var got []string
		for range 5 {
			a, resp, err := c.ask(t.Context(), first("busy"))
			if err != nil || a.Err == nil {
				got = append(got, a.Text())
				continue
			}
			got = append(got, string(a.Err.Class()))
			if wire.RetryAfter(resp.Header) > 0 {
				got = append(got, wire.RetryAfter(resp.Header).String())
			}
			if resp.Header.Get("X-Extra") != "yes" {
				t.Errorf("%s: the script's header is missing", api)
			}
		}
		want := []string{"rate_limited", "7s", "overloaded", "server_error", "server_error", "At last."}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", api, diff)
		}
		for _, tt := range []struct {
			why, key, user, says string
			class                failure.Class
		}{
			{"no key", "", "busy", "no valid API key", failure.Unauthorized},
			{"a wrong key", "nonsense", "busy", "no valid API key", failure.Unauthorized},
			{"an unknown conversation", server.Key(), "what?", `no conversation that begins with "what?"`, failure.ClientError},
		} {
			c.key = tt.key
			a, _, err := c.ask(t.Context(), first(tt.user))
			if err != nil || a.Err == nil || a.Err.Class() != tt.class || !strings.Contains(a.Err.Message, tt.says) {
				t.Errorf("%s, %s: %+v, %v", api, tt.why, a, err)
			}
		}
	}
}

// The ends of an answer that does not end well.
func TestBreaks(t *testing.T) {
	ends := func(b standin.Break) standin.Script {
		return standin.Script{Conversations: []standin.Conversation{{Turns: []standin.Turn{{
			Turn:     script.Turn{Text: "A long answer."},
			Failures: []standin.Failure{{Break: b}},
		}}}}}
	}
	for _, api := range apis {
		for _, tt := range []struct {
			why    string
			end    standin.Break
			stream bool
			is     error
			class  failure.Class
		}{
			{"a reset before the answer", standin.Break{How: standin.EndsReset}, true, syscall.ECONNRESET, ""},
			{"closed before the answer", standin.Break{How: standin.EndsCut}, false, io.EOF, ""},
			{"a stream that is cut", standin.Break{How: standin.EndsCut, After: 1}, true, io.ErrUnexpectedEOF, ""},
			{"a body that is cut", standin.Break{How: standin.EndsCut, After: 9}, false, io.ErrUnexpectedEOF, ""},
			{"an error inside a stream", standin.Break{How: standin.EndsError}, true, nil, failure.Overloaded},
		} {
			server := start(t, ends(tt.end))
			c := client{api, server.URL, server.Key(), tt.stream}
			a, _, err := c.ask(t.Context(), first("go"))
			if !errors.Is(err, tt.is) || tt.is == nil && (a.Err == nil || a.Err.Status != http.StatusOK) {
				t.Errorf("%s, %s: %+v, %v", api, tt.why, a, err)
			}
			if a, _, err = c.ask(t.Context(), first("go")); err != nil || a.Text() != "A long answer." {
				t.Errorf("%s, after %s: %+v, %v", api, tt.why, a, err)
			}
		}
	}
}

// What hangs hangs until the client goes; then the stand-in can be closed.
func TestHang(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := standin.Script{Conversations: []standin.Conversation{{Turns: []standin.Turn{{
		Turn: script.Turn{Text: "Never."}, Break: standin.Break{How: standin.EndsHang, After: 2},
	}}}}}
	s.Before = func(_ context.Context, _ standin.Asked, event int) {
		if event == 1 {
			cancel()
		}
	}
	server := start(t, s)
	c := client{wire.AnthropicMessages, server.URL, server.Key(), true}
	if _, _, err := c.ask(ctx, first("go")); !errors.Is(err, context.Canceled) {
		t.Errorf("it did not hang: %v", err)
	}
}

// The first event arrives while the second is held back.
func TestEventsAreFlushed(t *testing.T) {
	arrived := make(chan struct{})
	s := standin.Script{Conversations: []standin.Conversation{{Turns: []standin.Turn{{Turn: script.Turn{Text: "Hello."}}}}}}
	s.Before = func(ctx context.Context, _ standin.Asked, event int) {
		if event == 1 {
			select {
			case <-arrived:
			case <-ctx.Done():
			}
		}
	}
	for _, api := range apis[:3] { // Gemini says it in one event
		server := start(t, s)
		resp, err := client{api, server.URL, server.Key(), true}.post(t.Context(), first("go"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
			t.Errorf("%s: %v", api, err)
		}
		arrived <- struct{}{}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Errorf("%s: %v", api, err)
		}
		resp.Body.Close()
	}
}

// Without alt=sse Gemini streams a JSON list.
func TestGeminiList(t *testing.T) {
	server := start(t, standin.Script{Conversations: []standin.Conversation{weather}})
	body := `{"contents":[{"role":"user","parts":[{"text":"umbrella"}]}]}`
	req, err := http.NewRequest(http.MethodPost, server.URL+"/v1beta/models/m-1:streamGenerateContent?key="+server.Key(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := new(http.Client).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.HasPrefix(text, []byte("[{")) || !bytes.HasSuffix(text, []byte("]")) {
		t.Errorf("%s, %v", text, err)
	}
	k, _ := codec.For(wire.GeminiGenerate)
	if a, err := k.DecodeResponse(200, resp.Header.Get("Content-Type"), text); err != nil || len(a.Calls()) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}

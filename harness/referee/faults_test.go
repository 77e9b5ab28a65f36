package referee_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// struck is what an official SDK made of a faulted answer.
type struck struct {
	err    error
	turn   string        // text, then the error event where the SDK gives it as an ordinary one
	took   time.Duration // on the bubble's clock
	bodies []string      // of the attempts, as they were sent
	last   *wire.Response
}

// seam stands between the SDK and the injector and keeps what passes.
type seam struct {
	next   http.RoundTripper
	api    wire.API
	struck *struck
}

func (s seam) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		s.struck.bodies = append(s.struck.bodies, "")
		return nil, err
	}
	text, broken := io.ReadAll(resp.Body)
	s.struck.bodies = append(s.struck.bodies, string(text))
	c, _ := codec.For(s.api)
	s.struck.last, _ = c.DecodeResponse(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), ending{broken}))
	return resp, nil
}

type ending struct{ err error }

func (e ending) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

// model answers each request with a text.
func model(api wire.API, stream bool) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		c, _ := codec.For(api)
		n := int64(3)
		text, err := c.EncodeResponse(nil, &wire.Response{
			ID: "msg_1", Model: "any", Stop: wire.StopDone, Complete: true, Usage: wire.Usage{Input: &n, Output: &n},
			Message: wire.Message{Role: wire.RoleAssistant, Blocks: []wire.Block{{Kind: wire.KindText, Text: "hello"}}},
		}, stream)
		kind := "application/json"
		if stream {
			kind = "text/event-stream"
		}
		return &http.Response{
			Status: "200 OK", StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}},
			Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: r,
		}, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// say asks the API's SDK, with its own retries, and gives the text that it has.
func say(ctx context.Context, api wire.API, client *http.Client, stream bool) (string, error) {
	switch api {
	case wire.AnthropicMessages:
		return sayAnthropic(ctx, client, stream)
	case wire.OpenAIChat:
		return sayChat(ctx, client, stream)
	case wire.OpenAIResponses:
		return sayResponses(ctx, client, stream)
	default:
		return sayGemini(ctx, client, stream)
	}
}

func sayAnthropic(ctx context.Context, client *http.Client, stream bool) (string, error) {
	c := anthropic.NewClient(anthropicoption.WithAPIKey("none"), anthropicoption.WithBaseURL("http://referee.invalid"), anthropicoption.WithHTTPClient(client))
	params := anthropic.MessageNewParams{Model: "any", MaxTokens: 1, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}}
	var m anthropic.Message
	if !stream {
		got, err := c.Messages.New(ctx, params)
		if err != nil {
			return "", err
		}
		m = *got
	} else {
		s := c.Messages.NewStreaming(ctx, params)
		for s.Next() {
			if err := m.Accumulate(s.Current()); err != nil {
				return "", err
			}
		}
		if s.Err() != nil {
			return "", s.Err()
		}
	}
	text := ""
	for _, b := range m.Content {
		text += b.Text
	}
	return text, nil
}

func openaiClient(client *http.Client) openai.Client {
	return openai.NewClient(openaioption.WithAPIKey("none"), openaioption.WithBaseURL("http://referee.invalid/v1"), openaioption.WithHTTPClient(client))
}

func sayChat(ctx context.Context, client *http.Client, stream bool) (string, error) {
	c := openaiClient(client)
	params := openai.ChatCompletionNewParams{Model: "any", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}}
	if !stream {
		r, err := c.Chat.Completions.New(ctx, params)
		if err != nil {
			return "", err
		}
		return r.Choices[0].Message.Content, nil
	}
	text := ""
	s := c.Chat.Completions.NewStreaming(ctx, params)
	for s.Next() {
		for _, choice := range s.Current().Choices {
			text += choice.Delta.Content
		}
	}
	return text, s.Err()
}

func sayResponses(ctx context.Context, client *http.Client, stream bool) (string, error) {
	c := openaiClient(client)
	params := responses.ResponseNewParams{Model: "any", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
	if !stream {
		r, err := c.Responses.New(ctx, params)
		if err != nil {
			return "", err
		}
		return r.OutputText(), nil
	}
	text := ""
	s := c.Responses.NewStreaming(ctx, params)
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "error":
			text += "event error: " + e.Code
		}
	}
	return text, s.Err()
}

func sayGemini(ctx context.Context, client *http.Client, stream bool) (string, error) {
	c, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: "http://referee.invalid"},
	})
	if err != nil {
		return "", err
	}
	if !stream {
		r, err := c.Models.GenerateContent(ctx, "any", genai.Text("hi"), nil)
		if err != nil {
			return "", err
		}
		return r.Text(), nil
	}
	text := ""
	for r, err := range c.Models.GenerateContentStream(ctx, "any", genai.Text("hi"), nil) {
		if err != nil {
			return text, err
		}
		text += r.Text()
	}
	return text, nil
}

// strike lets an SDK talk to a model under a fault, in a bubble: its timers cost
// nothing.
func strike(t *testing.T, api wire.API, stream bool, spec fault.Spec) *struck {
	t.Helper()
	out := &struck{}
	synctest.Test(t, func(t *testing.T) {
		inj, err := fault.New([]fault.Spec{spec}, fault.Options{Clock: clock.ModeBubble})
		if err != nil {
			t.Fatal(err)
		}
		ctx := clock.Wall(t.Context())
		client := &http.Client{Transport: seam{inj.Model(model(api, stream)), api, out}}
		out.turn, out.err = say(ctx, api, client, stream)
		out.took = clock.Now(ctx)
		if f := inj.Fired()[0]; f.Times == 0 {
			t.Errorf("%s did not strike: %s", spec.Name, f.Why)
		}
	})
	return out
}

// TestFaultsInSDKs shows that the faults are to the official SDKs what they are
// said to be, and where the SDKs do not see what retake's codecs see.
func TestFaultsInSDKs(t *testing.T) {
	status := func(err error) (code int, kind string) {
		var a *anthropic.Error
		var o *openai.Error
		var g genai.APIError
		switch {
		case errors.As(err, &a):
			return a.StatusCode, a.RawJSON()
		case errors.As(err, &o):
			return o.StatusCode, o.RawJSON()
		case errors.As(err, &g):
			return g.Code, g.Status
		}
		return 0, ""
	}
	fails := func(code int, kind string, attempts int) func(s *struck) bool {
		return func(s *struck) bool {
			got, said := status(s.err)
			return got == code && strings.Contains(said, kind) && len(s.bodies) == attempts
		}
	}
	answers := func(attempts int) func(s *struck) bool {
		return func(s *struck) bool { return s.err == nil && s.turn == "hello" && len(s.bodies) == attempts }
	}
	silent := func(s *struck) bool {
		return s.err == nil && len(s.bodies) == 1 && wire.ClassOf(s.last, nil) == failure.Truncated
	}
	every := fault.Every
	for _, row := range []struct {
		why    string
		api    wire.API
		stream bool
		spec   fault.Spec
		want   func(s *struck) bool
	}{
		{"an overload is tried again, three attempts in all", wire.AnthropicMessages, false, fault.Spec{Name: "model.overloaded", Times: 2}, answers(3)},
		{"an overload that lasts", wire.AnthropicMessages, false, fault.Spec{Name: "model.overloaded", Times: every}, fails(529, "overloaded_error", 3)},
		{"an overload that lasts", wire.OpenAIChat, false, fault.Spec{Name: "model.overloaded", Times: every}, fails(503, "server_error", 3)},
		{"an overload, which this SDK does not try again", wire.GeminiGenerate, false, fault.Spec{Name: "model.overloaded"}, fails(503, "UNAVAILABLE", 1)},
		{"a defect that passes", wire.OpenAIResponses, false, fault.Spec{Name: "model.server_error"}, answers(2)},
		{"a wrong key is not tried again", wire.AnthropicMessages, false, fault.Spec{Name: "model.client_error", Params: fault.Params{Status: 401}}, fails(401, "authentication_error", 1)},
		{"a wrong key is not tried again", wire.OpenAIChat, false, fault.Spec{Name: "model.client_error", Params: fault.Params{Status: 401}}, fails(401, "invalid_api_key", 1)},
		{"an hour's retry-after is obeyed", wire.AnthropicMessages, false, fault.Spec{Name: "model.rate_limit", Params: fault.Params{RetryAfter: time.Hour}}, func(s *struck) bool {
			return answers(2)(s) && s.took >= time.Hour
		}},
		{"a reset is tried again", wire.AnthropicMessages, false, fault.Spec{Name: "model.reset"}, answers(2)},
		{"a reset inside a stream is an error of the connection", wire.OpenAIChat, true, fault.Spec{Name: "model.reset", At: fault.Address{Event: 2}}, func(s *struck) bool {
			return errors.Is(s.err, syscall.ECONNRESET)
		}},
		{"a short body is tried again", wire.AnthropicMessages, false, fault.Spec{Name: "model.short_body"}, answers(2)},
		{"a stalled answer ends at the SDK's own ten minutes", wire.AnthropicMessages, false, fault.Spec{Name: "model.timeout"}, func(s *struck) bool {
			return answers(2)(s) && s.took >= 10*time.Minute && s.took < 15*time.Minute
		}},
		{"an error inside a stream is an error", wire.AnthropicMessages, true, fault.Spec{Name: "model.stream_error"}, func(s *struck) bool {
			return s.err != nil && strings.Contains(s.err.Error(), "overloaded_error") && len(s.bodies) == 1
		}},
		{"an error inside a stream is an error", wire.OpenAIChat, true, fault.Spec{Name: "model.stream_error"}, func(s *struck) bool {
			return s.err != nil && strings.Contains(s.err.Error(), "overloaded") && len(s.bodies) == 1
		}},
		{"an error inside a stream is an ordinary event", wire.OpenAIResponses, true, fault.Spec{Name: "model.stream_error", At: fault.Address{Event: 3}}, func(s *struck) bool {
			return s.err == nil && s.turn == "event error: server_is_overloaded" && wire.ClassOf(s.last, nil) == failure.Overloaded
		}},
		{"an error inside a stream is an error", wire.GeminiGenerate, true, fault.Spec{Name: "model.stream_error"}, fails(503, "UNAVAILABLE", 1)},
		{"a stream without its end is no error to the SDK", wire.AnthropicMessages, true, fault.Spec{Name: "model.truncated_stream"}, silent},
		{"a stream without its end is no error to the SDK", wire.OpenAIChat, true, fault.Spec{Name: "model.truncated_stream"}, silent},
		{"a stream without its end is no error to the SDK", wire.OpenAIResponses, true, fault.Spec{Name: "model.truncated_stream"}, silent},
	} {
		t.Run(row.spec.Name+"/"+string(row.api)+"/"+row.why, func(t *testing.T) {
			if s := strike(t, row.api, row.stream, row.spec); !row.want(s) {
				t.Errorf("%s: got %q, %v at %v after %d attempts: %q", row.why, s.turn, s.err, s.took, len(s.bodies), s.bodies)
			}
		})
	}
}

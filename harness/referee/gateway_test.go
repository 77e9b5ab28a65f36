package referee_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/wire"
)

var apis = []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate}

// behind serves what next answers, and points the SDKs there as a program is
// pointed: by its environment. asked counts what comes.
func behind(t *testing.T, next http.RoundTripper) (asked *atomic.Int64, end func()) {
	t.Helper()
	asked = &atomic.Int64{}
	s, err := gateway.Start(t.Context(), gateway.Options{Next: roundTripper(func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		return next.RoundTrip(r)
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, v := range s.Variables() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	t.Setenv("GOOGLE_API_KEY", "") // with both, Google's SDK warns which it takes
	return asked, s.Close
}

// tell asks as a program does: with the SDK as it is, its retries and its timers.
func tell(ctx context.Context, api wire.API, stream bool) (string, error) {
	switch api {
	case wire.AnthropicMessages:
		return tellAnthropic(ctx, stream)
	case wire.OpenAIChat:
		return tellChat(ctx, stream)
	case wire.OpenAIResponses:
		return tellResponses(ctx, stream)
	default:
		return tellGemini(ctx, stream)
	}
}

func tellAnthropic(ctx context.Context, stream bool) (string, error) {
	c := anthropic.NewClient()
	params := anthropic.MessageNewParams{Model: "any", MaxTokens: 1, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}}
	m := &anthropic.Message{}
	if !stream {
		var err error
		if m, err = c.Messages.New(ctx, params); err != nil {
			return "", err
		}
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
	return m.Content[0].Text, nil
}

func tellChat(ctx context.Context, stream bool) (string, error) {
	c := openai.NewClient()
	params := openai.ChatCompletionNewParams{Model: "any", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}}
	if !stream {
		m, err := c.Chat.Completions.New(ctx, params)
		if err != nil {
			return "", err
		}
		return m.Choices[0].Message.Content, nil
	}
	var acc openai.ChatCompletionAccumulator
	s := c.Chat.Completions.NewStreaming(ctx, params)
	for s.Next() {
		acc.AddChunk(s.Current())
	}
	if s.Err() != nil {
		return "", s.Err()
	}
	return acc.Choices[0].Message.Content, nil
}

func tellResponses(ctx context.Context, stream bool) (string, error) {
	c := openai.NewClient()
	params := responses.ResponseNewParams{Model: "any", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
	if !stream {
		m, err := c.Responses.New(ctx, params)
		if err != nil {
			return "", err
		}
		return m.OutputText(), nil
	}
	text := ""
	s := c.Responses.NewStreaming(ctx, params)
	for s.Next() {
		text += s.Current().Delta
	}
	return text, s.Err()
}

func tellGemini(ctx context.Context, stream bool) (string, error) {
	c, err := genai.NewClient(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI})
	if err != nil {
		return "", err
	}
	if !stream {
		m, err := c.Models.GenerateContent(ctx, "any", genai.Text("hi"), nil)
		if err != nil {
			return "", err
		}
		return m.Text(), nil
	}
	text := ""
	for m, err := range c.Models.GenerateContentStream(ctx, "any", genai.Text("hi"), nil) {
		if err != nil {
			return text, err
		}
		text += m.Text()
	}
	return text, nil
}

// each runs f for each API, with and without a stream.
func each(t *testing.T, f func(t *testing.T, api wire.API, stream bool)) {
	t.Helper()
	for _, api := range apis {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", api, stream), func(t *testing.T) { f(t, api, stream) })
		}
	}
}

// What an SDK has recorded through the gateway answers it through the gateway.
func TestGatewayRecordsAndReplays(t *testing.T) {
	each(t, func(t *testing.T, api wire.API, stream bool) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "a.yaml")
		rec, err := cassette.Record(path, cassette.Recording{Next: model(api, stream)})
		if err != nil {
			t.Fatal(err)
		}
		_, end := behind(t, rec)
		if text, err := tell(t.Context(), api, stream); text != "hello" || err != nil {
			t.Fatalf("recording: %q, %v", text, err)
		}
		end() // the client goes at the last event, the recorder at the end
		if err := rec.Finish(); err != nil {
			t.Fatal(err)
		}
		file, err := cassette.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Interactions) != 1 || strings.Contains(file.Interactions[0].Request.URL, "127.0.0.1") {
			t.Errorf("recorded: %+v", file.Interactions)
		}
		player, err := cassette.NewPlayer(file, cassette.Options{})
		if err != nil {
			t.Fatal(err)
		}
		behind(t, player)
		if text, err := tell(t.Context(), api, stream); text != "hello" || err != nil {
			t.Errorf("replay: %q, %v", text, err)
		}
		if left := player.Unplayed(); len(left) > 0 {
			t.Errorf("not asked for: %v", left)
		}
	})
}

// No SDK tries a miss again, and all tell it.
func TestGatewayMissIsNotRetried(t *testing.T) {
	each(t, func(t *testing.T, api wire.API, stream bool) {
		t.Helper()
		asked, _ := behind(t, roundTripper(func(*http.Request) (*http.Response, error) {
			return nil, failure.Errorf(failure.CassetteMiss, "no recorded reply for model request #1")
		}))
		_, err := tell(t.Context(), api, stream)
		if e := new(openai.Error); errors.As(err, &e) {
			err = errors.New(e.Message)
		}
		if err == nil || !strings.Contains(err.Error(), "no recorded reply for model request #1") || asked.Load() != 1 {
			t.Errorf("asked %d times: %v", asked.Load(), err)
		}
	})
}

// A fault is what its name says to an SDK behind the gateway, which tries again
// where it does so.
func TestGatewayFaults(t *testing.T) {
	each(t, func(t *testing.T, api wire.API, stream bool) {
		t.Helper()
		for _, name := range []string{"model.overloaded", "model.rate_limit@retry_after=1s", "model.reset"} {
			spec, err := fault.ParseSpec(name)
			if err != nil {
				t.Fatal(err)
			}
			injector, err := fault.New([]fault.Spec{spec}, fault.Options{Clock: "real"})
			if err != nil {
				t.Fatal(err)
			}
			asked, _ := behind(t, injector.Model(model(api, stream)))
			text, err := tell(t.Context(), api, stream)
			// Google's SDK leaves it to its user to try again; what Go's own client does of
			// a reset it may do on its own.
			if api == wire.GeminiGenerate {
				if err == nil && asked.Load() == 1 {
					t.Errorf("%s: %q", name, text)
				}
				continue
			}
			if text != "hello" || err != nil || asked.Load() != 2 {
				t.Errorf("%s: asked %d times: %q, %v", name, asked.Load(), text, err)
			}
		}
	})
}

// Equal requests at once get a recording each.
func TestGatewayEqualRequests(t *testing.T) {
	const n = 8
	each(t, func(t *testing.T, api wire.API, stream bool) {
		t.Helper()
		rec := record(t, api, stream, n)
		behind(t, rec)
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := map[string]int{}
		for range n {
			wg.Go(func() {
				text, err := tell(t.Context(), api, stream)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[text]++
			})
		}
		wg.Wait()
		for i := range n {
			if got[fmt.Sprint("hello ", i)] != 1 {
				t.Errorf("answers: %v", got)
			}
		}
	})
}

// record is a player of n recordings of the same request.
func record(t *testing.T, api wire.API, stream bool, n int) *cassette.Player {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	i := 0
	rec, err := cassette.Record(path, cassette.Recording{Next: roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := model(api, stream).RoundTrip(r)
		if err != nil {
			return nil, err
		}
		text, _ := io.ReadAll(resp.Body)
		said := strings.ReplaceAll(string(text), `"hello"`, fmt.Sprintf(`"hello %d"`, i))
		i++
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(said)), int64(len(said))
		return resp, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	_, end := behind(t, rec)
	for range n {
		if _, err := tell(t.Context(), api, stream); err != nil {
			t.Fatal(err)
		}
	}
	end()
	if err := rec.Finish(); err != nil {
		t.Fatal(err)
	}
	file, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := cassette.NewPlayer(file, cassette.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

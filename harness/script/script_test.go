package script_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// ask sends the model one request and reads the answer with the API's codec.
func ask(t *testing.T, ctx context.Context, m *script.Model, stream bool) (*wire.Response, *http.Response, error) {
	t.Helper()
	c, _ := codec.For(m.API)
	body, err := c.EncodeRequest(nil, &wire.Request{
		Model: m.Name, MaxTokens: 64, Stream: stream,
		Messages: []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: "go"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://model.example"+c.Path(m.Name, stream), strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := m.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.DecodeResponse(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	return got, resp, err
}

// What a turn says is what the API's own codec reads, as JSON and as a stream.
func TestTurns(t *testing.T) {
	for _, api := range []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate} {
		for _, stream := range []bool{false, true} {
			m := &script.Model{API: api, Name: "m-1", Turns: []script.Turn{
				{Text: "Hm.", Calls: []script.Call{{Name: "f", Args: `{"n":1}`}}, Usage: script.Usage{Input: 7, Output: 3}, Latency: time.Second},
				{Text: "Done."},
				{Status: http.StatusTooManyRequests, RetryAfter: 20 * time.Second, Error: &wire.APIError{Type: "rate_limit_error", Message: "slow down"}},
			}}
			ctx := clock.Virtual(t.Context())
			first, _, err := ask(t, ctx, m, stream)
			if err != nil || first.Stop != wire.StopToolCalls || !first.Complete || first.Text() != "Hm." || len(first.Calls()) != 1 || first.Usage.Total() != 10 {
				t.Errorf("%s, stream %v: %+v, %v", api, stream, first, err)
			}
			if clock.Now(ctx) != time.Second {
				t.Errorf("%s: took %v", api, clock.Now(ctx))
			}
			if last, _, err := ask(t, ctx, m, stream); err != nil || last.Stop != wire.StopDone || last.Text() != "Done." {
				t.Errorf("%s, stream %v: %+v, %v", api, stream, last, err)
			}
			failed, resp, err := ask(t, ctx, m, stream)
			if err != nil || failed.Err == nil || failed.Err.Class() != failure.RateLimited || wire.RetryAfter(resp.Header) != 20*time.Second {
				t.Errorf("%s, stream %v: %+v, %v", api, stream, failed, err)
			}
			if _, _, err := ask(t, ctx, m, stream); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), "script: model call 1, request 4 to the script, which brings no tool result: all 3 turns have been said; write one more") {
				t.Errorf("%s: a turn too many: %v", api, err)
			}
			if n := len(m.Interactions()); n != 3 {
				t.Errorf("%s: %d interactions are kept", api, n)
			}
		}
	}
}

// An answer that nobody waited for is in the recording, with its latency.
func TestATimeoutIsKept(t *testing.T) {
	m := &script.Model{API: wire.AnthropicMessages, Name: "m-1", Turns: []script.Turn{{Text: "late", Latency: time.Minute}}}
	tools := &script.Tools{Answers: map[string][]script.Answer{"f": {{Content: "late", Latency: time.Minute}}}}
	ctx, cancel := clock.WithTimeout(clock.Virtual(t.Context()), time.Second)
	defer cancel()
	if _, _, err := ask(t, ctx, m, false); err == nil {
		t.Error("it was waited for")
	}
	ctx, cancel = clock.WithTimeout(clock.Virtual(t.Context()), time.Second)
	defer cancel()
	if _, err := tools.Execute(ctx, tool.Call{Tool: "f", Args: []byte(`{}`)}); err == nil {
		t.Error("the tool was waited for")
	}
	kept := append(m.Interactions(), tools.Interactions()...)
	if len(kept) != 2 || kept[0].Response.Duration != time.Minute || kept[1].Response.Duration != time.Minute {
		t.Errorf("kept %+v", kept)
	}
}

func TestTools(t *testing.T) {
	full := &tool.Error{Code: "FULL", Message: "no room"}
	tools := &script.Tools{Answers: map[string][]script.Answer{"f": {{Content: "one"}, {Err: full}}, "g": {{Content: "other"}}}}
	var got []string
	for _, name := range []string{"f", "g", "f", "f"} {
		res, err := tools.Execute(clock.Virtual(t.Context()), tool.Call{Tool: name, Args: []byte(`{}`)})
		switch {
		case err != nil:
			got = append(got, string(failure.Of(err))+" "+err.Error())
		case res.Err != nil:
			got = append(got, res.Err.Code)
		default:
			got = append(got, res.Content)
		}
	}
	want := []string{"one", "other", "FULL", "scenario_invalid script: call 3 of tool f has no answer; write one more"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// In a bubble calls that run at once wait at once: a lock that is held while a
// timer runs would stop the bubble's time for ever.
func TestParallelToolsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := &script.Tools{Answers: map[string][]script.Answer{"f": {{Latency: time.Second}, {Latency: time.Second}, {Latency: time.Second}}}}
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := tools.Execute(clock.Wall(context.Background()), tool.Call{Tool: "f", Args: []byte(`{}`)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != time.Second {
			t.Errorf("three calls at once took %v", took)
		}
	})
}

package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/sebdah/goldie/v2"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// byHand is a project's own test of its agent: the agent speaks through the
// official SDK, go-vcr stands in for the API, and goldie holds what happened.
type byHand struct {
	dir   string
	tools []anthropic.ToolUnionParam
}

// handTranscript is what goldie compares.
type handTranscript struct {
	Calls []handCall `json:"calls"`
	Final string     `json:"final"`
}

type handCall struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result string          `json:"result"`
}

// newHand records the stories below dir.
func newHand(tb testing.TB, dir string, stories []story) *byHand {
	tb.Helper()
	h := &byHand{dir: dir, tools: sdkTools(tb)}
	for _, s := range stories {
		if err := os.WriteFile(filepath.Join(dir, s.id+".txt"), []byte(s.prompt), 0o644); err != nil {
			tb.Fatal(err)
		}
		rec, err := recorder.New(filepath.Join(dir, s.id), recorder.WithMode(recorder.ModeRecordOnly),
			recorder.WithRealTransport(&canned{answers: s.answers}), recorder.WithSkipRequestLatency(true))
		if err != nil {
			tb.Fatal(err)
		}
		got, err := h.agent(tb.Context(), rec.GetDefaultClient(), s.prompt)
		if err = errors.Join(err, rec.Stop()); err != nil {
			tb.Fatal(err)
		}
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			tb.Fatal(err)
		}
		if err := h.goldie(tb).Update(tb, s.id, text); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

func sdkTools(tb testing.TB) []anthropic.ToolUnionParam {
	tb.Helper()
	var out []anthropic.ToolUnionParam
	for _, t := range shopTools() {
		var s struct {
			Properties           map[string]any `json:"properties"`
			Required             []string       `json:"required"`
			AdditionalProperties bool           `json:"additionalProperties"`
		}
		if err := json.Unmarshal([]byte(t.Schema), &s); err != nil {
			tb.Fatal(err)
		}
		out = append(out, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: anthropic.String(t.Description),
			InputSchema: anthropic.ToolInputSchemaParam{
				Properties: s.Properties, Required: s.Required, ExtraFields: map[string]any{"additionalProperties": s.AdditionalProperties},
			},
		}})
	}
	return out
}

func (h *byHand) goldie(tb testing.TB) *goldie.Goldie {
	tb.Helper()
	return goldie.New(tb, goldie.WithFixtureDir(filepath.Join(h.dir, "golden")))
}

// run replays one story and checks it.
func (h *byHand) run(tb testing.TB, id string) {
	tb.Helper()
	prompt, err := os.ReadFile(filepath.Join(h.dir, id+".txt"))
	if err != nil {
		tb.Fatal(err)
	}
	rec, err := recorder.New(filepath.Join(h.dir, id), recorder.WithMode(recorder.ModeReplayOnly),
		recorder.WithMatcher(sameRequest), recorder.WithSkipRequestLatency(true))
	if err != nil {
		tb.Fatal(err)
	}
	got, err := h.agent(tb.Context(), rec.GetDefaultClient(), string(prompt))
	if err = errors.Join(err, rec.Stop()); err != nil {
		tb.Fatal(err)
	}
	h.goldie(tb).AssertJson(tb, id, got)
}

// agent is the loop under test.
func (h *byHand) agent(ctx context.Context, client *http.Client, prompt string) (handTranscript, error) {
	var t handTranscript
	c := anthropic.NewClient(option.WithAPIKey("none"), option.WithHTTPClient(client), option.WithMaxRetries(0))
	params := anthropic.MessageNewParams{
		Model: model, MaxTokens: 1024, Tools: h.tools, System: []anthropic.TextBlockParam{{Text: system}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
	for range 10 {
		m, err := c.Messages.New(ctx, params)
		if err != nil {
			return t, err
		}
		if m.StopReason != anthropic.StopReasonToolUse {
			for _, b := range m.Content {
				t.Final += b.Text
			}
			return t, nil
		}
		var results []anthropic.ContentBlockParamUnion
		for _, b := range m.Content {
			if b.Type != "tool_use" {
				continue
			}
			out, err := runTool(b.Name, b.Input)
			if err != nil {
				return t, err
			}
			t.Calls = append(t.Calls, handCall{b.Name, b.Input, out})
			results = append(results, anthropic.NewToolResultBlock(b.ID, out, false))
		}
		params.Messages = append(params.Messages, m.ToParam(), anthropic.NewUserMessage(results...))
	}
	return t, errors.New("no end after 10 turns")
}

// sameRequest compares method, address and the body's JSON values.
func sameRequest(r *http.Request, recorded cassette.Request) bool {
	if r.Method != recorded.Method || r.URL.String() != recorded.URL {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return sameJSON(body, []byte(recorded.Body))
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

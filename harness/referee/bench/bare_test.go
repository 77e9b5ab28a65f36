package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// bare is as little as can be done: one JSON file a story, the standard library,
// the loop calling the recording directly. It has no cassette that another tool
// reads, no golden, no report, no diff, and no check but that each request is
// the recorded one and that the last answer is.
type bare struct{ dir string }

type bareFile struct {
	Prompt string         `json:"prompt"`
	Final  string         `json:"final"`
	Calls  []bareExchange `json:"calls"`
}

type bareExchange struct {
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

type bareRequest struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	System    string        `json:"system"`
	Tools     []bareTool    `json:"tools"`
	Messages  []bareMessage `json:"messages"`
}

type bareTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type bareMessage struct {
	Role    string      `json:"role"`
	Content []bareBlock `json:"content"`
}

type bareBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

type bareResponse struct {
	Content    []bareBlock `json:"content"`
	StopReason string      `json:"stop_reason"`
}

func newBare(tb testing.TB, dir string, stories []story) *bare {
	tb.Helper()
	for _, s := range stories {
		f := bareFile{Prompt: s.prompt, Final: s.final}
		_, err := bareLoop(s.prompt, func(body []byte) ([]byte, error) {
			answer := s.answers[len(f.Calls)]
			f.Calls = append(f.Calls, bareExchange{body, answer})
			return answer, nil
		})
		if err != nil {
			tb.Fatal(err)
		}
		data, err := json.Marshal(f)
		if err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, s.id+".json"), data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return &bare{dir}
}

func (b *bare) run(tb testing.TB, id string) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, id+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var f bareFile
	if err := json.Unmarshal(data, &f); err != nil {
		tb.Fatal(err)
	}
	n := 0
	final, err := bareLoop(f.Prompt, func(body []byte) ([]byte, error) {
		if n >= len(f.Calls) {
			return nil, fmt.Errorf("request %d was not recorded", n+1)
		}
		c := f.Calls[n]
		n++
		if !bytes.Equal(body, c.Request) && !sameJSON(body, c.Request) {
			return nil, fmt.Errorf("request %d is not the recorded one", n)
		}
		return c.Response, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if final != f.Final || n != len(f.Calls) {
		tb.Fatalf("%d of %d requests, last answer %q", n, len(f.Calls), final)
	}
}

func bareTools() []bareTool {
	var out []bareTool
	for _, t := range shopTools() {
		out = append(out, bareTool{t.Name, t.Description, json.RawMessage(t.Schema)})
	}
	return out
}

func bareLoop(prompt string, send func(body []byte) ([]byte, error)) (final string, err error) {
	req := bareRequest{
		Model: model, MaxTokens: 1024, System: system, Tools: bareTools(),
		Messages: []bareMessage{{Role: "user", Content: []bareBlock{{Type: "text", Text: prompt}}}},
	}
	for range 10 {
		body, err := json.Marshal(req)
		if err != nil {
			return "", err
		}
		answer, err := send(body)
		if err != nil {
			return "", err
		}
		var resp bareResponse
		if err := json.Unmarshal(answer, &resp); err != nil {
			return "", err
		}
		if resp.StopReason != "tool_use" {
			return resp.Content[0].Text, nil
		}
		results := bareMessage{Role: "user"}
		for _, b := range resp.Content {
			if b.Type != "tool_use" {
				continue
			}
			out, err := runTool(b.Name, b.Input)
			if err != nil {
				return "", err
			}
			results.Content = append(results.Content, bareBlock{Type: "tool_result", ToolUseID: b.ID, Content: out})
		}
		req.Messages = append(req.Messages, bareMessage{Role: "assistant", Content: resp.Content}, results)
	}
	return "", errors.New("no end after 10 turns")
}

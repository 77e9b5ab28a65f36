package referee

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// Anthropic decodes with anthropic-sdk-go: Messages.New, or Messages.NewStreaming
// and Message.Accumulate.
func Anthropic(ctx context.Context, a Answer) Turn {
	c := anthropic.NewClient(option.WithAPIKey("none"), option.WithBaseURL(base), option.WithHTTPClient(client(a)), option.WithMaxRetries(0))
	params := anthropic.MessageNewParams{
		Model: "any", MaxTokens: 1,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	}
	if !a.Stream {
		m, err := c.Messages.New(ctx, params)
		if err != nil || m == nil {
			return Turn{Failed: true}
		}
		return anthropicTurn(m)
	}
	var m anthropic.Message
	failed := false
	s := c.Messages.NewStreaming(ctx, params)
	for s.Next() {
		failed = m.Accumulate(s.Current()) != nil || failed
	}
	t := anthropicTurn(&m)
	t.Failed = failed || s.Err() != nil
	return t
}

func anthropicTurn(m *anthropic.Message) Turn {
	u := m.Usage
	t := Turn{
		Stop: string(m.StopReason), Input: u.InputTokens, Output: u.OutputTokens,
		CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Reasoning: u.OutputTokensDetails.ThinkingTokens,
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			t.Text += b.Text
		case "tool_use":
			t.Calls = append(t.Calls, Call{b.ID, b.Name, string(b.Input)})
		}
	}
	return t
}

package referee

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func openaiClient(a Answer) openai.Client {
	return openai.NewClient(option.WithAPIKey("none"), option.WithBaseURL(base+"/v1"), option.WithHTTPClient(client(a)), option.WithMaxRetries(0))
}

// OpenAIChat decodes with openai-go: Chat.Completions.New, or NewStreaming and a
// ChatCompletionAccumulator.
func OpenAIChat(ctx context.Context, a Answer) Turn {
	c := openaiClient(a)
	params := openai.ChatCompletionNewParams{Model: "any", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}}
	if !a.Stream {
		r, err := c.Chat.Completions.New(ctx, params)
		if err != nil || r == nil {
			return Turn{Failed: true}
		}
		return chatTurn(r)
	}
	var acc openai.ChatCompletionAccumulator
	failed := false
	s := c.Chat.Completions.NewStreaming(ctx, params)
	for s.Next() {
		failed = !acc.AddChunk(s.Current()) || failed
	}
	t := chatTurn(&acc.ChatCompletion)
	t.Failed = failed || s.Err() != nil
	return t
}

func chatTurn(r *openai.ChatCompletion) Turn {
	u := r.Usage
	t := Turn{
		Input: u.PromptTokens, Output: u.CompletionTokens,
		CacheRead: u.PromptTokensDetails.CachedTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}
	if len(r.Choices) == 0 {
		return t
	}
	choice := r.Choices[0]
	t.Text, t.Stop = choice.Message.Content, choice.FinishReason
	for _, call := range choice.Message.ToolCalls {
		t.Calls = append(t.Calls, Call{call.ID, call.Function.Name, call.Function.Arguments})
	}
	return t
}

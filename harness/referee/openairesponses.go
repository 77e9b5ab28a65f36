package referee

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// OpenAIResponses decodes with openai-go: Responses.New, or NewStreaming, whose
// terminal event has the response. The SDK has no accumulator; without a
// terminal event the finished items count.
func OpenAIResponses(ctx context.Context, a Answer) Turn {
	c := openaiClient(a)
	params := responses.ResponseNewParams{Model: "any", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
	if !a.Stream {
		r, err := c.Responses.New(ctx, params)
		if err != nil || r == nil {
			return Turn{Failed: true}
		}
		return responsesTurn(r)
	}
	var last *responses.Response
	var items []responses.ResponseOutputItemUnion
	s := c.Responses.NewStreaming(ctx, params)
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.completed", "response.incomplete", "response.failed":
			last = &e.Response
		case "response.output_item.done":
			items = append(items, e.Item)
		}
	}
	t := Turn{}
	if last != nil {
		t = responsesTurn(last)
	}
	if last == nil || len(last.Output) == 0 {
		itemsTurn(&t, items)
	}
	t.Failed = s.Err() != nil
	return t
}

func responsesTurn(r *responses.Response) Turn {
	u := r.Usage
	t := Turn{
		Stop: string(r.Status), Input: u.InputTokens, Output: u.OutputTokens,
		CacheRead: u.InputTokensDetails.CachedTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}
	if r.IncompleteDetails.Reason != "" {
		t.Stop += ":" + r.IncompleteDetails.Reason
	}
	itemsTurn(&t, r.Output)
	return t
}

func itemsTurn(t *Turn, items []responses.ResponseOutputItemUnion) {
	for _, item := range items {
		switch item.Type {
		case "message":
			for _, part := range item.Content {
				if part.Type == "output_text" {
					t.Text += part.Text
				}
			}
		case "function_call":
			call := item.AsFunctionCall()
			t.Calls = append(t.Calls, Call{call.CallID, call.Name, call.Arguments})
		}
	}
}

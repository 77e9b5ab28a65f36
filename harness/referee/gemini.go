package referee

import (
	"context"
	"encoding/json"

	"google.golang.org/genai"
)

// Gemini decodes with genai: Models.GenerateContent, or GenerateContentStream,
// whose chunks are put together here: parts in order, the last finish reason and
// the last usage.
func Gemini(ctx context.Context, a Answer) Turn {
	c, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: client(a), HTTPOptions: genai.HTTPOptions{BaseURL: base},
	})
	if err != nil {
		return Turn{Failed: true}
	}
	if !a.Stream {
		r, err := c.Models.GenerateContent(ctx, "any", genai.Text("hi"), nil)
		if err != nil || r == nil {
			return Turn{Failed: true}
		}
		var t Turn
		addGemini(&t, r)
		return t
	}
	var t Turn
	for r, err := range c.Models.GenerateContentStream(ctx, "any", genai.Text("hi"), nil) {
		if err != nil {
			t.Failed = true
			break
		}
		addGemini(&t, r)
	}
	return t
}

func addGemini(t *Turn, r *genai.GenerateContentResponse) {
	if u := r.UsageMetadata; u != nil {
		t.Input, t.Output, t.CacheRead = int64(u.PromptTokenCount), int64(u.CandidatesTokenCount), int64(u.CachedContentTokenCount)
		t.Reasoning = int64(u.ThoughtsTokenCount)
	}
	if len(r.Candidates) == 0 {
		return
	}
	first := r.Candidates[0]
	if first.FinishReason != "" {
		t.Stop = string(first.FinishReason)
	}
	if first.Content == nil {
		return
	}
	for _, p := range first.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			args, _ := json.Marshal(p.FunctionCall.Args)
			t.Calls = append(t.Calls, Call{p.FunctionCall.ID, p.FunctionCall.Name, string(args)})
		case !p.Thought:
			t.Text += p.Text
		}
	}
}

package codec_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

func TestFor(t *testing.T) {
	for _, api := range []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate} {
		if c, ok := codec.For(api); !ok || c.API() != api {
			t.Errorf("For(%q) gives the codec of another API, or none", api)
		}
	}
	if _, ok := codec.For("telepathy"); ok {
		t.Error("an API that nobody speaks has a codec")
	}
}

func TestDetect(t *testing.T) {
	const none = wire.API("")
	tests := []struct {
		why, method, url, body string
		want                   wire.API
	}{
		{"Anthropic", "POST", "https://api.anthropic.com/v1/messages", `{}`, wire.AnthropicMessages},
		{"its beta query", "POST", "https://api.anthropic.com/v1/messages?beta=true", `{}`, wire.AnthropicMessages},
		{"Claude on Vertex AI", "POST", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-8:streamRawPredict", `{}`, wire.AnthropicMessages},
		{"another model on Vertex AI", "POST", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict", `{"messages":[],"model":"m"}`, none},
		{"counting", "POST", "https://api.anthropic.com/v1/messages/count_tokens", `{"model":"m","messages":[],"system":"s"}`, none},
		{"batches", "POST", "https://api.anthropic.com/v1/messages/batches", `{}`, none},
		{"a batch's results", "GET", "https://api.anthropic.com/v1/messages/batches/b/results", "", none},
		{"OpenAI chat", "POST", "https://api.openai.com/v1/chat/completions", `{}`, wire.OpenAIChat},
		{"in lower case", "post", "https://api.openai.com/v1/chat/completions", `{}`, wire.OpenAIChat},
		{"Azure", "POST", "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-06-01", `{}`, wire.OpenAIChat},
		{"Azure without a prefix", "POST", "https://x.openai.azure.com/chat/completions", `{}`, wire.OpenAIChat},
		{"OpenRouter", "POST", "https://openrouter.ai/api/v1/chat/completions", `{}`, wire.OpenAIChat},
		{"Vercel's gateway", "POST", "https://ai-gateway.vercel.sh/v1/chat/completions", `{}`, wire.OpenAIChat},
		{"Groq", "POST", "https://api.groq.com/openai/v1/chat/completions", `{}`, wire.OpenAIChat},
		{"z.ai", "POST", "https://api.z.ai/api/coding/paas/v4/chat/completions", `{}`, wire.OpenAIChat},
		{"Gemini's compatible endpoint", "POST", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", `{}`, wire.OpenAIChat},
		{"llama.cpp, with a slash too many", "POST", "http://127.0.0.1:8080/chat/completions/", `{}`, wire.OpenAIChat},
		{"legacy completions", "POST", "https://api.openai.com/v1/completions", `{"model":"m","prompt":"p"}`, none},
		{"stored completions", "GET", "https://api.openai.com/v1/chat/completions", ``, none},
		{"OpenAI responses", "POST", "https://api.openai.com/v1/responses", `{}`, wire.OpenAIResponses},
		{"xAI", "POST", "https://api.x.ai/v1/responses", `{}`, wire.OpenAIResponses},
		{"a stored response", "GET", "https://api.openai.com/v1/responses/resp_1", ``, none},
		{"cancelling one", "POST", "https://api.openai.com/v1/responses/resp_1/cancel", `{}`, none},
		{"counting its input", "POST", "https://api.openai.com/v1/responses/input_tokens", `{"model":"m","input":[{"role":"user"}]}`, none},
		{"embeddings", "POST", "https://api.openai.com/v1/embeddings", `{"model":"m","input":["a"]}`, none},
		{"a thread's messages", "POST", "https://api.openai.com/v1/threads/t/messages", `{"role":"user"}`, none},
		{"models", "GET", "https://openrouter.ai/api/v1/models", ``, none},
		{"Gemini", "POST", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent", `{}`, wire.GeminiGenerate},
		{"Gemini streaming", "POST", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", `{}`, wire.GeminiGenerate},
		{"counting", "POST", "https://generativelanguage.googleapis.com/v1beta/models/m:countTokens", `{"contents":[]}`, none},
		{"embedding", "POST", "https://generativelanguage.googleapis.com/v1beta/models/m:embedContent", `{"contents":[]}`, none},
		{"Ollama", "POST", "http://localhost:11434/api/chat", `{"model":"m","messages":[]}`, none},
		{"Cohere", "POST", "https://api.cohere.com/v2/chat", `{"model":"m","messages":[]}`, none},
		{"Bedrock", "POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", `{"messages":[],"system":[]}`, none},
		{"Bedrock with an Anthropic body", "POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke", `{"anthropic_version":"v","messages":[]}`, none},
		{"a proxy: Anthropic by its schema", "POST", "https://proxy.example/llm", `{"model":"m","messages":[],"tools":[{"name":"t","input_schema":{}}]}`, wire.AnthropicMessages},
		{"a proxy: chat", "POST", "https://proxy.example/llm", `{"model":"m","messages":[]}`, wire.OpenAIChat},
		{"a proxy: responses", "POST", "https://proxy.example", `{"model":"m","input":"hi","instructions":"s"}`, wire.OpenAIResponses},
		{"a proxy: responses with items", "POST", "https://proxy.example/llm", `{"model":"m","input":[{"role":"user","content":"hi"}]}`, wire.OpenAIResponses},
		{"a proxy: Gemini", "POST", "https://proxy.example/llm", `{"contents":[]}`, wire.GeminiGenerate},
		{"a proxy: embeddings", "POST", "https://proxy.example/llm", `{"model":"m","input":"hi"}`, none},
		{"a proxy: no JSON", "POST", "https://proxy.example/llm", `a=b`, none},
		{"a proxy: no object", "POST", "https://proxy.example/llm", `[]`, none},
		{"no address at all", "", "", `{"model":"m","messages":[],"system":"s"}`, wire.AnthropicMessages},
	}
	for _, tt := range tests {
		got, ok := codec.Detect(tt.method, tt.url, []byte(tt.body))
		if got != tt.want || ok != (tt.want != none) {
			t.Errorf("%s: %s %s %s: got %q, %v; want %q", tt.why, tt.method, tt.url, tt.body, got, ok, tt.want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("POST", "https://x/y:z?q#f", []byte(`{"input":[{}],"tools":[1],"contents":null}`))
	f.Fuzz(func(t *testing.T, method, url string, body []byte) {
		api, ok := codec.Detect(method, url, body)
		if _, known := codec.For(api); known != ok {
			t.Errorf("Detect gives %q, %v", api, ok)
		}
	})
}

package openaichat_test

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/wire/openaichat"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

// request is about 4 KB: a system text, some exchanges, three tools.
func request() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","messages":[{"role":"system","content":"` + strings.Repeat("You are a careful assistant. ", 40) + `"}`)
	for range 6 {
		b.WriteString(`,{"role":"user","content":"What is the weather in Paris, and do I need an umbrella?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc123","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\",\"days\":2}"}}]},{"role":"tool","tool_call_id":"call_abc123","content":"{\"temp\":20,\"rain\":true}"}`)
	}
	b.WriteString(`],"tools":[`)
	for i := range 3 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"type":"function","function":{"name":"get_weather","description":"The weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string","description":"the city's name"}},"required":["city"]}}}`)
	}
	b.WriteString(`],"max_tokens":1024,"temperature":0.2,"stream":true}`)
	return []byte(b.String())
}

var jsonAnswer = []byte(`{"id":"chatcmpl-abc","object":"chat.completion","created":1780000000,"model":"gpt-5-2025-08-07","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat("It will rain. ", 20) + `","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}],"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"tool_calls"}],` +
	`"usage":{"prompt_tokens":194,"completion_tokens":315,"total_tokens":509,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":256,"audio_tokens":0}},"service_tier":"default","system_fingerprint":null}`)

func Benchmark(b *testing.B) {
	c := openaichat.Codec{}
	r, err := c.DecodeResponse(200, "", jsonAnswer)
	if err != nil {
		b.Fatal(err)
	}
	stream, err := c.EncodeResponse(nil, r, true)
	if err != nil {
		b.Fatal(err)
	}
	wiretest.Bench(b, c, "", request(), jsonAnswer, stream)
}

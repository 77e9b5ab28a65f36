package openairesponses_test

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/wire/openairesponses"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

// request is about 4 KB: instructions, some exchanges, three tools.
func request() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","instructions":"` + strings.Repeat("You are a careful assistant. ", 40) + `","input":[`)
	for i := range 6 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"role":"user","content":"What is the weather in Paris, and do I need an umbrella?"},{"type":"function_call","call_id":"call_abc123","name":"get_weather","arguments":"{\"city\":\"Paris\",\"days\":2}"},{"type":"function_call_output","call_id":"call_abc123","output":"{\"temp\":20,\"rain\":true}"}`)
	}
	b.WriteString(`],"tools":[`)
	for i := range 3 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"type":"function","name":"get_weather","description":"The weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string","description":"the city's name"}},"required":["city"]},"strict":true}`)
	}
	b.WriteString(`],"max_output_tokens":1024,"store":false,"stream":true}`)
	return []byte(b.String())
}

func Benchmark(b *testing.B) {
	c := openairesponses.Codec{}
	answer := []byte(response("completed", reasoning+","+message+","+call))
	r, err := c.DecodeResponse(200, "", answer)
	if err != nil {
		b.Fatal(err)
	}
	stream, err := c.EncodeResponse(nil, r, true)
	if err != nil {
		b.Fatal(err)
	}
	wiretest.Bench(b, c, "", request(), answer, stream)
}

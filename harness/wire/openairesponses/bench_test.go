package openairesponses_test

import (
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/wire/openairesponses"
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

func BenchmarkDecodeRequest(b *testing.B) {
	body := request()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (openairesponses.Codec{}).DecodeRequest("", body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeRequest(b *testing.B) {
	c := openairesponses.Codec{}
	r, err := c.DecodeRequest("", request())
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = c.EncodeRequest(dst[:0], r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeResponse(b *testing.B) {
	c := openairesponses.Codec{}
	json := []byte(response("completed", reasoning+","+message+","+call))
	r, err := c.DecodeResponse(200, "", json)
	if err != nil {
		b.Fatal(err)
	}
	stream, err := c.EncodeResponse(nil, r, true)
	if err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string][]byte{"json": json, "stream": stream} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.DecodeResponse(200, "", body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

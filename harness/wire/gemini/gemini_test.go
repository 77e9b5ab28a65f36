package gemini_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/gemini"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

func TestConformance(t *testing.T) {
	wiretest.Run(t, gemini.Codec{}, wiretest.Fixtures{
		Shape: wiretest.Shape{
			System: true, CallIDs: true, ResultNames: true, ResultErrors: true, Mixed: true, TextBlocks: true,
			Params: []wire.Field{
				{Name: "cachedContent", Value: jsontext.Value(`"cachedContents/x"`)},
				{Name: "generationConfig", Value: jsontext.Value(`{"temperature":0.50,"thinkingConfig":{"includeThoughts":true}}`)},
				{Name: "safetySettings", Value: jsontext.Value(`[ {"category":"C","threshold":"BLOCK_NONE"} ]`)},
				{Name: "toolConfig", Value: jsontext.Value(`{"retrievalConfig":{"languageCode":"de"}}`)},
			},
			Blocks: []wire.Block{
				{Kind: wire.KindReasoning, Text: "hm", Raw: jsontext.Value(`{"text":"hm","thought":true}`)},
				{Kind: wire.KindReasoning, Text: "hm", Raw: jsontext.Value(`{ "thought":true, "text":"hm", "thoughtSignature":"c2ln"}`)},
				{Kind: wire.KindText, Text: "signed", Extra: jsontext.Value(`{"thoughtSignature":"c2ln"}`)},
				{Kind: wire.KindToolCall, ID: "own", Name: "weather", Args: jsontext.Value(`{"n":1}`), Extra: jsontext.Value(`{"functionCall":{"x":1},"thoughtSignature":"c2ln"}`)},
				{Kind: wire.KindOpaque, Raw: jsontext.Value(`{"executableCode":{"code":"1+1","language":"PYTHON"}}`)},
			},
		},
		Requests:  requests,
		Same:      same,
		Different: different,
		Answers:   append(jsonAnswers, streamAnswers...),
	})
}

func TestPath(t *testing.T) {
	tests := []struct {
		why, path, model string
		stream           bool
	}{
		{"the Gemini API", "/v1beta/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash", false},
		{"streaming, with a query", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "gemini-2.5-flash", true},
		{"Vertex AI", "/v1/projects/p/locations/us-east5/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini-2.5-pro", true},
		{"a tuned model", "/v1beta/tunedModels/mine:generateContent", "tunedModels/mine", false},
		{"a deployed model", "/v1/projects/p/locations/l/endpoints/123:generateContent", "123", false},
		{"a colon in the query", "/v1beta/models/m:generateContent?key=a:b", "m", false},
		{"none of these", "/v1/chat", "", false},
	}
	for _, tt := range tests {
		r, err := gemini.Codec{}.DecodeRequest(tt.path, []byte(`{}`))
		if err != nil || r.Model != tt.model || r.Stream != tt.stream {
			t.Errorf("%s: %s: got %q, %v, %v", tt.why, tt.path, r.Model, r.Stream, err)
		}
	}
	for _, model := range []string{"gemini-2.5-flash", "tunedModels/mine"} {
		for _, stream := range []bool{false, true} {
			path := gemini.Codec{}.Path(model, stream)
			r, err := gemini.Codec{}.DecodeRequest(path, []byte(`{}`))
			if err != nil || r.Model != model || r.Stream != stream {
				t.Errorf("%s: got %q, %v, %v", path, r.Model, r.Stream, err)
			}
		}
	}
}

func TestResults(t *testing.T) {
	tests := []struct {
		why, text string
		isError   bool
		want      string
	}{
		{"a JSON object is sent as it is", `{"rain": 1.50}`, false, `"response":{"rain": 1.50}`},
		{"a text is wrapped", "dry", false, `"response":{"output":"dry"}`},
		{"a list is no object", "[1]", false, `"response":{"output":"[1]"}`},
		{"nothing is a text too", "", false, `"response":{"output":""}`},
		{"an error", "down", true, `"response":{"error":"down"}`},
		{"an error that is an object", `{"code":"X"}`, true, `"response":{"error":{"code":"X"}}`},
		{"a result that looks like a wrapper is wrapped", `{"output":"x"}`, false, `"response":{"output":"{\"output\":\"x\"}"}`},
		{"a result that looks like an error is none", `{"error":"x"}`, false, `"response":{"output":"{\"error\":\"x\"}"}`},
		{"two members are no wrapper", `{"error":"x","output":"y"}`, false, `"response":{"error":"x","output":"y"}`},
	}
	for _, tt := range tests {
		sent := wire.Block{Kind: wire.KindToolResult, Name: "t", Result: []wire.Block{{Kind: wire.KindText, Text: tt.text}}, IsError: tt.isError}
		body, err := gemini.Codec{}.EncodeRequest(nil, &wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{sent}}}})
		if err != nil || !strings.Contains(string(body), tt.want) {
			t.Errorf("%s: got %s, %v; want %s", tt.why, body, err, tt.want)
			continue
		}
		r, err := gemini.Codec{}.DecodeRequest("", body)
		if err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		if got := r.Messages[0].Blocks[0]; got.Result[0].Text != tt.text || got.IsError != tt.isError {
			t.Errorf("%s: came back as %q, error %v", tt.why, got.Result[0].Text, got.IsError)
		}
	}
}

func TestParallelCallsCannotBeForbidden(t *testing.T) {
	_, err := gemini.Codec{}.EncodeRequest(nil, &wire.Request{ToolChoice: wire.ToolChoice{Mode: wire.ChoiceAny, NoParallel: true}})
	if failure.Of(err) != failure.ScenarioInvalid {
		t.Errorf("got %v, want an error of class %s", err, failure.ScenarioInvalid)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, q := range requests {
		f.Add([]byte(q.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		wiretest.FuzzRequest(t, gemini.Codec{}, "/v1beta/models/m:generateContent", body)
	})
}

func FuzzDecodeResponse(f *testing.F) {
	for _, a := range append(jsonAnswers, streamAnswers...) {
		f.Add([]byte(a.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { wiretest.FuzzResponse(t, gemini.Codec{}, body) })
}

func Benchmark(b *testing.B) {
	request, err := os.ReadFile("testdata/request.json")
	if err != nil {
		b.Fatal(err)
	}
	wiretest.Bench(b, gemini.Codec{}, "/v1beta/models/gemini-2.5-flash:generateContent", request, []byte(benchAnswer), []byte(benchStream))
}

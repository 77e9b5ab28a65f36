package anthropic_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/anthropic"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

func TestConformance(t *testing.T) {
	wiretest.Run(t, anthropic.Codec{}, wiretest.Fixtures{
		Shape: wiretest.Shape{
			System: true, Roles: []wire.Role{wire.RoleSystem}, CallIDs: true, ResultErrors: true, ResultBlocks: true,
			Mixed: true, TextBlocks: true, NoParallel: true,
			Params: []wire.Field{
				{Name: "metadata", Value: jsontext.Value(`{ "user_id": "u" }`)},
				{Name: "stop_sequences", Value: jsontext.Value(`["END"]`)},
				{Name: "temperature", Value: jsontext.Value(`0.50`)},
				{Name: "thinking", Value: jsontext.Value(`{"type":"enabled","budget_tokens":1024}`)},
			},
			Blocks: []wire.Block{
				{Kind: wire.KindReasoning, Text: "hm \"so\"", Raw: jsontext.Value(`{"type":"thinking","thinking":"hm \"so\"","signature":"c2ln"}`)},
				{Kind: wire.KindReasoning, Text: "spaced", Raw: jsontext.Value(`{ "signature":"c2ln", "thinking":"spaced", "type":"thinking" }`)},
				{Kind: wire.KindReasoning, Raw: jsontext.Value(`{"type":"redacted_thinking","data":"ZGF0YQ=="}`)},
				{Kind: wire.KindOpaque, Raw: jsontext.Value(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`)},
			},
		},
		Requests:  requests,
		Same:      same,
		Different: different,
		Answers:   append(jsonAnswers, streamAnswers...),
	})
}

func FuzzDecodeRequest(f *testing.F) {
	for _, q := range requests {
		f.Add([]byte(q.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { wiretest.FuzzRequest(t, anthropic.Codec{}, "/v1/messages", body) })
}

func FuzzDecodeResponse(f *testing.F) {
	for _, a := range append(jsonAnswers, streamAnswers...) {
		f.Add([]byte(a.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { wiretest.FuzzResponse(t, anthropic.Codec{}, body) })
}

func Benchmark(b *testing.B) {
	request, err := os.ReadFile("testdata/request.json")
	if err != nil {
		b.Fatal(err)
	}
	wiretest.Bench(b, anthropic.Codec{}, "/v1/messages", request, []byte(benchAnswer), []byte(strings.Join(benchStream, "")))
}

// The official SDKs' tool runners let the API keep the conversation and send only
// what is new: results whose calls are not there are no orphans then.
func TestThreads(t *testing.T) {
	for _, tc := range []struct {
		why, thread string
		want        bool
	}{
		{"the request that opens a thread has all there is", `{"type":"create"}`, false},
		{"one that goes on with it has not", `{"previous_message_id":"msg_1","type":"continue"}`, true},
		{"a thread of no kind that is known says nothing", `{"type":1}`, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			r, err := anthropic.Codec{}.DecodeRequest("/v1/messages", []byte(`{"model":"m","max_tokens":9,"messages":[],"thread":`+tc.thread+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if r.Continues != tc.want || len(r.Params) != 1 || string(r.Params[0].Value) != tc.thread {
				t.Errorf("continues %v with %v", r.Continues, r.Params)
			}
		})
	}
}

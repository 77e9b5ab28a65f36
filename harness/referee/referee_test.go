package referee_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/referee"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/anthropic"
	"github.com/retake-harness/retake/harness/wire/gemini"
	"github.com/retake-harness/retake/harness/wire/openaichat"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
)

// What the codecs write, the SDKs read as the codecs do.
func TestWrittenAnswers(t *testing.T) {
	in, out := int64(7), int64(5)
	usage := wire.Usage{Input: &in, Output: &out}
	text := wire.Block{Kind: wire.KindText, Text: "It will rain."}
	call := wire.Block{Kind: wire.KindToolCall, ID: "call_1", Name: "weather", Args: jsontext.Value(`{"city":"Paris"}`)}
	other := wire.Block{Kind: wire.KindToolCall, ID: "call_2", Name: "news", Args: jsontext.Value(`{}`)}
	answers := []struct {
		why    string
		stop   wire.Stop
		blocks []wire.Block
	}{
		{"a text", wire.StopDone, []wire.Block{text}},
		{"a call after a text", wire.StopToolCalls, []wire.Block{text, call}},
		{"parallel calls", wire.StopToolCalls, []wire.Block{call, other}},
		{"a cut text", wire.StopTruncated, []wire.Block{text}},
	}
	for _, c := range []wire.Codec{anthropic.Codec{}, openaichat.Codec{}, openairesponses.Codec{}, gemini.Codec{}} {
		for _, a := range answers {
			for _, stream := range []bool{false, true} {
				r := &wire.Response{
					ID: "r", Model: "m", Stop: a.stop, Usage: usage, Complete: true,
					Message: wire.Message{Role: wire.RoleAssistant, Blocks: a.blocks},
				}
				body, err := c.EncodeResponse(nil, r, stream)
				if err != nil {
					t.Fatal(err)
				}
				answer := referee.Answer{Status: 200, ContentType: "application/json", Body: body, Stream: stream}
				if stream {
					answer.ContentType = "text/event-stream"
				}
				ours, theirs := referee.Codec(c, answer), referee.Decoders()[c.API()](t.Context(), answer)
				if diff := cmp.Diff(ours, theirs); diff != "" {
					t.Errorf("%s, %s, stream %v: %s\n(-codec +SDK):\n%s", c.API(), a.why, stream, body, diff)
				}
			}
		}
	}
}

// Package referee decodes model answers with the providers' official SDKs, so
// that retake's codecs can be held against them. It is a module of its own: the
// SDKs stay out of everyone else's build.
//
// Each SDK works through its real client: over a transport that answers from
// memory, once, with the recorded bytes.
package referee

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// Answer is one HTTP answer.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	Stream      bool // what the request asked for
}

// Turn is what a decoder made of an answer.
type Turn struct {
	Text  string
	Calls []Call
	Stop  string // the provider's word
	// The provider's own figures, 0 for what was not reported.
	Input, Output, CacheRead, CacheWrite, Reasoning int64
	Failed                                          bool // an error came out of it, of any kind
}

// Call is one tool call.
type Call struct {
	ID, Name string
	Args     string // as the decoder has it
}

// Decoder decodes an answer through an SDK.
type Decoder func(ctx context.Context, a Answer) Turn

// Decoders are the SDKs by the API they speak.
func Decoders() map[wire.API]Decoder {
	return map[wire.API]Decoder{
		wire.AnthropicMessages: Anthropic,
		wire.OpenAIChat:        OpenAIChat,
		wire.OpenAIResponses:   OpenAIResponses,
		wire.GeminiGenerate:    Gemini,
	}
}

// Codec decodes an answer with a codec of retake. What it calls Failed is an
// error of the provider's, an unreadable body, and a stream without its end or
// with a hole.
func Codec(c wire.Codec, a Answer) Turn {
	r, err := c.DecodeResponse(a.Status, a.ContentType, a.Body)
	if err != nil {
		return Turn{Failed: true}
	}
	t := Turn{Failed: r.Err != nil || !r.Complete}
	for _, b := range r.Message.Blocks {
		switch b.Kind {
		case wire.KindText:
			t.Text += b.Text
		case wire.KindToolCall:
			args := string(b.Args)
			if b.Args == nil {
				args = b.ArgsText
			}
			t.Calls = append(t.Calls, Call{b.ID, b.Name, args})
		case wire.KindToolResult, wire.KindReasoning, wire.KindRefusal, wire.KindOpaque:
		}
	}
	if len(r.RawStop) > 0 {
		t.Stop = r.RawStop[0]
	}
	u := r.Reported
	t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Reasoning = figure(u.Input), figure(u.Output), figure(u.CacheRead), figure(u.CacheWrite), figure(u.Reasoning)
	return t
}

func figure(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// memory is a transport that gives the same answer to every request.
type memory struct{ a Answer }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{}
	if m.a.ContentType != "" {
		h.Set("Content-Type", m.a.ContentType)
	}
	return &http.Response{
		Status: http.StatusText(m.a.Status), StatusCode: m.a.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(m.a.Body)), ContentLength: int64(len(m.a.Body)), Request: r,
	}, nil
}

// base is where the clients believe to be; nothing is dialled.
const base = "http://referee.invalid"

func client(a Answer) *http.Client { return &http.Client{Transport: memory{a}} }

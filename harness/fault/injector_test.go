package fault_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// apis are the four protocols that each fault of the model's side is tried on.
var apis = []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate}

// rig is an agent's end of the HTTP seam: a model that answers with what it was
// given, behind an injector.
type rig struct {
	api    wire.API
	stream bool
	inj    *fault.Injector
	client http.RoundTripper
	asked  int             // requests that reached the model
	choice wire.ToolChoice // of the requests
}

// newRig makes a model of the API that gives the answers one after the other, the
// last again and again.
func newRig(t *testing.T, api wire.API, stream bool, specs []fault.Spec, answers ...*wire.Response) *rig {
	t.Helper()
	inj, err := fault.New(specs, fault.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{api: api, stream: stream, inj: inj}
	c, _ := codec.For(api)
	r.client = inj.Model(roundTripper(func(req *http.Request) (*http.Response, error) {
		a := answers[min(r.asked, len(answers)-1)]
		r.asked++
		text, err := c.EncodeResponse(nil, a, stream)
		if err != nil {
			t.Fatal(err)
		}
		kind := "application/json"
		if stream {
			kind = "text/event-stream"
		}
		return &http.Response{
			StatusCode: http.StatusOK, Request: req,
			Header:        http.Header{"Content-Type": {kind}, "Content-Length": {strconv.Itoa(len(text))}},
			ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)),
		}, nil
	}))
	return r
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// got is what came of one request.
type got struct {
	status   int
	header   http.Header
	body     string
	err      error // of the transport, or of reading the body
	answer   *wire.Response
	decodErr error
}

// ask sends a request that says text.
func (r *rig) ask(t *testing.T, ctx context.Context, text string) got {
	t.Helper()
	c, _ := codec.For(r.api)
	body, err := c.EncodeRequest(nil, &wire.Request{
		Model: "m", Stream: r.stream, MaxTokens: 100, ToolChoice: r.choice,
		Messages: []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: text}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example"+c.Path("m", r.stream), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.client.RoundTrip(req)
	if err != nil {
		return got{err: err}
	}
	read, err := io.ReadAll(resp.Body)
	if n := resp.Header.Get("Content-Length"); n != "" && err == nil && n != strconv.Itoa(len(read)) {
		t.Errorf("the header says %s bytes, %d came", n, len(read))
	}
	g := got{status: resp.StatusCode, header: resp.Header, body: string(read), err: err}
	g.answer, g.decodErr = c.DecodeResponse(g.status, resp.Header.Get("Content-Type"), read)
	return g
}

// said is an answer with a text and calls.
func said(text string, calls ...wire.Block) *wire.Response {
	n := int64(7)
	r := &wire.Response{
		ID: "msg_1", Model: "m", Stop: wire.StopDone, Complete: true,
		Message: wire.Message{Role: wire.RoleAssistant}, Usage: wire.Usage{Input: &n, Output: &n},
	}
	if text != "" {
		r.Message.Blocks = append(r.Message.Blocks, wire.Block{Kind: wire.KindText, Text: text})
	}
	if len(calls) > 0 {
		r.Stop = wire.StopToolCalls
		r.Message.Blocks = append(r.Message.Blocks, calls...)
	}
	return r
}

func called(id, name, args string) wire.Block {
	return wire.Block{Kind: wire.KindToolCall, ID: id, Name: name, Args: []byte(args)}
}

func virtual(t *testing.T) context.Context { t.Helper(); return clock.Virtual(t.Context()) }

// A retry is the same call: the fault strikes the attempts that were asked for,
// uses up no answer of the model's, and then lets it through.
func TestAttempts(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.overloaded", At: fault.Address{Call: 2}, Times: 2}}, said("one"), said("two"))
	ctx := virtual(t)
	var statuses []int
	for _, text := range []string{"a", "b", "b", "b", "c"} {
		statuses = append(statuses, r.ask(t, ctx, text).status)
	}
	want := []int{200, 529, 529, 200, 200}
	for i := range want {
		if statuses[i] != want[i] {
			t.Fatalf("statuses %v, want %v", statuses, want)
		}
	}
	if r.asked != 3 {
		t.Errorf("the model was asked %d times, want 3: an injected error uses up no answer", r.asked)
	}
	f := r.inj.Fired()[0]
	if f.Times != 2 || f.At.String() != "call 2 attempt 1" {
		t.Errorf("fired %d times, first at %q", f.Times, f.At)
	}
}

// An answer that an attempt was robbed of is given to the next one.
func TestACutAnswerIsGivenAgain(t *testing.T) {
	for _, api := range apis {
		r := newRig(t, api, true, []fault.Spec{{Name: "model.truncated_stream", At: fault.Address{Event: 1}}}, said("first"), said("second"))
		ctx := virtual(t)
		cut, whole := r.ask(t, ctx, "a"), r.ask(t, ctx, "a")
		if cut.body != "" || cut.err != nil {
			t.Errorf("%s: want a clean end before the first event, got %q, %v", api, cut.body, cut.err)
		}
		if whole.answer == nil || whole.answer.Text() != "first" || r.asked != 1 {
			t.Errorf("%s: want the first answer once more, got %+v after %d requests", api, whole.answer, r.asked)
		}
	}
}

func TestReset(t *testing.T) {
	r := newRig(t, wire.OpenAIChat, true, []fault.Spec{{Name: "model.reset"}, {Name: "model.reset", At: fault.Address{Attempt: 2, Event: 2}}}, said("hello"))
	ctx := virtual(t)
	before, inside := r.ask(t, ctx, "a"), r.ask(t, ctx, "a")
	for _, g := range []got{before, inside} {
		if !errors.Is(g.err, syscall.ECONNRESET) {
			t.Errorf("got %v, want a reset", g.err)
		}
	}
	if before.status != 0 || inside.status != 200 || !strings.HasPrefix(inside.body, "data: ") {
		t.Errorf("got %d and %d %q, want nothing and one event", before.status, inside.status, inside.body)
	}
}

func TestALastingFaultGoesOn(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.pause", At: fault.Address{Call: 2}}}, said("one"), said("two"))
	ctx := virtual(t)
	var stops []wire.Stop
	for _, text := range []string{"a", "b", "c", "d"} {
		stops = append(stops, r.ask(t, ctx, text).answer.Stop)
	}
	if stops[0] != wire.StopDone || stops[1] != wire.StopPaused || stops[3] != wire.StopPaused || r.asked != 2 {
		t.Errorf("stops %v after %d requests to the model", stops, r.asked)
	}
}

package fault_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/tool"
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

// A lasting fault goes on for as many calls as it is told to.
func TestALastingFaultEnds(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.pause", At: fault.Address{Call: 2}, Times: 2}}, said("one"), said("two"), said("three"))
	ctx := virtual(t)
	var stops []wire.Stop
	for _, text := range []string{"a", "b", "c", "d"} {
		stops = append(stops, r.ask(t, ctx, text).answer.Stop)
	}
	if want := []wire.Stop{wire.StopDone, wire.StopPaused, wire.StopPaused, wire.StopDone}; !slices.Equal(stops, want) {
		t.Errorf("stops %v, want %v", stops, want)
	}
}

// Without an address a tool's fault stays with the call that it struck first.
func TestAToolFaultStaysWithItsCall(t *testing.T) {
	inj, err := fault.New([]fault.Spec{{Name: "tool.unavailable", Times: fault.Every}}, fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	struck := func(name string, ordinal, attempt int) bool {
		exec := inj.Tool(&tool.Spec{Decl: tool.Decl{Name: name}, Exec: tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Content: "fine"}, nil
		})})
		res, err := exec.Execute(virtual(t), tool.Call{Tool: name, Ordinal: ordinal, Attempt: attempt})
		return err == nil && res.Err != nil
	}
	for _, tc := range []struct {
		tool             string
		ordinal, attempt int
		want             bool
	}{{"a", 1, 1, true}, {"b", 2, 1, false}, {"a", 1, 2, true}, {"a", 3, 1, false}} {
		if got := struck(tc.tool, tc.ordinal, tc.attempt); got != tc.want {
			t.Errorf("call %d of %s, attempt %d: struck is %v", tc.ordinal, tc.tool, tc.attempt, got)
		}
	}
}

// Two faults draw apart, and each seed draws anew; the same seed draws the same.
func TestChance(t *testing.T) {
	struck := func(seed uint64, specs ...fault.Spec) string {
		inj, err := fault.New(specs, fault.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{api: wire.AnthropicMessages, inj: inj, client: inj.Model(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		}))}
		var out strings.Builder
		for n := range 60 {
			out.WriteString(strconv.Itoa(r.ask(t, virtual(t), strconv.Itoa(n)).status / 100))
		}
		return out.String()
	}
	half := fault.Spec{Name: "model.server_error", Chance: 0.5}
	never := fault.Spec{Name: "model.server_error", Chance: 1e-9}
	one, again, other := struck(1, half), struck(1, half), struck(2, half)
	second := struck(1, never, half)
	if one != again || one == other || one == second {
		t.Errorf("seed 1: %s and %s; seed 2: %s; as the second fault: %s", one, again, other, second)
	}
	if n := strings.Count(one, "5"); n < 15 || n > 45 {
		t.Errorf("half of 60 calls are %d", n)
	}
}

// An answer that an attempt was robbed of takes its time at the next one, too.
func TestARobbedAnswerTakesItsTime(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, true, []fault.Spec{{Name: "model.truncated_stream"}}, said("hello"))
	next := r.client
	inj, err := fault.New([]fault.Spec{{Name: "model.truncated_stream"}}, fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.inj, r.client = inj, inj.Model(roundTripper(func(req *http.Request) (*http.Response, error) {
		if err := clock.Sleep(req.Context(), time.Second); err != nil {
			return nil, err
		}
		return next.RoundTrip(req)
	}))
	ctx := virtual(t)
	r.ask(t, ctx, "a")
	first := clock.Now(ctx)
	r.ask(t, ctx, "a")
	if first != time.Second || clock.Now(ctx) != 2*time.Second {
		t.Errorf("the first attempt ends at %v, the second at %v; want 1s and 2s", first, clock.Now(ctx))
	}
}

// What does not fit where it is due says why, and where.
func TestWhyNot(t *testing.T) {
	for _, tc := range []struct {
		why    string
		stream bool
		specs  []fault.Spec
		want   string // of the last spec
	}{
		{"an event too far", true, []fault.Spec{{Name: "model.reset", At: fault.Address{Call: 1, Event: 99}}}, "call 1 attempt 1: the stream has"},
		{"no stream", false, []fault.Spec{{Name: "model.truncated_stream", At: fault.Address{Call: 1}}}, "call 1 attempt 1: the answer is no stream"},
		{"another fault is there", false, []fault.Spec{{Name: "model.reset"}, {Name: "model.overloaded", At: fault.Address{Call: 1}}}, "model.reset struck that attempt, and one strikes at a time"},
		{"no luck", false, []fault.Spec{{Name: "model.reset", Chance: 1e-9}}, "the chance of 1e-09 never came up with the seed 1"},
		{"a call that never comes", false, []fault.Spec{{Name: "model.reset", At: fault.Address{Call: 5}}}, ""},
	} {
		r := newRig(t, wire.AnthropicMessages, tc.stream, tc.specs, said("hello"))
		r.ask(t, virtual(t), "a")
		fired := r.inj.Fired()
		if f := fired[len(fired)-1]; f.Times != 0 || !strings.Contains(f.Why, tc.want) || tc.want == "" && f.Why != "" {
			t.Errorf("%s: struck %d times, %q, want %q", tc.why, f.Times, f.Why, tc.want)
		}
	}
}

func TestRegenerations(t *testing.T) {
	for _, tc := range []struct {
		times, want int
	}{{0, 1}, {1, 1}, {3, 3}} {
		inj, err := fault.New([]fault.Spec{{Name: "host.regenerate", Times: tc.times}, {Name: "model.reset"}}, fault.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := inj.Regenerations(); got != tc.want {
			t.Errorf("times %d: %d, want %d", tc.times, got, tc.want)
		}
	}
}

// A part that an agent throws away the model has not seen; one that it goes on with
// it has.
func TestAPartOfAnAnswer(t *testing.T) {
	for _, api := range apis {
		for _, shows := range []bool{false, true} {
			r := newRig(t, api, true, []fault.Spec{{Name: "model.truncated_stream", At: fault.Address{Event: 2}}}, said("one", called("c1", "f", `{"n":1}`)), said("two"))
			ctx := virtual(t)
			r.ask(t, ctx, "a")
			if !r.inj.Seen() {
				t.Errorf("%s: a part was given as if it were the whole", api)
			}
			c, _ := codec.For(api)
			say := func(role wire.Role, text string) wire.Message {
				return wire.Message{Role: role, Blocks: []wire.Block{{Kind: wire.KindText, Text: text}}}
			}
			messages := []wire.Message{say(wire.RoleUser, "a"), say(wire.RoleUser, "please")}
			if shows {
				messages = []wire.Message{say(wire.RoleUser, "a"), say(wire.RoleAssistant, "on"), say(wire.RoleUser, "go on")}
			}
			body, err := c.EncodeRequest(nil, &wire.Request{Model: "m", Stream: true, MaxTokens: 100, Messages: messages})
			if err != nil {
				t.Fatal(err)
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example"+c.Path("m", true), bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.client.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			if got := r.inj.Seen(); got != shows {
				t.Errorf("%s: the agent shows the part: %v; seen: %v", api, shows, got)
			}
		}
	}
}

// What a run of the task has shown its model, the model of the next has not seen.
func TestAFurtherRunHasSeenNothing(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.empty_turn"}, {Name: "tool.unavailable"}, {Name: "host.regenerate"}}, said("one"))
	ctx := virtual(t)
	r.ask(t, ctx, "a")
	exec := r.inj.Tool(&tool.Spec{Decl: tool.Decl{Name: "f"}, Exec: tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, nil
	})})
	if _, err := exec.Execute(ctx, tool.Call{Tool: "f", Ordinal: 1, Attempt: 1}); err != nil || !r.inj.Seen() {
		t.Fatalf("%v, seen %v", err, r.inj.Seen())
	}
	if r.inj.Regenerate(ctx); r.inj.Seen() {
		t.Error("seen, by a model that has not been asked anything")
	}
}

// Another address is another call, whatever its body: at Gemini the model is there.
func TestAnotherAddressIsAnotherCall(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.short_body"}}, said("one"), said("two"))
	ctx := virtual(t)
	r.ask(t, ctx, "a")
	next := r.client
	r.client = roundTripper(func(req *http.Request) (*http.Response, error) {
		req.URL.RawQuery = "other=1"
		return next.RoundTrip(req)
	})
	if got := r.ask(t, ctx, "a"); r.asked != 2 || got.answer.Text() != "two" {
		t.Errorf("asked %d times, got %q; want an answer of its own", r.asked, got.answer.Text())
	}
}

// A further run of the task begins its own calls: it does not go on with one that
// the run before was robbed of.
func TestAFurtherRunBeginsItsOwnCalls(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.short_body"}, {Name: "host.regenerate"}}, said("one"), said("two"))
	ctx := virtual(t)
	r.ask(t, ctx, "a")
	r.inj.Regenerate(ctx)
	if got := r.ask(t, ctx, "a"); r.asked != 2 || got.answer == nil || got.answer.Text() != "two" {
		t.Errorf("asked %d times, got %+v; want an answer of its own", r.asked, got.answer)
	}
}

package fault_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// post sends one request through a client of net/http.
func (r *rig) post(t *testing.T, ctx context.Context) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example/v1/messages", bytes.NewReader([]byte(`{"model":"m","messages":[]}`)))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: r.client}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return resp, text, err
}

// The errors survive net/http's client as what they are.
func TestErrorsThroughAClient(t *testing.T) {
	for _, row := range []struct {
		why  string
		spec fault.Spec
		is   func(resp *http.Response, err error) bool
	}{
		{"a reset is a *net.OpError", fault.Spec{Name: "model.reset"}, func(_ *http.Response, err error) bool {
			var op *net.OpError
			return errors.Is(err, syscall.ECONNRESET) && errors.As(err, &op)
		}},
		{"a reset in the body", fault.Spec{Name: "model.reset", At: fault.Address{Event: 2}}, func(resp *http.Response, err error) bool {
			return resp != nil && errors.Is(err, syscall.ECONNRESET)
		}},
		{"a timeout is a net.Error", fault.Spec{Name: "model.timeout"}, func(_ *http.Response, err error) bool {
			var timeout net.Error
			return errors.As(err, &timeout) && timeout.Timeout()
		}},
		{"a short body has the length of the whole", fault.Spec{Name: "model.short_body", Params: fault.Params{Bytes: 10}}, func(resp *http.Response, err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF) && resp.ContentLength > 10
		}},
		{"a truncated stream is no error", fault.Spec{Name: "model.truncated_stream"}, func(_ *http.Response, err error) bool {
			return err == nil
		}},
		{"an overload has its status line", fault.Spec{Name: "model.overloaded"}, func(resp *http.Response, err error) bool {
			return err == nil && resp.Status == "529 Overloaded"
		}},
	} {
		r := newRig(t, wire.AnthropicMessages, true, []fault.Spec{row.spec}, said("hello"))
		if resp, _, err := r.post(t, virtual(t)); !row.is(resp, err) {
			t.Errorf("%s: got %+v, %v", row.why, resp, err)
		}
	}
}

// A deadline ends the wait where it stands, and no recording is used up.
func TestADeadlineEndsTheWait(t *testing.T) {
	for _, row := range []struct {
		why   string
		spec  fault.Spec
		asked int
	}{
		{"no answer", fault.Spec{Name: "model.timeout"}, 0},
		{"an answer that is too slow", fault.Spec{Name: "model.timeout", Params: fault.Params{Delay: time.Hour}}, 0},
		{"a stall in the stream", fault.Spec{Name: "model.timeout", At: fault.Address{Event: 3}}, 1},
		{"a stall in the stream that is too long", fault.Spec{Name: "model.timeout", At: fault.Address{Event: 3}, Params: fault.Params{Delay: time.Hour}}, 1},
	} {
		r := newRig(t, wire.AnthropicMessages, true, []fault.Spec{row.spec}, said("hello"))
		ctx := virtual(t)
		limited, cancel := clock.WithTimeout(ctx, 30*time.Second)
		_, _, err := r.post(t, limited)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || clock.Now(ctx) != 30*time.Second || r.asked != row.asked {
			t.Errorf("%s: got %v at %v after %d requests to the model", row.why, err, clock.Now(ctx), r.asked)
		}
		if _, text, err := r.post(t, ctx); err != nil || !bytes.Contains(text, []byte("hello")) || r.asked != 1 {
			t.Errorf("%s: the next attempt got %s, %v after %d requests to the model", row.why, text, err, r.asked)
		}
	}
}

// In a bubble the client's own timers end the wait, and nothing of it is real.
func TestTimeoutInABubble(t *testing.T) {
	stopwatch := clock.Stopwatch()
	synctest.Test(t, func(t *testing.T) {
		ctx := clock.Wall(t.Context())
		limited, cancel := context.WithTimeout(ctx, 10*time.Minute)
		defer cancel()
		r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.timeout"}}, said("hello"))
		_, _, err := r.post(t, limited)
		if !errors.Is(err, context.DeadlineExceeded) || clock.Now(ctx) != 10*time.Minute {
			t.Errorf("got %v at %v", err, clock.Now(ctx))
		}
	})
	if d := stopwatch(); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}

// On a real clock a fault that would have to wait longer than is waited for does
// not strike, and says so; one that waits less does.
func TestOnARealClock(t *testing.T) {
	for _, tc := range []struct {
		why  string
		spec fault.Spec
		want string // why it did not strike
	}{
		{"no answer, however long", fault.Spec{Name: "model.timeout"}, ""},
		{"an hour", fault.Spec{Name: "model.timeout", Params: fault.Params{Delay: time.Hour}}, "not applicable: real clock: it waits 1h0m0s, and at most 10ms are waited for"},
		{"a millisecond", fault.Spec{Name: "model.timeout", Params: fault.Params{Delay: time.Millisecond}}, ""},
		{"no wait at all", fault.Spec{Name: "model.reset"}, ""},
	} {
		inj, err := fault.New([]fault.Spec{tc.spec}, fault.Options{Clock: clock.ModeReal, RealWaitCap: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{client: inj.Model(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		}))}
		_, _, _ = r.post(t, clock.Wall(t.Context()))
		f := inj.Fired()[0]
		if tc.want == "" && f.Times != 1 || tc.want != "" && (f.Times != 0 || !strings.Contains(f.Why, tc.want)) {
			t.Errorf("%s: struck %d times, %q, want %q", tc.why, f.Times, f.Why, tc.want)
		}
	}
}

// A model that cannot answer is not the fault's doing: it did not strike.
func TestAMissIsNoStrike(t *testing.T) {
	miss := failure.Errorf(failure.CassetteMiss, "no recording")
	for _, spec := range []fault.Spec{
		{Name: "model.empty_turn"},
		{Name: "model.short_body"},
		{Name: "model.guessing"},
		{Name: "model.truncated_stream"},
		{Name: "model.reset", At: fault.Address{Event: 2}},
	} {
		inj, err := fault.New([]fault.Spec{spec}, fault.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{client: inj.Model(roundTripper(func(*http.Request) (*http.Response, error) { return nil, miss }))}
		_, _, err = r.post(t, virtual(t))
		var urlError *url.Error
		if !errors.As(err, &urlError) || failure.Of(err) != failure.CassetteMiss || inj.Fired()[0].Times != 0 {
			t.Errorf("%s: got %v, fired %d times", spec.Name, err, inj.Fired()[0].Times)
		}
	}
}

// An answer that cannot be read is an attempt, not an answer: the next one is of
// the same call.
func TestABadBodyIsAnAttempt(t *testing.T) {
	r := newRig(t, wire.AnthropicMessages, false, []fault.Spec{{Name: "model.bad_body", Times: 2}}, said("hello"))
	ctx := virtual(t)
	for n, want := range []bool{false, false, true} {
		if g := r.ask(t, ctx, "a"); (g.decodErr == nil) != want {
			t.Errorf("attempt %d got %q", n+1, g.body)
		}
	}
}

// An event after the end of an answer says nothing: without it nothing is cut.
func TestNothingIsCutFromAWholeAnswer(t *testing.T) {
	inj, err := fault.New([]fault.Spec{{Name: "model.truncated_stream", At: fault.Address{Event: 3}}}, fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"content\":[]}}\n\n" +
		"data: {\"type\":\"message_stop\"}\n\ndata: {\"type\":\"ping\"}\n\n"
	r := &rig{client: inj.Model(roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: req,
			Body: io.NopCloser(bytes.NewReader([]byte(whole))), ContentLength: int64(len(whole)),
		}, nil
	}))}
	_, text, err := r.post(t, virtual(t))
	if f := inj.Fired()[0]; err != nil || string(text) != whole || f.Times != 0 || f.Why == "" {
		t.Errorf("got %q, %v; fired %d times, why %q", text, err, f.Times, f.Why)
	}
}

// A call that the schema refuses never reaches its tool: on every clock the tools'
// calls are counted without it.
func TestARefusedCallHasNoNumber(t *testing.T) {
	for _, mode := range []clock.Mode{clock.ModeVirtual, clock.ModeBubble} {
		inj, err := fault.New([]fault.Spec{{Name: "tool.unavailable", At: fault.Address{Tool: "get_weather", Call: 1}}}, fault.Options{Clock: mode})
		if err != nil {
			t.Fatal(err)
		}
		exec := inj.Tool(&tool.Spec{Decl: tool.Decl{Name: "get_weather"}, Input: weatherInput(t), Exec: tool.ExecutorFunc(
			func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: "{}"}, nil })})
		c, _ := codec.For(wire.AnthropicMessages)
		text, err := c.EncodeResponse(nil, said("", called("call_1", "get_weather", `{}`), called("call_2", "get_weather", `{"city":"Rome"}`)), false)
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{client: inj.Model(roundTripper(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req, Body: io.NopCloser(bytes.NewReader(text))}, nil
		}))}
		ctx := virtual(t)
		if _, _, err := r.post(t, ctx); err != nil {
			t.Fatal(err)
		}
		res, err := exec.Execute(ctx, tool.Call{Tool: "get_weather", ID: "call_2", Args: []byte(`{"city":"Rome"}`), Attempt: 1, Ordinal: 2})
		if err != nil || res.Err == nil {
			t.Errorf("%s: the one call that ran was not struck: %+v, %v; fired %+v", mode, res, err, inj.Fired()[0])
		}
	}
}

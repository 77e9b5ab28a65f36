package fault_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/wire"
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

// On a real clock a wait ends at the cap.
func TestWaitsAreCappedOnARealClock(t *testing.T) {
	inj, err := fault.New([]fault.Spec{{Name: "model.timeout"}}, fault.Options{Clock: clock.ModeReal, RealWaitCap: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{client: inj.Model(roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("asked") }))}
	_, _, err = r.post(t, clock.Wall(t.Context()))
	if failure.Of(failure.Classify(err)) != failure.Timeout {
		t.Errorf("got %v, want a timeout", err)
	}
}

// A model that cannot answer is not the fault's doing: it did not strike.
func TestAMissIsNoStrike(t *testing.T) {
	miss := failure.Errorf(failure.CassetteMiss, "no recording")
	for _, name := range []string{"model.empty_turn", "model.short_body", "model.guessing", "model.truncated_stream"} {
		inj, err := fault.New([]fault.Spec{{Name: name}}, fault.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{client: inj.Model(roundTripper(func(*http.Request) (*http.Response, error) { return nil, miss }))}
		_, _, err = r.post(t, virtual(t))
		var urlError *url.Error
		if !errors.As(err, &urlError) || failure.Of(err) != failure.CassetteMiss || inj.Fired()[0].Times != 0 {
			t.Errorf("%s: got %v, fired %d times", name, err, inj.Fired()[0].Times)
		}
	}
}

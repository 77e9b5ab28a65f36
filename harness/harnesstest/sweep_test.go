package harnesstest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// asksAgain is an agent that asks up to three times, whatever the answer's status
// when stubborn.
func asksAgain(stubborn bool) harness.Func {
	return func(ctx context.Context, env *harness.Env) (string, error) {
		c, _ := codec.For(env.API)
		body, err := c.EncodeRequest(nil, &wire.Request{
			Model: env.Model, MaxTokens: env.Scenario.MaxTokens,
			Messages: []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: env.Task()}}}},
		})
		if err != nil {
			return "", err
		}
		for range 3 {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, env.BaseURL+"/v1/messages", strings.NewReader(string(body)))
			if err != nil {
				return "", err
			}
			resp, err := env.HTTP.Do(req)
			if err != nil {
				return "", err
			}
			read, err := io.ReadAll(resp.Body)
			if err != nil {
				return "", err
			}
			answer, err := c.DecodeResponse(resp.StatusCode, "", read)
			if err == nil && answer.Err == nil && answer.Stop == wire.StopDone && answer.Text() != "" {
				return answer.Text(), nil
			}
			if !stubborn {
				break
			}
		}
		return "", errors.New("no answer")
	}
}

func sweepParams(t *testing.T, agent harness.Agent, faults ...string) harnesstest.SweepParams {
	t.Helper()
	p := harnesstest.SweepParams{Params: hello(agent), Faults: faults}
	p.T = t
	return p
}

func TestSweepTells(t *testing.T) {
	for _, tc := range []struct {
		why    string
		agent  harness.Agent
		faults []string
		max    int
		want   string // "" is no error
	}{
		{"an agent that asks once", asksAgain(false), nil, 0, ""},
		{"one that asks again after a 400", asksAgain(true), []string{"model.client_error"}, 0, "retried after client_error (status 400)"},
		{"nothing applies", asksAgain(false), []string{"tool.panic"}, 0, "nothing was swept"},
		{"no such fault", asksAgain(false), []string{"tool.painc"}, 0, `did you mean "tool.panic"`},
		{"fewer runs than none", asksAgain(false), nil, -1, "say how many to make"},
		{"it fails without faults", harness.Func(func(context.Context, *harness.Env) (string, error) { return "", errors.New("no idea") }), nil, 0, "does not pass without faults; mend that first: no idea"},
	} {
		p := sweepParams(t, tc.agent, tc.faults...)
		p.Max = tc.max
		said := told(t, func(tb testing.TB) { tb.Helper(); harnesstest.Sweep(tb, p) }).said()
		if tc.want == "" && said != "" || !strings.Contains(said, tc.want) {
			t.Errorf("%s: %q, want %q", tc.why, said, tc.want)
		}
		if strings.Contains(said, "retried") && !strings.Contains(said, "repeat: RETAKE_FAULT='model.client_error@call=1' go test -v -run '^TestSweepTells$'") {
			t.Errorf("%s: no command that repeats it: %q", tc.why, said)
		}
	}
}

// One run is repeated by the environment, and fails where the sweep did.
func TestRepeatingOneRun(t *testing.T) {
	wrong := harness.Func(func(context.Context, *harness.Env) (string, error) { return "", errors.New("no idea") })
	for _, tc := range []struct {
		why, fault string
		agent      harness.Agent
		want       string
	}{
		{"the run that breaches", "model.client_error@call=1", asksAgain(true), "retried after client_error"},
		{"one that does not", "model.client_error@call=1", asksAgain(false), ""},
		{"nothing but a blank", " ", asksAgain(false), "names no fault"},
		{"no fault", "model.clienterror", asksAgain(false), `did you mean "model.client_error"`},
		{"a scenario that fails without", "model.reset", wrong, "without the fault, mend that first"},
		{"a fault that never strikes", "model.reset@call=9", asksAgain(false), "model.reset"},
	} {
		t.Setenv("RETAKE_FAULT", tc.fault)
		f := told(t, func(tb testing.TB) { tb.Helper(); harnesstest.Sweep(tb, sweepParams(t, tc.agent)) })
		if said := f.said(); tc.want == "" && said != "" || !strings.Contains(said, tc.want) {
			t.Errorf("%s: %q, want %q", tc.why, said, tc.want)
		}
		if tc.want == "" && !strings.Contains(strings.Join(f.logs, "\n"), "fault     model.client_error call 1 attempt 1") {
			t.Errorf("%s: the transcript is not shown: %q", tc.why, f.logs)
		}
	}
}

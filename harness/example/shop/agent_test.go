package shop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"

	"github.com/retake-harness/retake/harness/example/shop"
)

// project is the folder with this module's scenarios, cassettes and goldens.
const project = ".."

// The agent under test is ours; the model answers from the cassettes, the tools
// run for real.
func TestScenarios(t *testing.T) {
	harnesstest.Run(t, harnesstest.Params{Dir: project, Agent: harness.Func(shop.Agent), NewTools: tools})
}

// The official SDK obeys a Retry-After of an hour. In the bubble that takes no
// time; the report counts it all the same.
func TestAnHourOfRetryAfter(t *testing.T) {
	cases, err := harnesstest.Cases(harnesstest.Params{Dir: project, Scenarios: []string{"busy"}, Agent: harness.Func(shop.Agent)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Variant != "told-to-wait-an-hour" {
			continue
		}
		r := c.Exec(t)
		states := map[contract.Rule]contract.State{}
		for _, f := range r.Findings {
			states[f.Rule] = f.State
		}
		if r.Verdict != harness.Pass || r.Latency < time.Hour || states["W5"] != contract.Breached || states["W12"] != contract.Held {
			t.Errorf("%s after %v, W5 %s, W12 %s\n%s", r.Verdict, r.Latency, states["W5"], states["W12"], harnesstest.Explain(r))
		}
		return
	}
	t.Error("the scenario has no such run under faults")
}

// The agent under every fault, at every place.
func TestSweep(t *testing.T) {
	harnesstest.Sweep(t, harnesstest.SweepParams{Params: harnesstest.Params{Dir: project, Agent: harness.Func(shop.Agent), NewTools: tools}})
}

// The cassettes of this module are made of the turns below, by the agent itself.
func TestCassettes(t *testing.T) {
	for name, turns := range recordings() {
		t.Run(name, func(t *testing.T) {
			p := harnesstest.Params{Dir: project, Agent: harness.Func(shop.Agent), Tools: tools().Executors}
			harnesstest.Scripted(t, p, name, harnesstest.Recording{Turns: turns})
		})
	}
}

func recordings() map[string][]script.Turn {
	order := script.Call{Name: "lookup_order", Args: `{"order_id":"ORD-000042"}`}
	refund := script.Call{Name: "issue_refund", Args: `{"order_id":"ORD-000042","amount_cents":4900,"reason":"lamp arrived broken"}`}
	return map[string][]script.Turn{
		"refund": {
			{Text: "Let me look at the order.", Calls: []script.Call{order}, Usage: script.Usage{Input: 640, Output: 61}, Latency: 1400 * time.Millisecond},
			{Calls: []script.Call{refund}, Usage: script.Usage{Input: 760, Output: 92}, Latency: 1700 * time.Millisecond},
			{Text: "Your refund RF-1 of 49.00 for the broken lamp is issued.", Usage: script.Usage{Input: 880, Output: 24}, Latency: 900 * time.Millisecond},
		},
		// The first attempt is turned away; the SDK waits as long as it is told to,
		// in the bubble's time.
		"busy": {
			{
				Status: http.StatusTooManyRequests, RetryAfter: 20 * time.Second,
				Error: &wire.APIError{Type: "rate_limit_error", Message: "slow down"},
			},
			{Text: "Hello! How can I help you?", Usage: script.Usage{Input: 610, Output: 12}, Latency: 800 * time.Millisecond},
		},
	}
}

// tools are the shop's own, on a world that begins anew for each of them. A refund
// is counted where it was made.
func tools() *harness.Tools {
	s := &store{}
	return &harness.Tools{
		Executors: map[string]tool.Executor{"lookup_order": tool.Func(s.lookup), "issue_refund": tool.Func(s.refund)},
		Probes:    map[string]effect.Probe{"issue_refund": effect.ProbeFunc(s.issued)},
	}
}

// store keeps the refunds by idempotency key: the same key is the same refund.
type store struct {
	mu      sync.Mutex
	refunds map[string]string
}

func (s *store) lookup(_ context.Context, args []byte) (string, error) {
	var a struct {
		OrderID string `json:"order_id"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return "", err
	}
	return fmt.Sprintf(`{"ok":true,"order_id":%q,"status":"delivered","items":[{"name":"lamp","price_cents":4900}]}`, a.OrderID), nil
}

func (s *store) issued(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.refunds), nil
}

func (s *store) refund(_ context.Context, args []byte) (string, error) {
	var a struct {
		Key    string `json:"idempotency_key"`
		Amount int    `json:"amount_cents"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return "", err
	}
	if a.Key == "" {
		return "", &tool.Error{Code: "MISSING_KEY", Message: "a refund needs an idempotency key"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if done, ok := s.refunds[a.Key]; ok {
		return done, nil
	}
	if s.refunds == nil {
		s.refunds = map[string]string{}
	}
	s.refunds[a.Key] = fmt.Sprintf(`{"ok":true,"refund_id":"RF-%d","amount_cents":%d}`, len(s.refunds)+1, a.Amount)
	return s.refunds[a.Key], nil
}

// A changed prompt is found, and said to be one.
func TestAChangedPromptIsAMiss(t *testing.T) {
	agent := harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
		changed := *env.Scenario
		changed.System = []string{"Be brief."}
		env.Scenario = &changed
		return shop.Agent(ctx, env)
	})
	cases, err := harnesstest.Cases(harnesstest.Params{Dir: project, Scenarios: []string{"refund"}, Agent: agent, Tools: tools().Executors})
	if err != nil {
		t.Fatal(err)
	}
	r := cases[0].Exec(t)
	if said := harnesstest.Explain(r); r.Verdict != harness.Fail || !strings.Contains(said, "prompt") || !strings.Contains(said, "/system") {
		t.Errorf("want a miss with the cause prompt, got %s", said)
	}
}

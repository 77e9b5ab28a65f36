package harness_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// till is a shop's till. A sound one knows by the key what it has taken already.
type till struct {
	sound bool
	taken int
	seen  map[string]bool
}

func (s *till) Execute(_ context.Context, c tool.Call) (tool.Result, error) {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if !s.sound || !s.seen[string(c.Args)] {
		s.taken++
	}
	s.seen[string(c.Args)] = true
	return tool.Result{Content: `{"paid":true}`}, nil
}

// payment is a run of an agent that has something paid, under the fault.
type payment struct {
	till    till
	decl    tool.Decl
	decide  scenario.Decision
	fault   string
	counted bool // in the till, not by the calls
	effects int  // expected
	agent   func(ctx context.Context, env *harness.Env) (string, error)
}

func pay(ctx context.Context, env *harness.Env) (string, error) {
	a, err := env.Tools.Call(ctx, "pay", "c1", `{"amount":5}`)
	return a.Text, err
}

func (p *payment) run(t *testing.T) *harness.Result {
	t.Helper()
	spec, err := fault.ParseSpec(p.fault)
	if err != nil {
		t.Fatal(err)
	}
	d := p.decl
	d.Name, d.Effect = "pay", tool.EffectWrite
	s := &scenario.Scenario{Name: "till", Turns: []scenario.Turn{{User: "Pay."}}, Tools: []tool.Decl{d}}
	if p.decide != "" {
		s.Approvals = []scenario.Approval{{Tool: "pay", Decision: p.decide, Args: jsontext.Value(`{"amount":4}`)}}
	}
	hp := harness.Params{
		Scenario: s, Model: "m", API: wire.AnthropicMessages, Transport: http.NewFileTransport(http.Dir(t.TempDir())), RunID: "r",
		Executors: map[string]tool.Executor{"pay": &p.till}, Agent: harness.Func(pay),
		Variant: &scenario.Variant{ID: "v", Faults: []fault.Spec{spec}, Expect: scenario.Expect{Effects: map[string]int{"pay": p.effects}}},
	}
	if p.effects > 0 {
		hp.Variant.Expect.Breaches = []string{"W4"} // no model has asked for it
	}
	if p.agent != nil {
		hp.Agent = harness.Func(p.agent)
	}
	if p.counted {
		hp.Probes = map[string]effect.Probe{"pay": effect.ProbeFunc(func(context.Context) (int, error) { return p.till.taken, nil })}
	}
	return harness.Exec(t.Context(), hp)
}

var hostKey = &tool.Key{Field: "key", From: tool.KeyFromHost}

func TestHostFaults(t *testing.T) {
	for _, tc := range []struct {
		why     string
		payment payment
		verdict harness.Verdict
		breach  string // the rule and a part of what it says; "" for none
		told    string // the answer
		taken   int
	}{
		{"begun again after a crash, a host's key is the same, and a sound tool pays once", payment{fault: "host.crash_after_effect", till: till{sound: true}, decl: tool.Decl{Key: hostKey}, counted: true, effects: 1}, harness.Pass, "", `{"paid":true}`, 1},
		{"a tool that forgets is found by a count of the world", payment{fault: "host.crash_after_effect", decl: tool.Decl{Key: hostKey}, counted: true, effects: 1}, harness.Fail, "W6 pay: 2 effects in the world, expected 1; the tool has made more of the same call than one effect", `{"paid":true}`, 2},
		{"where only calls are counted the key is believed", payment{fault: "host.crash_after_effect", decl: tool.Decl{Key: hostKey}, effects: 1}, harness.Pass, "", `{"paid":true}`, 2},
		{"without a key it is paid twice", payment{fault: "host.crash_after_effect", effects: 1}, harness.Fail, "W6 pay: 2 effects, expected 1; without an idempotency key", `{"paid":true}`, 2},
		{"a host that does not notice that it is dead does nothing more", payment{fault: "host.crash_after_effect", till: till{sound: true}, decl: tool.Decl{Key: hostKey}, counted: true, effects: 1, agent: undead}, harness.Pass, "", `{"paid":true}`, 1},
		{"approved twice, a keyed call is one effect", payment{fault: "host.approval_twice", till: till{sound: true}, decl: tool.Decl{Key: hostKey, Approval: true}, decide: scenario.DecideApprove, counted: true, effects: 1}, harness.Pass, "", `{"paid":true}`, 1},
		{"and one without a key is two", payment{fault: "host.approval_twice", decl: tool.Decl{Approval: true}, decide: scenario.DecideApprove, effects: 1}, harness.Fail, "W6 pay: 2 effects, expected 1; without an idempotency key", `{"paid":true}`, 2},
		{"an approval that comes too late is none", payment{fault: "host.approval_expired", decl: tool.Decl{Approval: true}, decide: scenario.DecideApprove}, harness.Pass, "", "the approval came when the call was over; it was not made", 0},
		{"nor is one of something else", payment{fault: "host.approval_edited", decl: tool.Decl{Approval: true}, decide: scenario.DecideApprove}, harness.Pass, "", "what was approved is another call than this; it was not made", 0},
		{"nor one of what a person has made of it", payment{fault: "host.approval_edited", decl: tool.Decl{Approval: true}, decide: scenario.DecideEdit}, harness.Pass, "", "what was approved is another call than this; it was not made", 0},
		{"a person who refuses approves nothing, so nothing strikes", payment{fault: "host.approval_expired", decl: tool.Decl{Approval: true}, decide: scenario.DecideDeny}, harness.Fail, "W10 the fault host.approval_expired did not strike: pay call 1 attempt 1: the person does not approve the call", "a person has refused this call", 0},
	} {
		r := tc.payment.run(t)
		if r.Verdict != tc.verdict || !strings.Contains(r.Outcome.Answer, tc.told) || tc.payment.till.taken != tc.taken {
			t.Errorf("%s: %s, %q, %d taken; %+v", tc.why, r.Verdict, r.Outcome.Answer, tc.payment.till.taken, r.Failures)
		}
		said := ""
		for _, b := range r.Breaches {
			if b.Rule != "W4" {
				said += string(b.Rule) + " " + b.What
			}
		}
		if !strings.Contains(said, tc.breach) || tc.breach == "" && said != "" {
			t.Errorf("%s: breaches %q, want %q", tc.why, said, tc.breach)
		}
		for _, f := range r.Findings {
			if f.Rule == "W13" && f.State == contract.Breached {
				t.Errorf("%s: an unapproved call has reached the tool", tc.why)
			}
		}
	}
}

// undead goes on when its calls fail, until it has asked often enough.
func undead(ctx context.Context, env *harness.Env) (string, error) {
	var last error
	for range 5 {
		said, err := pay(context.WithoutCancel(ctx), env)
		if err == nil {
			return said, nil
		}
		if req, _ := http.NewRequest(http.MethodPost, env.BaseURL+"/v1/messages", http.NoBody); req != nil {
			if _, err := env.HTTP.Do(req); err == nil || !errors.Is(err, fault.ErrCrashed) {
				return "", errors.New("the dead have been answered")
			}
		}
		last = err
	}
	return "", last
}

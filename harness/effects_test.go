package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// counts gives one number after the other.
func counts(n ...int) effect.Probe {
	return effect.ProbeFunc(func(ctx context.Context) (int, error) {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		first := n[0]
		n = n[1:]
		if first < 0 {
			return 0, failure.Errorf(failure.World, "the database is gone")
		}
		return first, nil
	})
}

// Only what a run adds counts, and what cannot be counted is no zero.
func TestCounts(t *testing.T) {
	p := newProject(t)
	for _, tc := range []struct {
		why     string
		probe   effect.Probe
		verdict harness.Verdict
		says    string
		effects int
	}{
		{"what was there before is not the run's", counts(7, 8), harness.Pass, "", 1},
		{"nothing was added", counts(7, 7), harness.Pass, "", 0},
		{"a count that goes down is no count", counts(7, 6), harness.Broken, "were 7 before the run and are 6 after it", 0},
		{"a probe that fails before", counts(-1), harness.Broken, "the database is gone", 0},
		{"and one that fails afterwards", counts(7, -1), harness.Broken, "the database is gone", 0},
	} {
		r := p.exec("weather", func(hp *harness.Params) {
			hp.Probes = map[string]effect.Probe{"note": tc.probe}
		})
		said := ""
		for _, f := range r.Failures {
			said += f.What
		}
		if r.Verdict != tc.verdict || !strings.Contains(said, tc.says) || r.Effects["note"] != tc.effects {
			t.Errorf("%s: %s, %v, %s", tc.why, r.Verdict, r.Effects, said)
		}
	}
}

// When the run's time is up the world can still be asked.
func TestCountsAfterTheRunHasEnded(t *testing.T) {
	p := newProject(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	r := p.execContext(ctx, "hello", func(hp *harness.Params) {
		hp.Probes = map[string]effect.Probe{"note": counts(0, 1)}
		hp.Agent = harness.Func(func(context.Context, *harness.Env) (string, error) {
			cancel(errors.New("over"))
			return "", nil
		})
	})
	if r.Effects["note"] != 1 {
		t.Errorf("%s: %v", r.Verdict, r.Effects)
	}
}

// A tool that breaks, and what it has done twice, are told before the miss that
// comes of it.
func TestToolsBeforeAMiss(t *testing.T) {
	p := newProject(t)
	broken := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Err: &tool.Error{Code: tool.CodeUpstream, Message: "the tool broke off", Class: failure.ToolUnavailable, Detail: "the server has ended: exit status 3"}}, nil
	})
	r := p.exec("weather", func(hp *harness.Params) { hp.Executors = map[string]tool.Executor{"get_weather": broken} })
	if len(r.Failures) < 2 || r.Failures[0].Part != failure.PartTool || !strings.Contains(r.Failures[0].What, "exit status 3") || r.Failures[len(r.Failures)-1].Class != failure.CassetteMiss {
		t.Errorf("%s: %+v", r.Verdict, r.Failures)
	}
}

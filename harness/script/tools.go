package script

import (
	"context"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// Answer is what a scripted tool says.
type Answer struct {
	Content string
	Err     *tool.Error
	Latency time.Duration
}

// Tools answers the n-th call of a tool with its n-th answer, and keeps the
// calls as interactions. It is a tool.Executor.
type Tools struct {
	Answers map[string][]Answer

	mu   sync.Mutex
	n    map[string]int
	kept []cassette.Interaction
}

// Execute implements tool.Executor. A call is kept when it is taken, so that one
// which nobody waits for to its end can be replayed as well.
func (t *Tools) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	a, err := t.take(c)
	if err != nil {
		return tool.Result{}, err
	}
	// Outside the lock: calls that run at once wait at once.
	if err := clock.Pass(ctx, a.Latency); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Content: a.Content, Err: a.Err}, nil
}

func (t *Tools) take(c tool.Call) (Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := t.Answers[c.Tool]
	n := t.n[c.Tool]
	if n >= len(answers) {
		return Answer{}, failure.Errorf(failure.ScenarioInvalid, "script: call %d of tool %s has no answer; write one more", n+1, c.Tool)
	}
	a := answers[n]
	i, err := cassette.ToolInteraction(c, tool.Result{Content: a.Content, Err: a.Err}, a.Latency)
	if err != nil {
		return Answer{}, err
	}
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[c.Tool]++
	t.kept = append(t.kept, i)
	return a, nil
}

// Interactions are the calls and answers so far.
func (t *Tools) Interactions() []cassette.Interaction {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]cassette.Interaction(nil), t.kept...)
}

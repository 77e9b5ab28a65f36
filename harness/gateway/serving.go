package gateway

import (
	"context"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/journal"
)

// Serving is an agent that somebody else runs: its gateway serves until Done.
type Serving struct {
	Listen, Token string          // see Options
	Ready         func(*Server)   // is told when it serves
	Done          <-chan struct{} // ends the run
}

// Run implements harness.Agent.
func (a *Serving) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	life, end := context.WithCancel(ctx)
	defer end()
	before := len(journal.Of[*journal.ModelAttempt](env.Journal))
	server, err := Start(life, Options{
		Next: env.HTTP.Transport, BaseURL: upstreamOf(env), Tools: env.Tools, Runaway: end, Listen: a.Listen, Token: a.Token,
	})
	if err != nil {
		return harness.Outcome{}, err
	}
	defer server.Close()
	a.Ready(server)
	select {
	case <-a.Done:
	case <-life.Done():
	}
	server.Close() // what was under way comes into the journal
	switch {
	case ctx.Err() != nil:
		return harness.Outcome{}, ctx.Err()
	case server.Asked() == 0:
		return harness.Outcome{}, failure.Errorf(failure.Agent, "nobody has asked the gateway for a model's answer; give the agent the variables that were printed")
	}
	return outcome(journal.Of[*journal.ModelAttempt](env.Journal)[before:], &process.Output{}), nil
}

package world

import (
	"context"
	"io"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/scenario"
)

// Agent runs the scenario's program as the agent. Its build is made once for all
// runs that share it.
type Agent struct {
	Scenario *scenario.Scenario // with an Agent
	Options  Options
	// Stdout and Stderr get what the program writes, too; nil: nobody does.
	Stdout, Stderr io.Writer
}

// Run implements harness.Agent.
func (a *Agent) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	program, remove, err := a.prepare(ctx, env)
	if err != nil {
		return harness.Outcome{}, failure.Errorf(failure.Of(err), "%s: the agent: %w", a.Scenario.Place("agent"), err)
	}
	defer remove()
	return program.Run(ctx, env)
}

// prepare builds the program and fills in what is only known now. remove takes away
// its folder, where it has one of its own.
func (a *Agent) prepare(ctx context.Context, env *harness.Env) (program *gateway.Agent, remove func(), err error) {
	spec := a.Scenario.Agent
	if err := a.Options.CheckSecrets(a.Scenario.File, a.Scenario.FromEnv()); err != nil {
		return nil, nil, err
	}
	built, err := a.Options.Shared.build(ctx, spec.Build, &a.Options)
	if err != nil {
		return nil, nil, err
	}
	scratch, remove := env.Scratch, func() {}
	if scratch == "" {
		if scratch, remove, err = NewScratch(); err != nil {
			return nil, nil, err
		}
	}
	values := map[string]string{scenario.Scratch: scratch, scenario.Build: built}
	environment, _, err := process.Environment(Filled(spec.Env, values), a.Options.Getenv)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return &gateway.Agent{
		Command: Fill(spec.Command, values), Dir: a.Options.Dir, Env: environment, Task: spec.Task, Answer: spec.Answer,
		Stdout: a.Stdout, Stderr: a.Stderr,
	}, remove, nil
}

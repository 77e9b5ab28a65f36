package gateway

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// Agent is a program as the agent of runs: it asks the model at a gateway of its
// own, which lives as long as the program. It may be used by many runs at once.
//
// A program that ends with 0 has ended its run. With another code the run ends as
// its last attempt at the model did, where that failed, and else in class agent
// with the code and the last of its standard error. One that never asks the gateway
// gives an error of class agent. When ctx ends, the program and all that it has
// started are killed.
type Agent struct {
	Command []string // the program and its arguments
	Dir     string   // where it runs; "" is the working directory
	// Env is its environment, NAME=value each. What the gateway sets goes before it.
	Env    []string
	Task   scenario.Task     // "" is by argument
	Answer scenario.AnswerBy // "" is the model's
	// Stdin is what it reads where its task comes by another way; nil: nothing.
	Stdin []byte
	// Stdout and Stderr get what it writes, too; nil: nobody does.
	Stdout, Stderr io.Writer
}

// keepStdout is how much of a program's output is kept as its answer.
const keepStdout = 1 << 20

// Run implements harness.Agent.
func (a *Agent) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	life, end := context.WithCancel(ctx)
	defer end()
	before := len(journal.Of[*journal.ModelAttempt](env.Journal))
	server, err := Start(life, Options{
		Next: env.HTTP.Transport, BaseURL: upstreamOf(env), Tools: env.Tools, Runaway: end,
	})
	if err != nil {
		return harness.Outcome{}, err
	}
	defer server.Close()
	set := append(server.Variables(), scenario.ModelVariable+"="+env.Model, scenario.TaskIDVariable+"="+env.TaskID)
	stdout := process.NewTail(keepStdout)
	out, err := process.Run(life, a.command(env.Task(), set, stdout), a.stdin(env.Task()), 0)
	server.Close() // what was under way comes into the journal
	if err != nil {
		return harness.Outcome{}, err
	}
	attempts := journal.Of[*journal.ModelAttempt](env.Journal)[before:]
	if server.Asked() == 0 {
		return harness.Outcome{}, neverAsked(a.Command[0], set, &out)
	}
	o := outcome(attempts, &out)
	if a.Answer == scenario.AnswerByStdout {
		o.Answer = stdout.String()
	}
	return o, nil
}

// upstreamOf is the run's own address for its API, and the providers' for others.
func upstreamOf(env *harness.Env) func(wire.API) string {
	return func(api wire.API) string {
		if sameProvider(api, env.API) {
			return env.BaseURL
		}
		return ""
	}
}

func (a *Agent) command(task string, set []string, stdout io.Writer) process.Command {
	c := process.Command{Args: a.Command, Dir: a.Dir, Env: over(a.Env, set), Stdout: stdout, Stderr: a.Stderr}
	if a.Stdout != nil {
		c.Stdout = io.MultiWriter(stdout, a.Stdout)
	}
	switch a.Task.By {
	case scenario.TaskByVariable:
		c.Env = over(c.Env, []string{a.Task.Variable + "=" + task})
	case scenario.TaskByStdin:
	default:
		if task == "" { // it is in the command
			break
		}
		c.Args = append(append([]string(nil), a.Command...), task)
	}
	return c
}

func (a *Agent) stdin(task string) []byte {
	if a.Task.By == scenario.TaskByStdin {
		return []byte(task)
	}
	return a.Stdin
}

// outcome is how a program ended that has asked a model.
func outcome(attempts []*journal.ModelAttempt, out *process.Output) harness.Outcome {
	o := harness.Outcome{}
	for _, m := range attempts {
		if m.Response != nil && m.Response.Err == nil {
			o.Answer, o.Stop = m.Response.Text(), m.Response.Stop
		}
	}
	if out.Code == 0 {
		return o
	}
	o.Class, o.Detail = failure.Agent, ended(out)
	if n := len(attempts); n > 0 && attempts[n-1].Class != failure.None {
		o.Class = attempts[n-1].Class
	}
	return o
}

// ended says how a program ended that did not end well.
func ended(out *process.Output) string {
	how := fmt.Sprintf("the program ended with exit status %d", out.Code)
	if out.Code < 0 {
		how = "the program was ended by a signal"
	}
	if out.Stderr != "" {
		how += "; standard error: " + out.Stderr
	}
	return how
}

func neverAsked(program string, set []string, out *process.Output) error {
	how := "it ended with exit status 0"
	if out.Code != 0 {
		how = ended(out)
	}
	return failure.Errorf(failure.Agent,
		"%s never asked the gateway for a model's answer: %s; have it take the address from one of the variables that it was given: %s", program, how, strings.Join(addresses(set), " "))
}

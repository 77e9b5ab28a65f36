// Package commandtool runs tool calls by a command: the arguments are JSON on its
// standard input, its standard output is the result.
//
// The output must be JSON; an error in our form is taken over. Exit code 0 is a
// result; with any other the output is read as an error, and where it is none
// the tool has broken off. Standard error is for the log alone.
//
// The command sees the environment variables that are declared, PATH and HOME, and
// the ids of the call. It runs in a process group of its own, which is killed when
// the time is up: nothing that it started outlives the call.
package commandtool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// Command says what is run.
type Command struct {
	Args []string // the program and its arguments, without a shell
	Env  []tool.Setting
	Dir  string // "" is the working directory

	Timeout time.Duration // of one attempt; 0 is 30 s
	// MaxOutput is how many bytes the command may write; 0 is 4 MiB. One that
	// writes more is killed.
	MaxOutput int
}

// The variables that a call sets.
const (
	EnvTask    = "RETAKE_TASK_ID"
	EnvAttempt = "RETAKE_ATTEMPT_ID"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxOutput = 4 << 20
	shown            = 200 // bytes of an output that is no JSON
)

// Tool runs the calls. It may be used by many goroutines; each call is a process
// of its own.
type Tool struct {
	command Command
	env     []string
	secrets *redact.Values
}

// New prepares the command; getenv gives PATH, HOME, and what the settings take
// from the environment.
func New(c Command, getenv func(string) string) (*Tool, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, failure.Errorf(failure.ScenarioInvalid, "a command needs a program's name")
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = defaultMaxOutput
	}
	env, secrets, err := process.Environment(c.Env, getenv)
	if err != nil {
		return nil, err
	}
	return &Tool{command: c, env: env, secrets: secrets}, nil
}

// Execute runs the command once.
func (t *Tool) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	limited, cancel := clock.WithTimeout(ctx, t.command.Timeout)
	defer cancel()
	env := append(slices.Clip(t.env), EnvTask+"="+c.TaskID, EnvAttempt+"="+c.AttemptID)
	out, err := process.Run(limited, process.Command{Args: t.command.Args, Env: env, Dir: t.command.Dir}, c.Args, t.command.MaxOutput)
	r := t.result(&out, err)
	if r.Err != nil {
		r.Err.Detail = t.secrets.Text(r.Err.Detail)
	}
	return r, nil
}

func (t *Tool) result(out *process.Output, err error) tool.Result {
	switch {
	case errors.Is(err, process.ErrTooMuch):
		return badOutput("the tool's answer is too long", fmt.Sprintf("more than %d bytes", t.command.MaxOutput))
	case errors.Is(err, context.DeadlineExceeded):
		return failed(tool.CodeTimeout, "the tool did not answer in time", true, failure.ToolTimeout, withStderr("killed at its deadline", out))
	case errors.Is(err, context.Canceled):
		return failed(tool.CodeCancelled, "the call was cancelled", false, failure.ToolUnavailable, withStderr("killed", out))
	case err != nil:
		return failed(tool.CodeUnavailable, "the tool is not available", false, failure.ToolUnavailable, err.Error())
	}
	if e, ok := tool.Reported(out.Stdout, out.Code != 0); ok {
		e.Detail = withStderr(exit(out.Code), out)
		return tool.Result{Err: e}
	}
	if out.Code != 0 {
		return failed(tool.CodeUpstream, "the tool broke off", true, failure.ToolUnavailable, withStderr(exit(out.Code), out))
	}
	if !jsontext.Value(out.Stdout).IsValid() {
		return badOutput("the tool's answer is no JSON", fmt.Sprintf("its standard output begins %q; what is not the answer belongs on standard error", out.Stdout[:min(len(out.Stdout), shown)]))
	}
	return tool.Result{Content: string(out.Stdout)}
}

func exit(code int) string {
	if code < 0 {
		return "ended by a signal"
	}
	return fmt.Sprintf("exit code %d", code)
}

func withStderr(what string, out *process.Output) string {
	if out.Stderr == "" {
		return what
	}
	return what + "; standard error: " + out.Stderr
}

func failed(code, message string, retryable bool, class failure.Class, detail string) tool.Result {
	return tool.Result{Err: &tool.Error{Code: code, Message: message, Retryable: retryable, Class: class, Detail: detail}}
}

func badOutput(message, detail string) tool.Result {
	return failed(tool.CodeBadOutput, message, false, failure.ToolBadOutput, detail)
}

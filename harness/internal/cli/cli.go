// Package cli is the command retake: a file for each verb, which reads flags,
// calls the libraries and prints. What a verb knows, a library knows.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/transcript"
)

// The exit codes of all verbs.
const (
	exitPass         = 0
	exitFail         = 1   // a check failed
	exitInvalid      = 2   // bad usage, specification or cassette
	exitBroken       = 3   // the world could not be built
	exitInconclusive = 4   // nothing failed, and not everything could be checked
	exitInterrupted  = 130 // by a signal, after the report was written
)

// IO is what the command has of its process.
type IO struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Context        context.Context // ends when a person interrupts
	Terminal       bool            // Stdout is a terminal
	ErrTerminal    bool            // Stderr is one
	InTerminal     bool            // Stdin is one
	Width          func() int      // columns of Stderr's terminal now, 0 where they are not known; nil is 0

	hidden *hidden
}

// System is the IO of this process.
func System() IO {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return IO{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Context: ctx,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())), InTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		Width: func() int { columns, _, _ := term.GetSize(int(os.Stderr.Fd())); return columns }, // 0 with an error
	}
}

// exitError carries an exit code through cobra; its message has been printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the command and returns the exit code.
func Main(args []string, sys IO) int {
	sys = sys.guarded()
	root := newRoot(sys)
	root.SetArgs(args)
	err := root.ExecuteContext(sys.Context)
	var exit exitError
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &exit):
		return int(exit)
	}
	printError(sys.Stderr, err)
	return exitOf(err)
}

// exitOf is the code for an error that kept a verb from its work.
func exitOf(err error) int {
	switch failure.Of(err) {
	case failure.World:
		return exitBroken
	case failure.Interrupted:
		return exitInterrupted
	default: // what has no class comes from the reading of flags
		return exitInvalid
	}
}

func printError(w io.Writer, err error) {
	_, _ = fmt.Fprintf(w, "error: %s\n", transcript.AppendSafe(nil, err.Error(), 7))
}

// project holds the flags that name the folders.
type project struct{ dirs suite.Dirs }

// given are the flags that name the folders, as they were given.
func (p *project) given() []string {
	var out []string
	for _, f := range []struct{ name, value string }{
		{"-C", p.dirs.Root}, {"--scenarios", p.dirs.Scenarios}, {"--cassettes", p.dirs.Cassettes}, {"--golden", p.dirs.Golden},
	} {
		if f.value != "" {
			out = append(out, f.name, f.value)
		}
	}
	return out
}

func newRoot(sys IO) *cobra.Command {
	p := &project{}
	root := &cobra.Command{
		Use:   "retake",
		Short: "Test an agent that uses tools, offline, against recorded models and tools",
		Long: `retake replays scenarios: an agent's loop runs against recorded answers of the
model and of its tools, in virtual time, without a network. What it did is held
against a golden transcript, expectations, budgets and the rules that every loop
has to keep; the result is a report and an exit code.

exit codes: 0 pass, 1 a check failed, 2 bad usage, scenario or cassette,
3 the world could not be built, 4 inconclusive, 130 interrupted`,
		Example: `  retake run                          every scenario below scenarios/
  retake run travel --label smoke     some of them
  retake run travel/umbrella --accept take the transcript as the golden one
  retake inspect cassettes/travel/umbrella/claude-opus-4-8.yaml`,
		SilenceUsage: true, SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownVerb(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(sys.Stdin)
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVarP(&p.dirs.Root, "dir", "C", "", "the project's folder (default: this one)")
	flags.StringVar(&p.dirs.Scenarios, "scenarios", "", "the folder of scenarios (default: scenarios in --dir)")
	flags.StringVar(&p.dirs.Cassettes, "cassettes", "", "the folder of cassettes (default: cassettes in --dir)")
	flags.StringVar(&p.dirs.Golden, "golden", "", "the folder of golden transcripts (default: golden in --dir)")
	flags.StringVar(&p.dirs.Reports, "reports", "", "the folder of reports (default: reports in --dir)")
	root.AddCommand(runCommand(sys, p), sweepCommand(sys, p), drillCommand(sys, p), inspectCommand(sys, p), importCommand(sys, p), initCommand(sys, p), lintCommand(sys, p), compareCommand(sys, p), baselineCommand(sys, p), configCommand(sys, p), listCommand(sys, p), mergeCommand(sys, p), viewCommand(sys, p), faultsCommand(sys), mcpProxyCommand(sys, p), versionCommand(sys))
	root.AddCommand(recordCommand(sys, p), execCommand(sys, p), gatewayCommand(sys, p), driftCommand(sys, p), rekeyCommand(sys, p), judgeCheckCommand(sys, p))
	return root
}

// unknownVerb says what was probably meant.
func unknownVerb(cmd *cobra.Command, verb string) error {
	var verbs []string
	for _, c := range cmd.Commands() {
		verbs = append(verbs, c.Name())
	}
	return fmt.Errorf("unknown command %q%s; see: retake help", verb, suggest.Hint(verb, verbs))
}

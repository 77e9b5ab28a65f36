package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/internal/start"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

func initCommand(sys IO, p *project) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "init [NAME]",
		Short: "Lay out a first scenario, from nothing or from a recording, and run it",
		Long: `init lays out what a project begins with: scenarios/retake.yaml, a scenario, the
recordings of its model and its tools, its golden transcript, and the lines that git
needs. Files that are there are never written over. The scenario is run at once.

Without --from it is a small one with two tools and recordings written by hand, to
be changed into one of yours. With --from it is made of a recording (a cassette, or
whatever retake inspect reads): system, turns, tools, model and parameters from its
first request, the tools' answers from the later ones, the calls that are expected
from the answers. Of several conversations it takes the longest.

Not every recording can be led again by the reference loop: an agent that changes
what it sends goes another way. The run says what differs. Parts that do not matter
are named in the scenario under replay: {ignore: […]}.`,
		Example: `  retake init
  retake init --from cassettes/refund/claude-opus-4-8.yaml refund
  retake init --from recording.har travel/umbrella`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			hideSecrets(sys, p)
			name := strings.Join(args, "")
			project := start.Project{Dirs: p.dirs, Getenv: sys.Getenv}
			if from == "" {
				return printMade(sys)(start.First(cmd.Context(), project, name))
			}
			return printMade(sys)(start.From(cmd.Context(), project, from, name))
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the recording to make the scenario of")
	return cmd
}

// printMade tells what was laid out and how the run ended.
func printMade(sys IO) func(m *start.Made, err error) error {
	return func(m *start.Made, err error) error {
		if err != nil {
			return err
		}
		for _, f := range m.Files {
			verb := "wrote"
			if f.Kept {
				verb = "kept "
			}
			_, _ = fmt.Fprintf(sys.Stdout, "%s %s\n", verb, f.Path)
		}
		for _, w := range m.Warnings {
			_, _ = fmt.Fprintf(sys.Stderr, "warning: %s\n", transcript.Safe(w))
		}
		r := m.Result
		if r == nil {
			return nil
		}
		_, _ = fmt.Fprintf(sys.Stdout, "\n%s %s: %s\n", m.Name, transcript.Safe(r.Model), r.Verdict)
		if r.Verdict == harness.Pass {
			_, _ = fmt.Fprintf(sys.Stdout, "go on: retake run %s\n", m.Name)
			return nil
		}
		_, _ = fmt.Fprintf(sys.Stdout, "%s\n", transcript.AppendSafe(nil, report.Explain(r, 2), 2))
		switch r.Verdict {
		case harness.Invalid:
			return exitError(exitInvalid)
		case harness.Broken:
			return exitError(exitBroken)
		case harness.NotRun:
			return exitError(exitInterrupted)
		case harness.Pass, harness.Fail, harness.Diverged:
		}
		_, _ = fmt.Fprintf(sys.Stdout, "the reference loop does not lead this recording as it was led: name what does not matter under replay: {ignore: […]} in the scenario, then retake run %s --accept; or replay the recorded agent itself\n", m.Name)
		return exitError(exitFail)
	}
}

package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/shard"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
)

type mergeFlags struct {
	out    string
	github bool
}

func mergeCommand(sys IO, p *project) *cobra.Command {
	f := &mergeFlags{}
	cmd := &cobra.Command{
		Use:   "merge REPORT…",
		Short: "Join the reports of a run's parts",
		Long: `merge joins the reports of all parts of a run (see: retake run --shard) into the one
that an unsharded run would have written: the same bytes but for the run's id and
times. It goes to reports/RUN/, and reports/latest points to it; or to --out.

Parts that are missing or named twice are refused, and so are parts of different
splits, or of different versions. The exit code is that of the run as a whole.

A sweep has a file for each scenario and model: put those of its parts into one
folder.`,
		Example: `  retake merge part-1 part-2 part-3
  retake merge shards/* --out merged`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return merge(sys, p, f, args) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "the folder to write the report to, which must not be there yet")
	cmd.Flags().BoolVar(&f.github, "github", true, "in a workflow of GitHub, write the summary of the step")
	return cmd
}

func merge(sys IO, p *project, f *mergeFlags, args []string) error {
	parts, err := shard.Sources(args)
	if err != nil {
		return err
	}
	o, err := f.options(p, parts)
	if err != nil {
		return err
	}
	w, err := report.New(o)
	if err != nil {
		return err
	}
	worst := exitPass
	err = shard.Merge(parts, func(e *report.Entry, stamp report.Stamp, transcript []byte) error {
		worst = worse(worst, exitOfVerdict(&harness.Result{Verdict: harness.Verdict(e.Verdict)}))
		return w.AddEntry(e, stamp, transcript)
	})
	if err != nil {
		w.Discard()
		return err
	}
	interrupted := shard.Interrupted(parts)
	totals, summary := w.Totals(), w.Markdown()
	dir, err := w.Close(interrupted)
	if err != nil {
		return err
	}
	newRunPrinter(sys, true, 0).summary(totals, dir)
	step, err := beginStep(sys, f.github)
	if err == nil {
		err = step.tell(summary)
	}
	if err != nil {
		return err
	}
	if interrupted {
		worst = exitInterrupted
	}
	if worst != exitPass {
		return exitError(worst)
	}
	return nil
}

// options are those of the report; it goes where --out says, or to where the runs
// of the project are.
func (f *mergeFlags) options(p *project, parts []*shard.Source) (report.Options, error) {
	o := shard.Options(parts)
	salt, err := randomSalt()
	if err != nil {
		return o, err
	}
	o.ID = report.NewID(clock.Wallclock(), salt)
	if f.out == "" {
		o.Dir = suite.Filled(p.dirs).Reports
		return o, nil
	}
	out, err := filepath.Abs(f.out)
	if err != nil {
		return o, failure.Errorf(failure.World, "%s: %w", f.out, err)
	}
	if _, err := os.Lstat(out); err == nil {
		return o, failure.Errorf(failure.World, "%s: there is something of this name; move it away, or name another folder with --out DIR", f.out)
	}
	o.Dir, o.Folder = filepath.Dir(out), filepath.Base(out)
	return o, nil
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/baseline"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/transcript"
)

type compareFlags struct {
	models         []string
	modelA, modelB string
	rubric, out    string
	byName, json   bool
	baseline       bool
	printRubric    bool
}

func compareCommand(sys IO, p *project) *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two reports and decide: keep, or revert",
		Long: `compare holds the new report against the old one and begins with KEEP, REVERT or
INCONCLUSIVE and the reasons; then what changed, the questions of the rubric with
their answers, the scenarios that changed with both transcripts, and the figures.

A report is its folder, its report.json, or its name below the folder of reports
(latest, baseline). Of reports with several models --model says which: once for both
sides, twice for the old and the new. One report with two models is compared with
itself: retake compare latest --model OLD --model NEW

Scenarios that replay the same recordings on both sides are exact: any difference is
one. Otherwise each recording, and each live run, is one trial of its scenario, and
the statistics are over scenarios. Runs that the infrastructure has ended are counted
apart, and never dropped.

exit codes: 0 keep, 1 revert, 2 bad usage, rubric or report, 3 a report that cannot be
read, 4 inconclusive`,
		Example: `  retake compare reports/20261101-101500-0a1b2c3d latest
  retake compare latest --model claude-opus-4-8 --model claude-opus-4-9
  retake compare --baseline                       the newest with the accepted one
  retake compare OLD NEW --out compare.md --json > compare.json
  retake compare --print-rubric > scenarios/rubric.yaml`,
		RunE: func(_ *cobra.Command, args []string) error { return runCompare(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.models, "model", "m", nil, "the model to compare; given twice, the old side's and the new side's")
	flags.StringVar(&f.modelA, "model-a", "", "the old side's model")
	flags.StringVar(&f.modelB, "model-b", "", "the new side's model")
	flags.StringVar(&f.rubric, "rubric", "", "the file of the questions (default: that of retake.yaml, or the built-in one)")
	flags.BoolVar(&f.byName, "pair-by-name", false, "compare scenarios that were changed between the reports all the same")
	flags.BoolVar(&f.baseline, "baseline", false, "compare with the report that was accepted: retake baseline accept")
	flags.BoolVar(&f.json, "json", false, "print JSON instead of text")
	flags.StringVarP(&f.out, "out", "o", "", "write the page as Markdown into this file, too")
	flags.BoolVar(&f.printRubric, "print-rubric", false, "print the built-in rubric, to begin one's own with")
	cmd.MarkFlagsMutuallyExclusive("model", "model-a")
	cmd.MarkFlagsMutuallyExclusive("model", "model-b")
	return cmd
}

func runCompare(sys IO, p *project, f *compareFlags, args []string) error {
	if f.printRubric {
		_, err := sys.Stdout.Write(compare.DefaultFile())
		return err
	}
	c, err := suite.OpenConfig(p.dirs, sys.Getenv)
	if err != nil {
		return err
	}
	sys.hidden.values = c.Hidden()
	old, now, err := f.sides(suite.Filled(p.dirs).Reports, args)
	if err != nil {
		return err
	}
	rubric, err := rubricOf(c, f.rubric)
	if err != nil {
		return err
	}
	result, err := compare.Reports(old, now, compare.Options{Rubric: rubric, PairByName: f.byName})
	if err != nil {
		return err
	}
	if f.baseline && result.Verdict == compare.Revert {
		defer f.wayBack(sys, suite.Filled(p.dirs).Reports)
	}
	return f.tell(sys, c, result)
}

// sides are what the words on the command line name.
func (f *compareFlags) sides(reports string, args []string) (old, now compare.Side, err error) {
	const usage = "name an old and a new report: retake compare OLD NEW; one with two models: retake compare REPORT --model OLD --model NEW; or --baseline"
	old.Model, now.Model = f.modelA, f.modelB
	switch len(f.models) {
	case 0:
	case 1:
		old.Model, now.Model = f.models[0], f.models[0]
	case 2:
		old.Model, now.Model = f.models[0], f.models[1]
	default:
		return old, now, failure.Errorf(failure.ScenarioInvalid, "--model: %d models are given, and two are compared; the old side's first", len(f.models))
	}
	switch {
	case f.baseline && len(args) == 0:
		args = []string{baseline.Name, "latest"}
	case f.baseline && len(args) == 1:
		args = []string{baseline.Name, args[0]}
	case f.baseline:
		return old, now, failure.Errorf(failure.ScenarioInvalid, "--baseline is the old report, so at most one other can be named, and %d are", len(args))
	case len(args) == 1 && old.Model != now.Model:
		args = []string{args[0], args[0]}
	case len(args) != 2:
		return old, now, failure.Errorf(failure.ScenarioInvalid, "%d reports are named: %s", len(args), usage)
	}
	if f.baseline {
		if _, err := baseline.Read(reports); err != nil {
			return old, now, err
		}
	}
	old.Report, now.Report = reportNamed(reports, args[0]), reportNamed(reports, args[1])
	return old, now, nil
}

// reportNamed is the report of a path, or of a name below the folder of reports.
func reportNamed(reports, name string) string {
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) {
		return name
	}
	if below := filepath.Join(reports, name); isReport(below) {
		return below
	}
	return name
}

func isReport(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "report.json"))
	return err == nil
}

// rubricOf is the rubric that is in force: the one that was asked for, the
// configuration's, or the built-in one.
func rubricOf(c *config.Config, asked string) (*compare.Rubric, error) {
	switch {
	case asked != "":
		return compare.LoadRubric(asked)
	case c.Rubric != "":
		path := filepath.FromSlash(c.Rubric)
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(filepath.FromSlash(c.File)), path)
		}
		return compare.LoadRubric(path)
	default:
		return compare.Default(), nil
	}
}

func (f *compareFlags) tell(sys IO, c *config.Config, result *compare.Comparison) error {
	if f.out != "" {
		page := c.Hidden().Bytes(result.AppendMarkdown(nil))
		if err := file.Replace(f.out, page); err != nil {
			return failure.Errorf(failure.World, "%s: the comparison cannot be written: %w; name another file with --out FILE", f.out, err)
		}
	}
	out := result.AppendText(nil)
	if f.json {
		var err error
		if out, err = result.JSON(); err != nil {
			return err
		}
	}
	if _, err := sys.Stdout.Write(out); err != nil {
		return failure.Errorf(failure.World, "writing the comparison: %w", err)
	}
	switch result.Verdict {
	case compare.Keep:
		return nil
	case compare.Revert:
		return exitError(exitFail)
	default:
		return exitError(exitInconclusive)
	}
}

// wayBack tells what the baseline's note says of going back to it.
func (f *compareFlags) wayBack(sys IO, reports string) {
	if n, err := baseline.Read(reports); err == nil {
		_, _ = fmt.Fprintf(sys.Stderr, "hint: to go back to the baseline: %s\n", transcript.AppendSafe(nil, n.Rollback, 6))
	}
}

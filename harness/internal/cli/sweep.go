package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/sweep"
)

type sweepFlags struct {
	models, labels, faults      []string
	pairs, everyEvent, noReport bool
	json, markdown              bool
	seed                        seed
	max                         atLeastOne
	shard                       shardFlags
	parallel                    atLeastOne
}

func sweepCommand(sys IO, p *project) *cobra.Command {
	f := &sweepFlags{parallel: atLeastOne(runtime.GOMAXPROCS(0))}
	cmd := &cobra.Command{
		Use:   "sweep [SCENARIO…]",
		Short: "Run scenarios under every fault, at every place where it can strike",
		Long: `sweep runs each scenario without faults, takes from it the places where faults can
strike (each model call with the events of its stream, each tool call), and then
runs it once for every fault of the catalogue at every place. Each run is judged by
the contract (W1 to W16) and by the effects. The result is a matrix, and for each
breach the command that repeats it. --fault takes names and patterns; one place is
for: retake run SCENARIO --fault NAME@call=2

A sweep of more than 50,000 runs says its number and needs --max. The matrix is
also written to reports/sweep/SCENARIO/MODEL.json and .md.

A scenario that cannot be swept keeps no other from it; the worst exit code counts:
0 nothing breached, 1 a breach, or a scenario that fails without faults, 2 bad usage
or scenario, 3 a report that cannot be written, 130 interrupted, after what was run
is told`,
		Example: `  retake sweep travel/umbrella
  retake sweep checkout --fault 'tool.*'     some faults only; see: retake faults
  retake sweep travel/umbrella --pairs       every two faults, too
  retake sweep --json | jq .totals           a document a line`,
		RunE: func(_ *cobra.Command, args []string) error { return runSweep(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.models, "model", "m", nil, "only these model versions")
	flags.StringSliceVarP(&f.labels, "label", "l", nil, "only scenarios with one of these labels")
	flags.StringSliceVarP(&f.faults, "fault", "f", nil, "only these faults: names, or patterns such as model.*")
	flags.BoolVar(&f.pairs, "pairs", false, "run under every two faults as well")
	flags.BoolVar(&f.everyEvent, "every-event", false, "strike every event of a stream, not only the first, middle and last and each block's boundary")
	flags.Var(&f.seed, "seed", "what chance, and what --max leaves out, is drawn from (default: the scenario's seed)")
	flags.Var(&f.max, "max", "the most runs of one scenario; of more, as many are drawn by the seed")
	flags.VarP(&f.parallel, "parallel", "p", "how many runs at once")
	flags.BoolVar(&f.json, "json", false, "print JSON, a document a line, instead of the matrix")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the matrix")
	f.shard.add(flags)
	flags.BoolVar(&f.noReport, "no-report", false, "write no files")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

func runSweep(sys IO, p *project, f *sweepFlags, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := sweepable(f.faults); err != nil {
		return err
	}
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	if names, _, err = f.shard.part(sys, s, names, suite.Options{Models: f.models, Labels: f.labels}); err != nil {
		return err
	}
	if len(names) == 0 {
		return nil
	}
	v := &sweeper{sys: sys, suite: s, flags: f, progress: newProgress(sys), folders: p.given()}
	if err := v.writable(); err != nil {
		return err
	}
	worst := exitPass
	for _, name := range names {
		if worst = worse(worst, v.scenario(name)); worst == exitInterrupted {
			break
		}
	}
	if worst != exitInterrupted {
		worst = worse(worst, complain(sys, v.nothing(names), exitInvalid))
	}
	if worst != exitPass {
		return exitError(worst)
	}
	return nil
}

// sweepable refuses words that select no fault, before anything is run.
func sweepable(faults []string) error {
	for _, word := range faults {
		if name, _, at := strings.Cut(word, "@"); at {
			return failure.Errorf(failure.ScenarioInvalid,
				"--fault %s@…: a sweep strikes everywhere, and takes names and patterns: --fault %s; a place is for one run: retake run SCENARIO --fault %s@…", name, name, name)
		}
	}
	_, err := fault.Select(faults...)
	return err
}

// sweeper sweeps one scenario after the other. What goes wrong with one is told at
// its place, and keeps no other from being swept.
type sweeper struct {
	sys      IO
	suite    *suite.Suite
	flags    *sweepFlags
	progress *progress
	folders  []string // the flags that name the project's folders
	swept    int
}

// nothing is the error of a selection that leaves nothing to sweep.
func (v *sweeper) nothing(names []string) error {
	o := suite.Options{Models: v.flags.models, Labels: v.flags.labels}
	if err := v.suite.CheckNames(o); err != nil {
		return err
	}
	if v.swept == 0 {
		return failure.Errorf(failure.ScenarioInvalid, "none of %d scenarios has both the model %q and the label %q", len(names), v.flags.models, v.flags.labels)
	}
	return nil
}

// scenario sweeps one scenario with each of its models.
func (v *sweeper) scenario(name string) (worst int) {
	sc, err := v.suite.Load(name)
	if err != nil {
		v.swept++
		return complain(v.sys, err, exitOf(err))
	}
	for _, model := range suite.ModelsOf(sc, v.flags.models, v.flags.labels) {
		v.swept++
		hp, err := v.suite.Params(sc, model, suite.Options{})
		if err != nil {
			worst = worse(worst, complain(v.sys, err, exitOf(err)))
			continue
		}
		if worst = worse(worst, v.one(hp)); worst == exitInterrupted {
			break
		}
	}
	return worst
}

func (v *sweeper) one(hp harness.Params) int {
	f := v.flags
	r, err := sweep.Run(v.sys.Context, sweep.Params{
		Run: hp, Only: f.faults, Pairs: f.pairs, EveryEvent: f.everyEvent, Seed: uint64(f.seed), Max: int(f.max), Parallel: int(f.parallel),
		Progress: v.progress.show, Flags: v.folders,
	})
	v.progress.clear()
	code := exitPass
	if r != nil {
		switch {
		case len(r.Breached()) > 0:
			code = exitFail
		case r.Totals.Runs == 0 && err == nil:
			code = complain(v.sys, failure.Errorf(failure.Diverged,
				"%s: none of the faults applies anywhere, so nothing was swept; the reasons are in the report, or see: retake faults", r.Scenario), exitInconclusive)
		}
		untold := v.tell(r)
		code = worse(code, complain(v.sys, untold, exitOf(untold)))
	}
	if bad, ok := errors.AsType[*sweep.NotPassedError](err); ok {
		return worse(code, complain(v.sys, err, exitOfVerdict(bad.Result)))
	}
	return worse(code, complain(v.sys, err, exitOf(err)))
}

// tell prints the report and writes its files.
func (v *sweeper) tell(r *sweep.Report) error {
	line, err := r.JSONLine()
	if err != nil {
		return failure.Errorf(failure.Internal, "the sweep's report: %w", err)
	}
	out := r.AppendText(nil)
	switch {
	case v.flags.json:
		out = line
	case v.flags.markdown:
		out = r.AppendMarkdown(nil)
	}
	if _, err := v.sys.Stdout.Write(out); err != nil {
		return failure.Errorf(failure.World, "writing the matrix: %w", err)
	}
	if v.flags.noReport {
		return nil
	}
	return v.write(r)
}

func (v *sweeper) dir() string { return filepath.Join(v.suite.Dirs.Reports, "sweep") }

// writable finds out before a long sweep that its reports cannot be written.
func (v *sweeper) writable() error {
	if v.flags.noReport {
		return nil
	}
	err := os.MkdirAll(v.dir(), 0o755)
	if err == nil {
		err = file.Replace(filepath.Join(v.dir(), ".writable"), nil)
	}
	if err != nil {
		return unwritten(v.dir(), err)
	}
	_ = os.Remove(filepath.Join(v.dir(), ".writable"))
	return nil
}

func (v *sweeper) write(r *sweep.Report) error {
	text, err := r.JSON()
	if err != nil {
		return failure.Errorf(failure.Internal, "the sweep's report: %w", err)
	}
	base := filepath.Join(v.dir(), filepath.FromSlash(r.Scenario), harness.FileName(r.Model))
	err = os.MkdirAll(filepath.Dir(base), 0o755)
	secrets := v.suite.Config.Hidden()
	if err == nil {
		err = file.Replace(base+".json", secrets.Bytes(text))
	}
	if err == nil {
		err = file.Replace(base+".md", secrets.Bytes(r.AppendMarkdown(nil)))
	}
	if err != nil {
		return unwritten(base, err)
	}
	return nil
}

func unwritten(where string, err error) error {
	return failure.Errorf(failure.World, "%s: the sweep's report cannot be written: %w; name a writable folder with --reports DIR, or write none with --no-report", where, err)
}

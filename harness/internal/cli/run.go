package cli

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/internal/update"
	"github.com/retake-harness/retake/harness/report"
)

type runFlags struct {
	models   []string
	labels   []string
	faults   []string
	seed     seed
	accept   bool
	parallel atLeastOne
	failFast bool
	quiet    bool
	noReport bool
}

func runCommand(sys IO, p *project) *cobra.Command {
	f := &runFlags{parallel: atLeastOne(runtime.GOMAXPROCS(0))}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO…]",
		Short: "Replay scenarios and judge them",
		Long: `run replays scenarios offline and judges them. SCENARIO is a name
(travel/umbrella), a folder (travel), a file or a pattern with *; without one
every scenario is run: with each of its models, without faults and then under
each entry of its faults.

--fault runs under that entry alone, named by its id; or under any fault of the
catalogue, as NAME@key=value,… Faults that no scenario declares are judged by the
contract and by the effects, like a run of a sweep.

Reports are written to reports/RUN/, and reports/latest points to the newest:
report.json (for programs), report.md, junit.xml and transcripts/.`,
		Example: `  retake run
  retake run travel --label smoke
  retake run travel/umbrella --accept
  retake run travel/umbrella --fault model.reset@call=2`,
		RunE: func(_ *cobra.Command, args []string) error { return run(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.models, "model", "m", nil, "only these model versions")
	flags.StringSliceVarP(&f.labels, "label", "l", nil, "only scenarios with one of these labels")
	flags.StringArrayVarP(&f.faults, "fault", "f", nil, "only under this fault: the id of a scenario's run, or NAME@key=value,… (several at once: give it again; see: retake faults)")
	flags.Var(&f.seed, "seed", "what the chance of faults is drawn from (default: the scenario's seed)")
	flags.BoolVar(&f.accept, "accept", false, "take the transcripts as the golden ones (also RETAKE_UPDATE=1 or GOLDIE_UPDATE=1)")
	flags.VarP(&f.parallel, "parallel", "p", "how many scenarios at once, at most four for each processor")
	flags.BoolVar(&f.failFast, "fail-fast", false, "stop after the first scenario that does not pass")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only what does not pass, and the summary")
	flags.BoolVar(&f.noReport, "no-report", false, "write no reports")
	return cmd
}

func run(sys IO, p *project, f *runFlags, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return failure.Errorf(failure.ScenarioInvalid, "%s: there are no scenarios; write one, or name the folder with --scenarios", s.Dirs.Scenarios)
	}
	f.parallel = atLeastOne(suite.Workers(int(f.parallel), len(names)))
	salt, err := randomSalt()
	if err != nil {
		return err
	}
	id := report.NewID(clock.Wallclock(), salt)
	out := newRunPrinter(sys, f.quiet, len(names))
	w, err := openReport(s, f, id)
	if err != nil {
		return err
	}
	return runAll(sys, s, f, names, id, out, w)
}

func openReport(s *suite.Suite, f *runFlags, id string) (reporter, error) {
	if f.noReport {
		return report.Discarding(s.Config.Hidden()), nil
	}
	return report.New(report.Options{
		Dir: s.Dirs.Reports, ID: id, Tool: "retake " + version(), Prices: s.Prices(), Seed: uint64(f.seed), Parallel: int(f.parallel),
		Keep: s.Config.KeepReports, Secrets: s.Config.Hidden(),
	})
}

// reporter is what run needs of a report.
type reporter interface {
	Add(*harness.Result) error
	Totals() report.Totals
	Close(interrupted bool) (dir string, err error)
	Discard()
}

// runAll runs the scenarios; what an interruption leaves is reported all the
// same.
func runAll(sys IO, s *suite.Suite, f *runFlags, names []string, id string, out *runPrinter, w reporter) error {
	o := suite.Options{
		RunID: id, Models: f.models, Labels: f.labels, Faults: f.faults, Seed: uint64(f.seed), Parallel: int(f.parallel), FailFast: f.failFast,
		Update: f.accept || update.Asked(sys.Getenv),
	}
	if a := newAsker(sys, int(f.parallel)); a != nil {
		o.Approve = a.ask
	}
	worst, unwritten, err := runEach(sys, s, names, o, out, w)
	if err != nil {
		w.Discard()
		return err
	}
	totals, interrupted := w.Totals(), sys.Context.Err() != nil
	var misnamed error
	if !interrupted { // else not every scenario was asked
		misnamed = s.CheckNames(o)
	}
	if totals.Scenarios == 0 {
		w.Discard()
		return cmp.Or(misnamed, failure.Errorf(failure.ScenarioInvalid,
			"no scenario has all that is asked for: the model %q, the label %q, the fault %q", f.models, f.labels, suite.Spelled(f.faults)))
	}
	dir, err := w.Close(interrupted)
	worst = worse(worst, complain(sys, cmp.Or(unwritten, err), exitBroken))
	out.summary(totals, dir)
	worst = worse(worst, complain(sys, misnamed, exitInvalid))
	if interrupted {
		worst = exitInterrupted
	}
	if worst != exitPass {
		return exitError(worst)
	}
	return nil
}

// runEach prints and reports each result. unwritten is the first that could not
// be reported; the others are run all the same.
func runEach(sys IO, s *suite.Suite, names []string, o suite.Options, out *runPrinter, w reporter) (worst int, unwritten, err error) {
	worst = exitPass
	err = s.Run(sys.Context, names, o, func(r *harness.Result) error {
		out.result(r)
		worst = worse(worst, exitOfVerdict(r))
		if unwritten == nil {
			unwritten = w.Add(r)
		}
		return nil
	})
	return worst, unwritten, err
}

// complain prints the error, if there is one, and is the exit code that counts
// for it.
func complain(sys IO, err error, code int) int {
	if err == nil {
		return exitPass
	}
	printError(sys.Stderr, err)
	return code
}

func exitOfVerdict(r *harness.Result) int {
	switch r.Verdict {
	case harness.Pass:
		return exitPass
	case harness.Fail:
		return exitFail
	case harness.Invalid:
		return exitInvalid
	case harness.Broken:
		return exitBroken
	case harness.Diverged:
		return exitInconclusive
	default:
		return exitFail // not run after --fail-fast; after a signal the code is 130 anyway
	}
}

// worse is the code that counts of two: 130, 2, 3, 1, 4, 0.
func worse(a, b int) int {
	rank := map[int]int{exitPass: 0, exitInconclusive: 1, exitFail: 2, exitBroken: 3, exitInvalid: 4, exitInterrupted: 5}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// randomSalt tells apart two runs that begin in the same second.
func randomSalt() (uint32, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, failure.Errorf(failure.World, "random number for the run's id: %w", err)
	}
	return binary.BigEndian.Uint32(b[:]), nil
}

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
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/internal/update"
	"github.com/retake-harness/retake/harness/redact"
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
	trials   atLeastOne
	pace     pace
	shard    shardFlags
	live     liveFlags
	github   bool
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
report.json and report.csv (for programs), report.md, junit.xml, report.bench (for
benchstat) and transcripts/.

What is replayed is the same each time, and --trials runs it once; what has tools
that really run is run as often as asked.

--live asks the models themselves and records nothing: trials run beside each other,
and a rate limit holds all of them back. What is spent has a cap, and at a terminal
the first call is asked for. Expectations, contract, budgets and effects are judged;
golden transcripts are not, since a model's words differ each time. A tool that does
not really run, while recording at least, answers from its cassette or not at all.

--shard 2/4 runs the second of four parts, split by what the scenarios took in the
newest report of a whole run; retake merge joins the reports of the parts. Without
the flag CI_NODE_INDEX and CI_NODE_TOTAL say the part, or JOB_COMPLETION_INDEX and
JOB_COMPLETIONS.

In a workflow of GitHub, what does not pass is told at its line too, and report.md
becomes the summary of the step.`,
		Example: `  retake run
  retake run travel --label smoke
  retake run travel/umbrella --accept
  retake run travel/umbrella --fault model.reset@call=2
  retake run --shard 2/4 && retake merge part-*`,
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
	flags.VarP(&f.trials, "trials", "n", "how often to run what may go another way each time")
	f.shard.add(flags)
	f.live.add(flags)
	flags.BoolVar(&f.github, "github", true, "in a workflow of GitHub, annotate files and write the summary of the step")
	return cmd
}

// options are what the flags say of how scenarios are run.
func (f *runFlags) options(sys IO) suite.Options {
	return suite.Options{
		Models: f.models, Labels: f.labels, Faults: f.faults, Seed: uint64(f.seed), FailFast: f.failFast, Trials: int(f.trials), Pace: float64(f.pace),
		Update: f.accept || update.Asked(sys.Getenv),
	}
}

func run(sys IO, p *project, f *runFlags, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	return runIn(sys, s, f, args)
}

// runIn runs scenarios of the suite.
func runIn(sys IO, s *suite.Suite, f *runFlags, args []string) error {
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return failure.Errorf(failure.ScenarioInvalid, "%s: there are no scenarios; write one, or name the folder with --scenarios", s.Dirs.Scenarios)
	}
	o := f.options(sys)
	if err := f.live.check(o); err != nil {
		return err
	}
	names, part, err := f.shard.part(sys, s, names, o)
	if err != nil {
		return err
	}
	o.Parallel = suite.Workers(int(f.parallel), len(names)*max(o.Trials, 1))
	salt, err := randomSalt()
	if err != nil {
		return err
	}
	o.RunID = report.NewID(clock.Wallclock(), salt)
	out := newRunPrinter(sys, f.quiet, len(names))
	way, err := f.live.begin(sys, s, names, o, out.progress)
	if err != nil {
		return err
	}
	if way != nil {
		defer way.Close()
		o.Live = way
	}
	w, err := openReport(s, f, o, part, sys.hidden.values)
	if err != nil {
		return err
	}
	r := &runner{sys: sys, suite: s, names: names, options: o, out: out, report: w, part: part, live: way}
	if r.step, err = beginStep(sys, f.github); err != nil {
		w.Discard()
		return err
	}
	defer r.step.end()
	return r.run()
}

func openReport(s *suite.Suite, f *runFlags, o suite.Options, part *report.Shard, secrets *redact.Values) (reporter, error) {
	if f.noReport {
		return report.Discarding(secrets), nil
	}
	rubric, err := rubricOf(s.Config, "")
	if err != nil {
		return nil, err
	}
	return report.New(report.Options{
		Dir: s.Dirs.Reports, ID: o.RunID, Rubric: rubric.Hash(), Tool: "retake " + version(), Prices: s.Prices(), Seed: o.Seed, Parallel: o.Parallel,
		Keep: s.Config.KeepReports, Secrets: secrets, Trials: o.Trials, Shard: part, Live: o.Live != nil,
	})
}

// reporter is what run needs of a report.
type reporter interface {
	Add(*harness.Result) error
	Totals() report.Totals
	Markdown() []byte
	Close(interrupted bool) (dir string, err error)
	Discard()
}

// runner is one run of scenarios.
type runner struct {
	sys     IO
	suite   *suite.Suite
	names   []string
	options suite.Options
	part    *report.Shard // nil: all of it
	out     *runPrinter
	report  reporter
	step    *step
	live    *rerecord.Live // nil: a replay

	worst     int
	unwritten error // the first that kept a result from the report; the others are run all the same
}

// run runs the scenarios; what an interruption leaves is reported all the same.
func (r *runner) run() error {
	if a := newAsker(r.sys, r.options.Parallel); a != nil {
		a.clear, r.options.Approve = r.out.progress.clear, a.ask
	}
	err := r.suite.Run(r.sys.Context, r.names, r.options, r.one)
	r.out.progress.clear()
	if err != nil {
		r.report.Discard()
		return err
	}
	interrupted := r.sys.Context.Err() != nil
	var misnamed error
	if !interrupted { // else not every scenario was asked
		misnamed = r.suite.CheckNames(r.options)
	}
	totals := r.report.Totals()
	if totals.Scenarios == 0 && r.part == nil {
		r.report.Discard()
		return cmp.Or(misnamed, suite.NothingToRun(r.options))
	}
	if r.part != nil {
		misnamed = nil // the whole was asked when it was split
	}
	r.finish(totals, misnamed, interrupted)
	if r.worst != exitPass {
		return exitError(r.worst)
	}
	return nil
}

// one prints and reports a result.
func (r *runner) one(result *harness.Result) error {
	r.out.result(result)
	r.step.add(result)
	r.worst = worse(r.worst, exitOfVerdict(result))
	if r.unwritten == nil {
		r.unwritten = r.report.Add(result)
	}
	return nil
}

// finish closes the report and tells what came out of the whole.
func (r *runner) finish(totals report.Totals, misnamed error, interrupted bool) {
	summary := r.report.Markdown()
	dir, err := r.report.Close(interrupted)
	r.worst = worse(r.worst, complain(r.sys, cmp.Or(r.unwritten, err), exitBroken))
	r.out.summary(totals, dir)
	r.out.once(r.options.Trials)
	r.out.tellLive(r.live)
	r.worst = worse(r.worst, complain(r.sys, misnamed, exitInvalid))
	r.worst = worse(r.worst, complain(r.sys, r.step.tell(summary), exitBroken))
	if interrupted {
		r.worst = exitInterrupted
	}
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

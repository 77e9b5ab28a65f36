package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

type recordFlags struct {
	models, labels, faults []string
	onlyMissing, yes       bool
	tools, judges          bool
	tokens                 atLeastOne
	cost                   money
	parallel               atLeastOne
}

func recordCommand(sys IO, p *project) *cobra.Command {
	f := &recordFlags{}
	cmd := &cobra.Command{
		Use:   "record [SCENARIO…]",
		Short: "Run scenarios against the live APIs and record them",
		Long: `record runs scenarios against the live APIs, writes what was asked and answered
to their cassettes, and replays them once, which checks each run and makes the
golden transcripts. Review what it wrote before you commit it.

Keys come from the environment alone: the variable that retake.yaml names under
models.NAME.key, else ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or
GOOGLE_API_KEY. They are written to no file.

A session ends when it has used the tokens or the money that it may: --max-tokens
and --max-cost, else record in retake.yaml, else 200,000 tokens and $5. At a
terminal record asks before the first call that costs; elsewhere it wants --yes.

What was recorded when a session ends early (interrupted, at its cap, with a
provider that is down) is kept beside the cassette, and the next session goes on
from there. Nothing replaces a cassette before the whole run is there.

--model also records a model that the scenario does not name yet, beside the
others. The tools' cassette stays as it is, and answers; a call that it does not
have ends the recording, and --tools runs the tool for real and adds the call.
Tools that can be run so say run: {…, when: recording}.

Models that judge a run (expect: judge) are asked when its recording is replayed,
and what they say is recorded too. --judges asks them alone, about the runs that are
recorded already, as after a change of a question.`,
		Example: `  retake record travel/umbrella
  retake record --only-missing --yes
  retake record travel --model claude-opus-5 --max-cost 1`,
		RunE: func(_ *cobra.Command, args []string) error { return record(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.models, "model", "m", nil, "only these model versions, named by the scenario or not")
	flags.StringSliceVarP(&f.labels, "label", "l", nil, "only scenarios with one of these labels")
	flags.StringArrayVarP(&f.faults, "fault", "f", nil, "the run under this fault, by its id; it says on_divergence: recorded (several: give it again)")
	flags.BoolVar(&f.onlyMissing, "only-missing", false, "leave alone what has a cassette")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask before the first call that costs")
	flags.BoolVar(&f.tools, "tools", false, "run tools for real where their cassette does not have a call, and add it")
	flags.BoolVar(&f.judges, "judges", false, "ask the judges alone, about the runs that are recorded")
	flags.Var(&f.tokens, "max-tokens", "how many tokens the session may use (default: record.tokens in retake.yaml)")
	flags.Var(&f.cost, "max-cost", "how many US dollars it may cost, where prices are known (default: record.cost in retake.yaml)")
	flags.VarP(&f.parallel, "parallel", "p", "how many scenarios at once (default: record.parallel in retake.yaml)")
	return cmd
}

func record(sys IO, p *project, f *recordFlags, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	return recordIn(sys, s, f, args)
}

// recordIn records scenarios of the suite.
func recordIn(sys IO, s *suite.Suite, f *recordFlags, args []string) error {
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	of := s.Config.Record
	o := rerecord.Options{
		Models: f.models, Labels: f.labels, Faults: f.faults, OnlyMissing: f.onlyMissing, Tools: f.tools, Judges: f.judges,
		Parallel: cmp.Or(int(f.parallel), of.Parallel), SDK: "retake " + version(), Getenv: sys.Getenv,
		Cap: live.Cap{Tokens: cmp.Or(int64(f.tokens), of.Tokens), Cost: cmp.Or(float64(f.cost), of.Cost)},
	}
	if a := newAsker(sys, o.Parallel); a != nil {
		o.Approve = a.ask
	}
	out := &recordPrinter{sys: sys}
	o.Watch = out.spent
	plan, err := rerecord.Prepare(s, names, o)
	if err != nil {
		return err
	}
	sys.hidden.values = plan.Secrets
	if len(plan.Jobs) == 0 {
		return nothingToRecord(sys, f, s)
	}
	if err := confirm(sys, "to record", plan, &o, f.yes); err != nil {
		return err
	}
	out.end(plan.Record(sys.Context, out.taken))
	if sys.Context.Err() != nil {
		out.worst = exitInterrupted
	}
	if out.worst != exitPass {
		return exitError(out.worst)
	}
	return nil
}

func nothingToRecord(sys IO, f *recordFlags, s *suite.Suite) error {
	if f.onlyMissing {
		_, err := fmt.Fprintln(sys.Stdout, "nothing is missing")
		return err
	}
	return failure.Errorf(failure.ScenarioInvalid, "%s: there is nothing to record: no scenario has all that is asked for", s.Dirs.Scenarios)
}

// confirm says what is to be done, and asks whether it may be.
func confirm(sys IO, verb string, plan *rerecord.Plan, o *rerecord.Options, yes bool) error {
	return confirmed(sys, planned(verb, plan, o), yes)
}

// confirmed asks whether what is said may be done.
func confirmed(sys IO, what string, yes bool) error {
	switch {
	case yes:
		_, _ = fmt.Fprintln(sys.Stderr, what)
		return nil
	case !sys.InTerminal || !sys.ErrTerminal:
		return failure.Errorf(failure.ScenarioInvalid, "this costs money, and there is nobody to ask: %s; say --yes to go on", strings.ReplaceAll(what, "\n", "; "))
	}
	_, _ = fmt.Fprintf(sys.Stderr, "%s\ngo on? [y/N] ", what)
	line, err := readLine(sys)
	if err != nil {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		_, _ = fmt.Fprintln(sys.Stderr, "nothing was asked")
		return exitError(exitFail)
	}
	return nil
}

// readLine waits for a line, or for an interruption.
func readLine(sys IO) (string, error) {
	got := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(sys.Stdin).ReadString('\n') // what there is before the end is the answer
		got <- line
	}()
	select {
	case line := <-got:
		return line, nil
	case <-sys.Context.Done():
		return "", failure.Wrap(failure.Interrupted, errors.New("interrupted"))
	}
}

// planned says what a plan does, in lines.
func planned(verb string, plan *rerecord.Plan, o *rerecord.Options) string {
	models := map[string]int{}
	var order []string
	for i := range plan.Jobs {
		m := plan.Jobs[i].Model
		if models[m]++; models[m] == 1 {
			order = append(order, m)
		}
	}
	for i, m := range order {
		order[i] = fmt.Sprintf("%s (%d)", transcript.Safe(m), models[m])
	}
	out := fmt.Sprintf("%s: %d, with %s, at %s\nat most %s tokens and %s", verb, len(plan.Jobs), strings.Join(order, ", "),
		strings.Join(plan.Hosts(), ", "), live.Thousands(o.Cap.Tokens), report.Dollars(&o.Cap.Cost))
	if unknown := plan.Unpriced(); len(unknown) > 0 {
		out += fmt.Sprintf("\nthe price of %s is not known: for it the tokens alone count", transcript.Safe(strings.Join(unknown, ", ")))
	}
	return out
}

// recordPrinter tells what comes of each recording, and on a terminal what was
// spent so far.
type recordPrinter struct {
	sys   IO
	worst int
	files []string

	mu   sync.Mutex
	line bool // the moving line is there
	last live.Spent
}

// spent draws the moving line.
func (p *recordPrinter) spent(s live.Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = s
	if p.sys.ErrTerminal {
		p.line = true
		_, _ = fmt.Fprintf(p.sys.Stderr, "\r%s so far\x1b[K", amounts(&s))
	}
}

func (p *recordPrinter) clear() {
	if p.line {
		_, _ = fmt.Fprint(p.sys.Stderr, "\r\x1b[K")
	}
	p.line = false
}

// amounts spell what was spent: 3 requests, 1,234 tokens, $0.0123.
func amounts(s *live.Spent) string {
	cost := report.Dollars(&s.Cost)
	switch {
	case len(s.Unpriced) > 0 && s.Cost == 0:
		cost = "cost not known"
	case len(s.Unpriced) > 0:
		cost = "at least " + cost
	}
	guess := ""
	if s.Estimated > 0 {
		guess = ", some of it estimated"
	}
	return fmt.Sprintf("%d requests, %s tokens, %s%s", s.Requests, live.Thousands(s.Tokens), cost, guess)
}

var stateWords = map[rerecord.State]string{
	rerecord.Recorded: "RECORDED", rerecord.Review: "REVIEW", rerecord.Stopped: "STOPPED", rerecord.NotBegun: "NOT BEGUN",
}

// taken prints what came of one recording.
func (p *recordPrinter) taken(t *rerecord.Taken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	kept := ""
	if t.Kept > 0 {
		kept = fmt.Sprintf(", %d answered by what was kept", t.Kept)
	}
	_, _ = fmt.Fprintf(p.sys.Stdout, "%-9s %-34s %-18s %s%s\n", stateWords[t.State],
		transcript.Safe(report.Title(t.Scenario.Name, t.Fault())), transcript.Safe(t.Model), amounts(&t.Spent), kept)
	if t.Why != "" {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      %s\n", transcript.AppendSafe(nil, t.Why, 6))
	}
	if t.Next != "" {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      next: %s\n", transcript.AppendSafe(nil, t.Next, 12))
	}
	for _, w := range t.Warnings {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      warning: %s\n", transcript.AppendSafe(nil, w, 15))
	}
	for _, r := range t.Failed {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      kept for review; replayed, %s does not do what is expected:\n%s", transcript.Safe(report.Title(r.Name, r.Variant)), report.Explain(r, 6))
	}
	p.worst = worse(p.worst, exitOfTaken(t))
	for _, f := range t.Files {
		if !slices.Contains(p.files, f) {
			p.files = append(p.files, f)
		}
	}
}

func exitOfTaken(t *rerecord.Taken) int {
	switch t.State {
	case rerecord.Recorded:
		return exitPass
	case rerecord.Review:
		return exitFail
	default:
	}
	switch t.Class {
	case failure.Interrupted:
		return exitInterrupted
	case failure.World, failure.Internal:
		return exitBroken
	case failure.ScenarioInvalid, failure.CassetteInvalid:
		return exitInvalid
	default:
		return exitFail
	}
}

// end says what was written, and what it cost.
func (p *recordPrinter) end(s live.Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	_, _ = fmt.Fprintf(p.sys.Stdout, "\n%s\n", amounts(&s))
	if len(p.files) == 0 {
		_, _ = fmt.Fprintln(p.sys.Stdout, "nothing was written")
		return
	}
	for _, f := range p.files {
		_, _ = fmt.Fprintf(p.sys.Stdout, "wrote %s\n", transcript.Safe(f))
	}
	_, _ = fmt.Fprintln(p.sys.Stdout, "review them before you commit: git status --short cassettes golden; git diff cassettes golden")
}

// money is a flag's amount of US dollars.
type money float64

func (m *money) String() string { return strconv.FormatFloat(float64(*m), 'f', -1, 64) }
func (m *money) Type() string   { return "dollars" }
func (m *money) Set(s string) error {
	x, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	if err != nil || x <= 0 || math.IsInf(x, 0) {
		return errors.New("must be an amount of US dollars of more than 0, like 0.50")
	}
	*m = money(x)
	return nil
}

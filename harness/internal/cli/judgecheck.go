package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/labels"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

type judgeCheckFlags struct {
	model             string
	record, yes, json bool
	tokens            atLeastOne
	cost              money
	smallest          kappa
}

func judgeCheckCommand(sys IO, p *project) *cobra.Command {
	f := &judgeCheckFlags{}
	cmd := &cobra.Command{
		Use:   "judge-check LABELS.yaml",
		Short: "Measure how far a model that judges agrees with people",
		Long: `judge-check has a model answer the question of expect: judge for texts that
people have labelled, and tells how far the two agree: the table of labels and
answers, the agreement, Cohen's kappa with an interval of 95 %, and of each answer
how much of it the judge finds and how often it is right.

LABELS.yaml has the question, the answers that are allowed, the model, and items,
each a text (or a scenario, of whose replay the text is) with its label:

  question: Does the text advise to take an umbrella?
  answers: [yes, no]
  model: gpt-5.5-mini
  items:
    - {text: "Rain is forecast: take one.", label: yes}
    - {scenario: travel/umbrella, label: yes}

What the judge says is replayed from a cassette beside the file
(LABELS/MODEL.yaml); --record asks it live for what is not there yet, within the
same caps as retake record. An answer that is not allowed is a disagreement.

exit codes: 0; with --min-kappa 1 where all of the interval lies below it, and 4
where it lies inside`,
		Example: `  retake judge-check labels/umbrella.yaml --record
  retake judge-check labels/umbrella.yaml --min-kappa 0.6`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return judgeCheck(sys, p, f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.model, "model", "m", "", "another judge than the file names")
	flags.BoolVar(&f.record, "record", false, "ask the judge live for what is not recorded yet")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask before the first call that costs")
	flags.BoolVar(&f.json, "json", false, "print the figures as JSON")
	flags.Var(&f.smallest, "min-kappa", "the smallest kappa that is enough, from 0 to 1")
	flags.Var(&f.tokens, "max-tokens", "how many tokens the session may use (default: record.tokens in retake.yaml)")
	flags.Var(&f.cost, "max-cost", "how many US dollars it may cost, where prices are known (default: record.cost in retake.yaml)")
	return cmd
}

func judgeCheck(sys IO, p *project, f *judgeCheckFlags, path string) error {
	of, err := labels.Load(path)
	if err != nil {
		return err
	}
	of.Model = cmp.Or(f.model, of.Model)
	of.Record = "retake judge-check " + path + " --record"
	if f.model != "" {
		of.Record += " --model " + f.model
	}
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	texts, err := of.Texts(sys.Context, s)
	if err != nil {
		return err
	}
	var a *labels.Agreement
	if f.record {
		a, err = recordLabelled(sys, s, f, of, path, texts)
	} else {
		a, err = replayLabelled(sys, s, of, path, texts)
	}
	switch {
	case failure.Of(err) == failure.CassetteMiss || failure.Of(err) == failure.Budget:
		return exitError(complain(sys, err, exitFail))
	case err != nil:
		return err
	}
	if f.smallest.given {
		a.Decide(f.smallest.value)
	}
	return printAgreement(sys, f, a)
}

func replayLabelled(sys IO, s *suite.Suite, of *labels.File, path string, texts []string) (*labels.Agreement, error) {
	at, err := s.Judge(of.Model)
	if err != nil {
		return nil, err
	}
	file, err := cassette.Open(labels.Cassette(path, of.Model))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = failure.Errorf(failure.World, "%s: nothing is recorded of what the judge %s says; record it with: %s", labels.Cassette(path, of.Model), of.Model, of.Record)
		}
		return nil, err
	}
	player, err := cassette.NewPlayer(file, cassette.Options{Redact: s.Redaction()})
	if err != nil {
		return nil, err
	}
	a, err := of.Ask(sys.Context, player, at, texts)
	if left := player.Unplayed(); err == nil && len(left) > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%s: %d recordings are of items that are gone", file.Name, len(left)))
	}
	return a, err
}

func recordLabelled(sys IO, s *suite.Suite, f *judgeCheckFlags, of *labels.File, path string, texts []string) (_ *labels.Agreement, err error) {
	at, err := s.Judge(of.Model)
	if err != nil {
		return nil, err
	}
	to := labels.Cassette(path, of.Model)
	out := &recordPrinter{sys: sys}
	o := rerecord.Options{
		SDK: "retake " + version(), Getenv: sys.Getenv, Watch: out.spent,
		Cap: live.Cap{Tokens: cmp.Or(int64(f.tokens), s.Config.Record.Tokens), Cost: cmp.Or(float64(f.cost), s.Config.Record.Cost)},
	}
	l, err := rerecord.PrepareLabelled(s, of.Model, to, o)
	if err != nil {
		return nil, err
	}
	sys.hidden.values = l.Secrets
	what := fmt.Sprintf("to ask: %s, for at most %d labels, at %s\nat most %s tokens and %s",
		transcript.Safe(of.Model), len(texts), transcript.Safe(l.Target.BaseURL), live.Thousands(o.Cap.Tokens), report.Dollars(&o.Cap.Cost))
	if err := confirmed(sys, what, f.yes); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	by, err := l.Begin()
	if err != nil {
		return nil, err
	}
	a, err := of.Ask(sys.Context, by, at, texts)
	out.clear()
	spent := l.Spent()
	_, _ = fmt.Fprintln(sys.Stderr, amounts(&spent))
	if err != nil {
		return nil, err
	}
	if err := l.Finish(); err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(sys.Stderr, "wrote %s\n", transcript.Safe(to))
	return a, nil
}

func printAgreement(sys IO, f *judgeCheckFlags, a *labels.Agreement) error {
	if f.json {
		text, err := json.Marshal(a, jsontext.WithIndent("  "))
		if err != nil {
			return failure.Errorf(failure.Internal, "the figures as JSON: %w", err)
		}
		_, _ = fmt.Fprintf(sys.Stdout, "%s\n", text)
	} else {
		_, _ = fmt.Fprint(sys.Stdout, agreementText(a))
	}
	switch a.Verdict {
	case labels.TooLittle:
		return exitError(exitFail)
	case labels.Inconclusive:
		return exitError(exitInconclusive)
	case labels.Enough:
	}
	return nil
}

// agreementText spells the figures for a terminal.
func agreementText(a *labels.Agreement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n\n", transcript.Safe(a.Model), transcript.Safe(a.Question), counted(a.N, "labelled item"))
	agreementTable(&b, a)
	fmt.Fprintf(&b, "\nagreement  %s\n", shareText(&a.Agree))
	if a.Kappa == nil {
		fmt.Fprintln(&b, "kappa      not defined")
	} else {
		fmt.Fprintf(&b, "kappa      %.3f, 95 %%: %.3f to %.3f (by chance alone they would agree on %.1f %%)\n", *a.Kappa, a.Lo, a.Hi, 100*a.Chance)
	}
	for i := range a.Classes {
		c := &a.Classes[i]
		fmt.Fprintf(&b, "%s: found %s; right %s\n", transcript.Safe(c.Answer), shareText(&c.Found), shareText(&c.Right))
	}
	const most = 10
	for i, d := range a.Differ {
		if i == most {
			fmt.Fprintf(&b, "and %d more\n", len(a.Differ)-most)
			break
		}
		said := transcript.Safe(d.Judge)
		if d.Judge == "" {
			said = "no allowed answer: " + transcript.Safe(strconv.Quote(d.Said))
		}
		fmt.Fprintf(&b, "line %d: labelled %s, the judge says %s\n", d.Line, transcript.Safe(d.Label), said)
	}
	for _, w := range a.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", transcript.Safe(w))
	}
	fmt.Fprintf(&b, "%s tokens, %s\n", live.Thousands(a.Tokens), report.Dollars(a.Cost))
	if a.Verdict != "" {
		fmt.Fprintf(&b, "\n%s: %s\n", strings.ToUpper(string(a.Verdict)), a.Why)
	}
	return b.String()
}

func agreementTable(b *strings.Builder, a *labels.Agreement) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(w, "labelled \\ judge\t")
	for _, answer := range a.Answers {
		_, _ = fmt.Fprintf(w, "%s\t", transcript.Safe(answer))
	}
	_, _ = fmt.Fprint(w, "no answer\t\n")
	for i, row := range a.Table {
		_, _ = fmt.Fprintf(w, "%s\t", transcript.Safe(a.Answers[i]))
		for _, n := range row {
			_, _ = fmt.Fprintf(w, "%d\t", n)
		}
		_, _ = fmt.Fprint(w, "\n")
	}
	_ = w.Flush() // a strings.Builder takes all
}

func shareText(s *labels.Share) string {
	if s.Of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%, 95 %%: %.1f to %.1f)", s.Count, s.Of, 100*s.Share, 100*s.Lo, 100*s.Hi)
}

// kappa is a flag's value from 0 to 1.
type kappa struct {
	value float64
	given bool
}

func (k *kappa) String() string { return "" }
func (k *kappa) Type() string   { return "kappa" }
func (k *kappa) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
		return errors.New("must be a number from 0 to 1, like 0.6")
	}
	*k = kappa{x, true}
	return nil
}

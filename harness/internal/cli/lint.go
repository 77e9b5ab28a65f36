package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/transcript"
)

type lintFlags struct {
	strict, rules bool
	explain       string
}

func lintCommand(sys IO, p *project) *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use:   "lint [SCENARIO…]",
		Short: "Find what is wrong with scenarios and tools before anything runs",
		Long: `lint holds what is written against rules: scenarios without a golden transcript, a
failure case or a way back; secrets without an owner or past their day; tools that
write twice, take anything, or ask for what no model should know.

A finding that the project accepts is excused in scenarios/retake.yaml, with a
reason,

    lint:
      - {rule: tool/no-output-schema, on: shop/search, reason: Its answer is free text.}

or at its place: # retake:lint tool/no-output-schema Its answer is free text.

exit codes: 0 nothing, or warnings alone; 1 errors (with --strict warnings too)`,
		Example: `  retake lint
  retake lint travel --strict
  retake lint --explain tool/write-key`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.rules:
				return lintRules(sys.Stdout)
			case f.explain != "":
				return explainRule(sys.Stdout, f.explain)
			}
			return runLint(sys, p, f, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.rules, "rules", false, "list the rules")
	flags.StringVar(&f.explain, "explain", "", "explain this rule")
	flags.BoolVar(&f.strict, "strict", false, "exit 1 on warnings, too")
	return cmd
}

func runLint(sys IO, p *project, f *lintFlags, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	l := &linter{suite: s, whole: len(args) == 0, today: clock.Wallclock()}
	l.files(names)
	found := l.excused()
	printFindings(sys.Stdout, found)
	return lintExit(found, f.strict)
}

// lintExit is the error that carries the exit code.
func lintExit(found []lint.Finding, strict bool) error {
	errs, warnings, _ := lint.Counts(found)
	if errs > 0 || strict && warnings > 0 {
		return exitError(exitFail)
	}
	return nil
}

func printFindings(w io.Writer, found []lint.Finding) {
	for i := range found {
		f := &found[i]
		if f.Excuse != "" {
			continue
		}
		line := fmt.Sprintf("%s: %s %s: %s; %s", f.Place, f.Severity, f.Rule, f.Message, f.Mend)
		if f.Place == (lint.Place{}) {
			line = line[2:]
		}
		_, _ = fmt.Fprintf(w, "%s\n", transcript.Safe(line))
	}
	errs, warnings, excused := lint.Counts(found)
	if errs+warnings == 0 {
		_, _ = fmt.Fprintf(w, "nothing found%s\n", accepted(excused))
		return
	}
	_, _ = fmt.Fprintf(w, "\n%s, %s%s; why a rule is there: retake lint --explain RULE\n", counted(errs, "error"), counted(warnings, "warning"), accepted(excused))
}

func accepted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d accepted with a reason", n)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func lintRules(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range lint.Rules() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Severity, r.Finds)
	}
	if err := w.Flush(); err != nil {
		return failure.Errorf(failure.World, "writing the rules: %w", err)
	}
	return nil
}

func explainRule(w io.Writer, id string) error {
	r, ok := lint.Explain(id)
	if !ok {
		return failure.Errorf(failure.ScenarioInvalid, "unknown rule %q%s; see: retake lint --rules", id, suggest.Hint(id, lint.IDs()))
	}
	line := func(label, text string) { _, _ = fmt.Fprintf(w, "  %-10s%s\n", label, text) }
	_, _ = fmt.Fprintln(w, r.ID)
	line("severity", string(r.Severity))
	line("finds", r.Finds)
	line("why", r.Why)
	line("mend", r.Mend)
	line("asked by", r.Source)
	return nil
}

package cli

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/baseline"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/transcript"
)

func baselineCommand(sys IO, p *project) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Accept a report as what the next ones are compared with",
		Long: `baseline keeps one report, whole, in reports/baseline/, which is meant for git:
retake compare --baseline holds the newest report against it.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownVerb(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(acceptCommand(sys, p), showBaselineCommand(sys, p))
	return cmd
}

func acceptCommand(sys IO, p *project) *cobra.Command {
	var rollback, note, by string
	cmd := &cobra.Command{
		Use:   "accept [REPORT]",
		Short: "Accept a report, the newest unless another is named",
		Long: `accept copies a report to reports/baseline/, with a note of who took it, when, and how
to go back to what it is of: whoever has to revert will have no time to find out. A
report of an interrupted run, a part of a run, or one with a known secret is refused.`,
		Example: `  retake baseline accept --rollback "set MODEL=claude-opus-4-8, deploy"
  retake baseline accept 20261101-101500-0a1b2c3d --rollback "revert 4f1c" --note "reviewed by the team"`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := suite.OpenConfig(p.dirs, sys.Getenv)
			if err != nil {
				return err
			}
			sys.hidden.values = c.Hidden()
			reports := suite.Filled(p.dirs).Reports
			n, err := baseline.Accept(baseline.Params{
				Report: reportNamed(reports, append(args, "latest")[0]), Reports: reports, Rollback: rollback, Text: note, Now: clock.Wallclock(),
				By: cmp.Or(by, sys.Getenv("GITHUB_ACTOR"), sys.Getenv("USER"), sys.Getenv("USERNAME"), "unknown"), Secrets: c.Hidden(),
			})
			if err != nil {
				return err
			}
			return showNote(sys, reports, n)
		},
	}
	cmd.Flags().StringVar(&rollback, "rollback", "", "how to go back to what is accepted (required)")
	cmd.Flags().StringVar(&note, "note", "", "why it is accepted")
	cmd.Flags().StringVar(&by, "by", "", "who accepts it (default: the user)")
	return cmd
}

func showBaselineCommand(sys IO, p *project) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Say which report is accepted, by whom, and how to go back to it",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			hideSecrets(sys, p)
			reports := suite.Filled(p.dirs).Reports
			n, err := baseline.Read(reports)
			if err != nil {
				return err
			}
			return showNote(sys, reports, n)
		},
	}
}

func showNote(sys IO, reports string, n *baseline.Note) error {
	for _, line := range []struct{ name, value string }{
		{"baseline", filepath.Join(reports, baseline.Name)}, {"report", n.Report}, {"accepted", n.Accepted}, {"by", n.By}, {"rollback", n.Rollback}, {"note", n.Text},
	} {
		if line.value == "" {
			continue
		}
		if _, err := fmt.Fprintf(sys.Stdout, "%-9s %s\n", line.name, transcript.AppendSafe(nil, line.value, 10)); err != nil {
			return err
		}
	}
	return nil
}

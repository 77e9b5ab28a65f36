package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/transcript"
)

func configCommand(sys IO, p *project) *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Print the effective configuration and where each value comes from", Args: cobra.NoArgs,
		Long: `config prints each value that is in force, and its source: a line of
scenarios/retake.yaml, a default, or the environment. Secrets are taken from the
environment only, and are never shown: only whether they are set, who owns them
and by when they must be renewed.`,
		RunE: func(*cobra.Command, []string) error {
			s, err := openSuite(sys, p)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
			for _, e := range s.Config.Effective() {
				note := ""
				if e.Secret {
					note = fmt.Sprintf("owner: %s, renew by: %s", or(e.Owner, "nobody"), or(e.RotateBy, "no date"))
				}
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Key, transcript.Safe(e.Value), e.Source, transcript.Safe(note))
			}
			return w.Flush()
		},
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/transcript"
)

func listCommand(sys IO, p *project) *cobra.Command {
	return &cobra.Command{
		Use: "list [SCENARIO…]", Short: "List scenarios with their models, owner, labels and purpose",
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := openSuite(sys, p)
			if err != nil {
				return err
			}
			names, err := s.Select(args)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
			for _, n := range names {
				sc, err := s.Load(n)
				if err != nil {
					_ = w.Flush()
					return err
				}
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", n, strings.Join(sc.Models, ","), transcript.Safe(sc.Owner),
					strings.Join(sc.Labels, ","), transcript.Safe(sc.Why))
			}
			return w.Flush()
		},
	}
}

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

func rekeyCommand(sys IO, p *project) *cobra.Command {
	var o rerecord.RekeyOptions
	cmd := &cobra.Command{
		Use:   "rekey [SCENARIO…]",
		Short: "Give recorded answers to requests that have changed",
		Long: `rekey replays recordings by their order, whatever is asked, and shows how the
requests differ from the recorded ones. With --write the recorded requests become
those of now; the answers stay, nothing is asked, and no tokens are spent.

That is right where the change is none to the model: a spelling, a default, a
field that it does not read. Whether it would have answered the new prompt, tools
or parameters alike only you can decide, or a new recording. A recording whose
calls are others, or come in another order, is refused.`,
		Example: `  retake rekey travel
  retake rekey travel/umbrella --write`,
		RunE: func(_ *cobra.Command, args []string) error { return rekey(sys, p, &o, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.Models, "model", "m", nil, "only these model versions")
	flags.StringSliceVarP(&o.Labels, "label", "l", nil, "only scenarios with one of these labels")
	flags.BoolVar(&o.Write, "write", false, "rewrite the recorded requests")
	return cmd
}

func rekey(sys IO, p *project, o *rerecord.RekeyOptions, args []string) error {
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	names, err := s.Select(args)
	if err != nil {
		return err
	}
	pending := 0
	err = rerecord.Rekey(sys.Context, s, names, *o, func(k *rerecord.Rekeyed) {
		printRekeyed(sys, k)
		if len(k.Requests) > 0 && !k.Written {
			pending++
		}
	})
	switch {
	case failure.Of(err) == failure.CassetteMiss:
		printError(sys.Stderr, err)
		return exitError(exitFail)
	case err != nil:
		return err
	case pending > 0:
		_, _ = fmt.Fprintln(sys.Stdout, "\nthe answers were given to the old requests; whether they hold for the new ones is your decision: if they do, rekey with --write, else record again")
		return exitError(exitFail)
	}
	return nil
}

func printRekeyed(sys IO, k *rerecord.Rekeyed) {
	state := "same"
	switch {
	case k.Written && len(k.Requests) == 0:
		state = "noted" // the hashes alone
	case k.Written:
		state = "rekeyed"
	case len(k.Requests) > 0:
		state = "changed"
	}
	_, _ = fmt.Fprintf(sys.Stdout, "%-7s %-34s %-18s %d of %d requests\n", state, transcript.Safe(report.Title(k.Scenario, k.Fault)), transcript.Safe(k.Model), len(k.Requests), k.All)
	for _, r := range k.Requests {
		_, _ = fmt.Fprintf(sys.Stdout, "      request %d: %s\n", r.Number, strings.Join(r.Where, ", "))
		for _, line := range r.Lines() {
			_, _ = fmt.Fprintf(sys.Stdout, "        %s\n", transcript.AppendSafe(nil, line, 10))
		}
	}
	if k.Written {
		_, _ = fmt.Fprintf(sys.Stdout, "      wrote %s; review it, then: retake run %s\n", transcript.Safe(k.File), transcript.Safe(k.Scenario))
	}
}

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/retake-harness/retake/harness/internal/shard"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// shardFlags say which part of the scenarios is run here.
type shardFlags struct{ which, times string }

func (f *shardFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.which, "shard", "", "run one part of the scenarios, as 2/4 (default: what CI_NODE_INDEX or JOB_COMPLETION_INDEX says)")
	flags.StringVar(&f.times, "shard-times", "", "the report by whose times to split (default: the newest one of a whole run); all parts need the same")
}

// part leaves those of the names that are run here, and says so; nil: all are.
func (f *shardFlags) part(sys IO, s *suite.Suite, names []string, o suite.Options) ([]string, *report.Shard, error) {
	choice, doubt, err := shard.Choose(f.which, sys.Getenv)
	if err != nil {
		return nil, nil, err
	}
	if doubt != "" {
		_, _ = fmt.Fprintf(sys.Stderr, "warning: %s\n", doubt)
	}
	if choice.Whole() {
		return names, nil, nil
	}
	if names, err = s.Running(names, o); err != nil {
		return nil, nil, err
	}
	times, by, err := f.timesOf(s)
	if err != nil {
		return nil, nil, err
	}
	mine, part := choice.Part(names, times)
	_, _ = fmt.Fprintf(sys.Stderr, "shard %d of %d (%s): %d of %s, split by %s\n", choice.Index, choice.Of, choice.From, len(mine), report.Count(len(names), "scenario"), by)
	if len(mine) == 0 {
		_, _ = fmt.Fprintln(sys.Stderr, "warning: there are more shards than scenarios, and none is left for this one")
	}
	return mine, part, nil
}

func (f *shardFlags) timesOf(s *suite.Suite) (times map[string]int64, by string, err error) {
	if f.times != "" {
		times, err = shard.TimesOf(f.times)
		return times, "the times in " + transcript.Safe(f.times), err
	}
	times, from, err := shard.Times(s.Dirs.Reports)
	if from == "" {
		return nil, "number, as there is no report of a whole run with times", err
	}
	return times, "the times in " + transcript.Safe(from), err
}

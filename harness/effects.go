package harness

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// probeTime is what the probes of a run may take together.
const probeTime = 30 * time.Second

// count asks the probes how many effects there are, by the tool.
func (w *world) count(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	limited, cancel := clock.WithTimeout(ctx, probeTime)
	defer cancel()
	for _, name := range slices.Sorted(maps.Keys(w.params.Probes)) {
		n, err := w.params.Probes[name].Count(limited)
		if err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s: counting the effects of %q: %w", w.params.Scenario.Place("effects."+name), name, err)
		}
		counts[name] = n
	}
	return counts, nil
}

// effects takes what the probes have found since before in the place of what the
// ledger says. A tool that is declared to read has no deliveries there but those
// that a fault made up, which no probe can see.
func (w *world) effects(ctx context.Context, before map[string]int) {
	if len(before) == 0 {
		return
	}
	after, err := w.count(context.WithoutCancel(ctx))
	if err != nil {
		w.lost(err)
		return
	}
	r := w.result
	for _, name := range slices.Sorted(maps.Keys(after)) {
		n := after[name]
		made := n - before[name]
		if made < 0 {
			w.lost(failure.Errorf(failure.World,
				"%s: the effects of %q were %d before the run and are %d after it; count what only grows, or keep others from the place where it is counted",
				w.params.Scenario.Place("effects."+name), name, before[name], n))
			return
		}
		if slices.ContainsFunc(w.env.Tools.Decls(), func(d tool.Decl) bool { return d.Name == name && !d.Writes() }) {
			made += r.Effects[name]
		}
		delete(r.Effects, name)
		if made > 0 {
			r.Effects[name] = made
		}
	}
	r.Probed = slices.Sorted(maps.Keys(after))
}

// lost notes that the effects are not known, unless something has ended the run
// before.
func (w *world) lost(err error) {
	if w.err == nil {
		w.err = err
	}
}

package suite

import (
	"context"
	"runtime"
	"slices"

	"github.com/retake-harness/retake/harness"
)

// job is one scenario on its way through the workers; done has room for its
// results, so that no worker waits for the reader.
type job struct {
	name string
	done chan []*harness.Result
}

// ahead is how many scenarios per worker may be finished before their turn: it
// bounds what is kept in memory.
const ahead = 8

// Run runs the named scenarios and calls emit with each result, in the order of
// names and, within one, of models and of its runs under faults. When ctx ends, what is running is broken
// off and the rest is handed over as not run; with FailFast the first result that
// is no pass does the same. An error of emit ends the run too, emit is not called
// again, and the error is returned.
func (s *Suite) Run(ctx context.Context, names []string, o Options, emit func(*harness.Result) error) error {
	if _, err := specsOf(o.Faults); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hand := &handover{emit: emit, stop: stop}
	if workers := Workers(o.Parallel, len(names)); workers > 1 {
		s.runParallel(ctx, stop, names, o, workers, hand.over)
		return hand.failed
	}
	for _, n := range names {
		hand.over(s.execName(ctx, stop, n, o))
	}
	return hand.failed
}

// execName runs one scenario; with FailFast one that does not pass stops the
// others at once, not only when it is its result's turn.
func (s *Suite) execName(ctx context.Context, stop func(), name string, o Options) []*harness.Result {
	results := s.exec(ctx, name, o)
	if o.FailFast && slices.ContainsFunc(results, notPassed) {
		stop()
	}
	return results
}

// runParallel runs the scenarios on several workers and hands their results over
// in order.
func (s *Suite) runParallel(ctx context.Context, stop func(), names []string, o Options, workers int, over func([]*harness.Result)) {
	order := make(chan job, workers*ahead) // in the order of names
	work := make(chan job)
	go distribute(names, order, work)
	for range workers {
		go func() {
			for j := range work {
				j.done <- s.execName(ctx, stop, j.name, o)
			}
		}()
	}
	for j := range order {
		over(<-j.done)
	}
}

// handover calls emit until it fails, and then stops the run.
type handover struct {
	emit   func(*harness.Result) error
	stop   func()
	failed error
}

func (h *handover) over(results []*harness.Result) {
	for _, r := range results {
		if h.failed != nil {
			return
		}
		if h.failed = h.emit(r); h.failed != nil {
			h.stop()
		}
	}
}

// perCore is how many scenarios a processor may have in hand: a replay waits for
// nothing but files.
const perCore = 4

// Workers is how many scenarios are run at once where parallel are asked for: at
// least one, and no more than there are, nor than four for each processor.
func Workers(parallel, scenarios int) int {
	return max(1, min(parallel, scenarios, perCore*runtime.GOMAXPROCS(0)))
}

func notPassed(r *harness.Result) bool { return r.Verdict != harness.Pass }

func distribute(names []string, order, work chan<- job) {
	for _, n := range names {
		j := job{name: n, done: make(chan []*harness.Result, 1)}
		order <- j
		work <- j
	}
	close(work)
	close(order)
}

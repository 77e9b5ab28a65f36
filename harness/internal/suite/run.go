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
// names and, within one, of models. When ctx ends, what is running is broken
// off and the rest is handed over as not run; with FailFast the first result that
// is no pass does the same. An error of emit ends the run too, emit is not called
// again, and the error is returned.
func (s *Suite) Run(ctx context.Context, names []string, o Options, emit func(*harness.Result) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := Workers(o.Parallel, len(names))
	order := make(chan job, workers*ahead) // in the order of names
	work := make(chan job)
	go distribute(names, order, work)
	for range workers {
		go func() {
			for j := range work {
				results := s.exec(ctx, j.name, o)
				if o.FailFast && slices.ContainsFunc(results, notPassed) {
					stop() // at once, not only when it is this result's turn
				}
				j.done <- results
			}
		}()
	}
	var failed error
	for j := range order {
		for _, r := range <-j.done {
			if failed != nil {
				continue
			}
			if failed = emit(r); failed != nil {
				stop()
			}
		}
	}
	return failed
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

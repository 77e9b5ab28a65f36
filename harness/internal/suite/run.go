package suite

import (
	"context"
	"runtime"
	"slices"

	"github.com/retake-harness/retake/harness"
)

// work is a scenario, or one trial of it: what one worker does at a time.
type work struct {
	name  string
	trial int // 0: there is only one
}

// job is work on its way through the workers; done has room for its results, so
// that no worker waits for the reader.
type job struct {
	work
	done chan []*harness.Result
}

// ahead is how many scenarios per worker may be finished before their turn: it
// bounds what is kept in memory.
const ahead = 8

// Run runs the named scenarios and calls emit with each result, in the order of
// names and, within one, of models, of its runs under faults and of trials. When
// ctx ends, what is running is broken off and the rest is handed over as not run;
// with FailFast the first result that is no pass does the same. An error of emit
// ends the run too, emit is not called again, and the error is returned.
func (s *Suite) Run(ctx context.Context, names []string, o Options, emit func(*harness.Result) error) error {
	if _, err := specsOf(o.Faults); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hand := &handover{emit: emit, stop: stop}
	trials := &trials{of: o.Trials, over: hand.over}
	if workers := Workers(o.Parallel, len(names)*max(o.Trials, 1)); workers > 1 {
		s.runParallel(ctx, stop, names, o, workers, trials.add)
		return hand.failed
	}
	for _, n := range names {
		for _, w := range worksOf(n, o.Trials) {
			trials.add(s.execWork(ctx, stop, w, o))
		}
	}
	return hand.failed
}

// worksOf are the trials of a scenario.
func worksOf(name string, trials int) []work {
	if trials <= 1 {
		return []work{{name: name}}
	}
	out := make([]work, trials)
	for i := range out {
		out[i] = work{name: name, trial: i + 1}
	}
	return out
}

// execWork runs one scenario; with FailFast one that does not pass stops the
// others at once, not only when it is its result's turn.
func (s *Suite) execWork(ctx context.Context, stop func(), w work, o Options) []*harness.Result {
	results := s.exec(ctx, w.name, w.trial, o)
	if o.FailFast && slices.ContainsFunc(results, notPassed) {
		stop()
	}
	return results
}

// runParallel runs the scenarios on several workers and hands their results over
// in order.
func (s *Suite) runParallel(ctx context.Context, stop func(), names []string, o Options, workers int, over func([]*harness.Result)) {
	order := make(chan job, workers*ahead) // in the order of names
	todo := make(chan job)
	go distribute(names, o.Trials, order, todo)
	for range workers {
		go func() {
			for j := range todo {
				j.done <- s.execWork(ctx, stop, j.work, o)
			}
		}()
	}
	for j := range order {
		over(<-j.done)
	}
}

// trials puts the results of a scenario's trials into the order of reports: all
// trials of one course, then those of the next one.
type trials struct {
	of   int
	over func([]*harness.Result)
	got  [][]*harness.Result
}

func (t *trials) add(results []*harness.Result) {
	if t.got = append(t.got, results); len(t.got) < t.of {
		return
	}
	var out []*harness.Result
	for course := range t.got[0] {
		for _, trial := range t.got {
			if course < len(trial) {
				out = append(out, trial[course])
			}
		}
	}
	t.got = t.got[:0]
	t.over(out)
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

func distribute(names []string, trials int, order, todo chan<- job) {
	for _, n := range names {
		for _, w := range worksOf(n, trials) {
			j := job{work: w, done: make(chan []*harness.Result, 1)}
			order <- j
			todo <- j
		}
	}
	close(todo)
	close(order)
}

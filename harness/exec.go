package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

// Params say what to run and in which world. Scenario, Model, API and Agent are
// required.
type Params struct {
	Scenario *scenario.Scenario
	Model    string
	API      wire.API
	BaseURL  string // "" is the provider's own address
	Price    *Price // nil: cost is not known
	// ToolPrices are US dollars for each time that a tool is reached, by the tool's
	// name; the cost of calls to others is not known.
	ToolPrices map[string]float64
	// Judges are the models that are asked about runs, by their names.
	Judges map[string]Judge
	Agent  Agent

	// Transport answers the model's requests instead of the cassette: a script, a
	// recorder. nil replays the cassette.
	Transport http.RoundTripper

	// Recording says that what Transport answers is kept as a recording: faults are
	// refused, since their traces would be replayed as if they were real.
	Recording bool
	// Live says that Transport asks models themselves, whose words differ each time:
	// the golden transcript is not compared, and a tool's recording that nobody asks
	// for is no failure. All else is judged.
	Live bool
	// Variant runs the scenario under the variant's faults; nil runs it without.
	Variant *scenario.Variant
	// Seed is what the chance of faults is drawn from; 0 takes the scenario's.
	Seed uint64
	// Survey collects the places where faults can strike, see Result.Places.
	Survey bool
	// ContractOnly judges by the contract and the effects alone: nobody knows what
	// else to expect of the run, and how it ends is up to the agent.
	ContractOnly bool
	// RealWaitCap is the longest injected wait on a real clock; 0 is 2 s.
	RealWaitCap time.Duration
	// Pace lets recorded time really pass where the clock is real, at this speed: 1 is
	// as it was recorded, 10 ten times as fast. 0 counts it and waits for nothing.
	Pace float64

	// Unread spares what only a reader needs: the transcript, the hashes of what
	// went in, the explanation of a miss.
	Unread bool

	CassetteDir string      // the folder cassettes/
	Cassette    string      // the model's recording; "" is the scenario's in CassetteDir
	Recordings  *Recordings // nil: cassettes are read anew
	GoldenDir   string      // the folder golden/
	Update      bool        // accept: write the golden instead of comparing

	// Clock is ModeVirtual when empty. ModeBubble and ModeReal count package
	// time, the latter besides it what was recorded; inside a testing/synctest bubble it must be ModeBubble.
	Clock clock.Mode
	// RunID is part of the ids of the run; "" leaves them without.
	RunID   string
	Trial   int // 1 to n of a run that is made n times; 0: it is made once
	Retry   Retry
	Schemas *schema.Cache // nil: compiled anew

	// Executors run tools for real instead of from the cassette, by name.
	Executors map[string]tool.Executor
	// OpenTools starts what runs the tools of this one run, servers among it, and is
	// asked once, when the run begins; what it gives is closed at the run's end.
	// Executors go before its own.
	OpenTools func(ctx context.Context, s *scenario.Scenario) (*Tools, error)
	// Probes count the effects of tools in the world itself, by the tool; of others
	// the calls that reach them are counted. They go before those of OpenTools.
	Probes map[string]effect.Probe
	// Approve asks a person about a call that needs approval, where the scenario's
	// script says nothing of it; nil: nobody is there.
	Approve func(ctx context.Context, c tool.Call) (bool, error)
	Post    []func(tool.Call, tool.Result) tool.Result
	Secrets *redact.Values // what the model must not be shown, and no file must hold
	// Redact is what recordings do not have of what is asked: it does not count in
	// matching.
	Redact cassette.Redaction

	scratch string // that of the tools
}

// Exec runs the scenario and judges it. It never fails itself: what goes wrong,
// an interrupted ctx included, is in the Result.
func Exec(ctx context.Context, p Params) *Result {
	watch := clock.Stopwatch()
	r := &Result{
		Scenario: p.Scenario, Name: p.Scenario.Name, Model: p.Model, API: p.API, Clock: p.Clock,
		TaskID: taskID(&p), Trial: p.Trial, Secrets: p.Secrets,
		Warnings: slices.Clone(p.Scenario.Warnings),
	}
	if r.Clock == "" {
		r.Clock = clock.ModeVirtual
	}
	if err := exec(ctx, p, r); err != nil {
		r.broken(err)
	}
	r.Real = watch()
	return r
}

func exec(ctx context.Context, p Params, r *Result) error {
	shut, err := openTools(ctx, &p, r)
	defer shut()
	if err != nil {
		return err
	}
	w, err := build(p, r)
	if err != nil {
		return err
	}
	before, err := w.count(ctx)
	if err != nil {
		return err
	}
	w.run(ctx)
	w.effects(ctx, before)
	w.judge(ctx)
	return nil
}

// broken files an error that came before the run.
func (r *Result) broken(err error) {
	f := failureOf(r, err)
	r.Failures = append(r.Failures, f)
	switch f.Class {
	case failure.CassetteInvalid, failure.ScenarioInvalid, failure.GoldenInvalid:
		r.Verdict = Invalid
	case failure.Interrupted:
		r.Verdict = NotRun
	case failure.Agent:
		r.Verdict = Fail
	default:
		r.Verdict = Broken
	}
}

// run lets the agent work within the run's time and writes down how it ended.
func (w *world) run(ctx context.Context) {
	switch w.result.Clock {
	case clock.ModeVirtual:
		ctx = clock.Virtual(ctx)
	case clock.ModeReal:
		ctx = clock.Real(ctx)
	default:
		ctx = clock.Wall(ctx)
	}
	outer := ctx
	out, timeUp, err := w.once(ctx)
	for n := 0; n < w.regenerations(); n++ {
		if w.crashed() {
			out, err = Outcome{Class: failure.Interrupted, Detail: "the host crashed"}, nil
		}
		if err != nil || w.diverged() != nil || outer.Err() != nil {
			break
		}
		w.regenerate(ctx, out)
		out, timeUp, err = w.once(ctx)
	}
	w.err = w.firstError(outer, err, timeUp)
	if d := w.diverged(); w.err == nil && d != nil && !w.scripted() {
		out.Class, out.Detail = failure.Diverged, "the recording ends here: "+d.Error()
	}
	if w.params.ContractOnly && failure.Of(w.err) == failure.Agent && !w.panicked {
		out.Class, out.Detail, w.err = failure.Agent, w.err.Error(), nil // it gave up, which is its right
	}
	w.result.Outcome = out
	w.result.Latency = clock.Now(outer)
	w.collect(out)
}

// bubbleTime ends a run in a bubble, where an agent of the user's own keeps time
// by itself: whether it keeps its budget is judged, not enforced.
const bubbleTime = 24 * time.Hour

// once runs the task from its beginning to its end.
func (w *world) once(ctx context.Context) (out Outcome, timeUp bool, err error) {
	limit := w.env.Scenario.Limits.Time
	if w.result.Clock == clock.ModeBubble {
		limit = max(limit, bubbleTime)
	}
	limited, cancel := clock.WithTimeout(ctx, limit)
	defer cancel()
	w.kill = cancel
	out, err = w.agent(limited)
	w.tap.flush()
	timeUp = errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil
	if err != nil && timeUp {
		out, err = Outcome{Class: failure.TimeBudget, Detail: "the run's time is up"}, nil
	}
	return out, timeUp, err
}

// agent calls the agent so that its panic is a failure of the scenario only. On
// package time it has a goroutine of its own, which can be ended when the agent
// runs away.
func (w *world) agent(ctx context.Context) (out Outcome, err error) {
	if w.result.Clock == clock.ModeVirtual {
		return w.call(ctx)
	}
	done := make(chan struct{})
	err = failure.Errorf(failure.Agent, "the agent ended its goroutine instead of returning")
	go func() {
		defer close(done)
		out, err = w.call(ctx)
	}()
	<-done
	if w.tap.ranAway() {
		err = errRanAway()
	}
	return out, err
}

func (w *world) call(ctx context.Context) (out Outcome, err error) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil:
		case runaway:
			err = errRanAway()
		default:
			w.panicked = true
			err = failure.Errorf(failure.Agent, "the agent panicked: %v", v)
		}
	}()
	return w.params.Agent.Run(ctx, w.env)
}

func errRanAway() error {
	return failure.Errorf(failure.Agent, "the agent asked more than %d times for just the same, and was stopped; bound what it tries again", mostAttempts)
}

// firstError is the error that says most: an interruption, a miss that the agent
// may have swallowed, the agent's own. That the run's time was up while a tool
// worked is none: it is how the run ended.
func (w *world) firstError(ctx context.Context, err error, timeUp bool) error {
	if ctx.Err() != nil {
		return failure.Errorf(failure.Interrupted, "interrupted")
	}
	if w.player != nil {
		if misses := w.player.Misses(); len(misses) > 0 && !w.divert.expected(len(misses)) {
			return failure.Wrap(failure.CassetteMiss, misses[0])
		}
	}
	fatal := w.env.Tools.Fatal()
	if w.diverged() != nil && (fatal == nil || failure.Of(fatal) == failure.CassetteMiss) {
		switch {
		case w.divert.failed != nil:
			return w.divert.failed
		case !w.scripted():
			return nil
		case fatal != nil:
			return failure.Errorf(failure.CassetteMiss, "the script's turns call what the tools' cassette has no answer to: %w", fatal)
		}
	}
	if fatal != nil && (!timeUp || !errors.Is(fatal, context.DeadlineExceeded)) {
		return fatal
	}
	if err != nil && failure.Of(err) == failure.Internal {
		return failure.Wrap(failure.Agent, err)
	}
	return err
}

// collect sorts the journal and draws the transcript.
func (w *world) collect(out Outcome) {
	r := w.result
	end := &journal.Ended{
		At: r.Latency, Class: out.Class, Detail: out.Detail, Answer: out.Answer, Stop: out.Stop, Iterations: out.Iterations,
	}
	if w.err != nil {
		end.Class = failure.Of(w.err)
	}
	r.Faults, r.Places = w.injected()
	w.end = end
	w.journal.Write(end)
	w.claim()
	if r.Clock != clock.ModeVirtual {
		renumber(w.journal, w.begins)
	}
	events := w.journal.Sorted()
	for _, e := range events {
		switch e := e.(type) {
		case *journal.ModelAttempt:
			r.Models = append(r.Models, e)
		case *journal.ToolCall:
			r.Calls = append(r.Calls, e)
		case *journal.ToolAttempt:
			r.Attempts = append(r.Attempts, e)
		case *journal.Warning:
			r.Warnings = append(r.Warnings, e.Text)
		}
	}
	if w.result.Outcome.Iterations == 0 {
		w.result.Outcome.Iterations = turns(r.Models)
	}
	r.Warnings = append(r.Warnings, otherModels(r.Models)...)
	if r.Clock != clock.ModeVirtual {
		r.byNumber()
	}
	w.own = w.ownTools()
	w.runs = w.split()
	r.Tokens = sum(r.Models)
	r.Price = w.params.Price
	r.Cost = r.Price.Cost(r.Tokens)
	r.priceTools(w.params.ToolPrices)
	w.compareAsked()
	r.Effects = w.ledger.Effects()
	if !w.params.Unread || w.judgesTranscript() {
		r.Transcript = transcript.Build(transcript.Head{Scenario: r.Name, Model: r.Model}, events)
	}
	for _, a := range r.Attempts {
		r.AttemptIDs = append(r.AttemptIDs, attemptID(r.TaskID, a.Ordinal))
	}
}

// turns counts the answers that are no errors.
func turns(models []*journal.ModelAttempt) int {
	n := 0
	for _, m := range models {
		if m.Response != nil && m.Response.Err == nil {
			n++
		}
	}
	return n
}

func sum(models []*journal.ModelAttempt) wire.Usage {
	var u wire.Usage
	for _, m := range models {
		if m.Response != nil {
			u.Add(m.Response.Usage)
		}
	}
	return u
}

func attemptID(task string, n int) string { return fmt.Sprintf("%s-a%d", task, n) }

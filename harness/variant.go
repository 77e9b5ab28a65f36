package harness

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
)

// DefaultRealWaitCap is the longest injected wait on a real clock where nothing is
// said.
const DefaultRealWaitCap = 2 * time.Second

// arm makes the injector of a run under faults, or of one that is surveyed.
func (w *world) arm() error {
	p := w.params
	if p.Variant == nil && !p.Survey {
		return nil
	}
	var specs []fault.Spec
	if v := p.Variant; v != nil {
		specs = v.Faults
		w.result.Variant = v.ID
		if p.Recording && v.OnDivergence != scenario.DivergeRecorded {
			return failure.Errorf(failure.ScenarioInvalid,
				"%s: faults are refused while recording: what they leave in the cassette would be replayed as real; record without %s, or say on_divergence: recorded, which has a cassette of its own",
				p.Scenario.Place(v.Part), v.ID)
		}
	}
	var err error
	w.injector, err = fault.New(specs, fault.Options{
		Journal: w.journal, Seed: cmp.Or(p.Seed, p.Scenario.Seed, 1), Clock: w.result.Clock,
		RealWaitCap: cmp.Or(p.RealWaitCap, DefaultRealWaitCap), Survey: p.Survey, Deliver: w.ledger.Deliver, Crash: w.crash,
	})
	return err
}

// faulty puts the injector, and the way on where a recording ends, before what
// answers the model's requests.
func (w *world) faulty(next http.RoundTripper) http.RoundTripper {
	if w.injector == nil {
		return next
	}
	w.divert = &divert{next: next, seen: w.injector.Seen, script: w.script(), blind: w.params.Scenario.Replay.Match == scenario.MatchSequence}
	return w.injector.Model(w.divert)
}

// script is the model after a divergence; nil without one.
func (w *world) script() *script.Model {
	v := w.params.Variant
	if v == nil || v.OnDivergence != scenario.DivergeScript {
		return nil
	}
	m := &script.Model{API: w.params.API, Name: w.params.Model, Number: w.injector.Calls}
	for _, s := range v.Script {
		t := script.Turn{Text: s.Text, Stop: s.Stop, When: script.When(s.When)}
		for _, c := range s.Calls {
			t.Calls = append(t.Calls, script.Call{Name: c.Tool, Args: string(c.Args)})
		}
		m.Turns = append(m.Turns, t)
	}
	return m
}

func (w *world) scripted() bool { return w.divert != nil && w.divert.script != nil }

// diverged is the first miss that a fault has led to; nil without one. A miss of
// the tools' cassette counts as one, too.
func (w *world) diverged() error {
	if w.divert == nil {
		return nil
	}
	if err := w.divert.diverged(); err != nil {
		return err
	}
	if fatal := w.env.Tools.Fatal(); failure.Of(fatal) == failure.CassetteMiss && w.injector.Seen() {
		return fatal
	}
	return nil
}

// divert lets the script answer from the first request on of which there is no
// recording because of a fault.
type divert struct {
	next   http.RoundTripper
	seen   func() bool // the model was shown a fault, so that a miss may be what it has led to
	blind  bool        // the recordings answer in their order, whatever is asked
	script *script.Model

	mu     sync.Mutex
	first  error // the first miss
	misses int   // that faults have led to
	failed error // the script had no answer
}

// RoundTrip implements http.RoundTripper.
func (d *divert) RoundTrip(req *http.Request) (*http.Response, error) {
	if d.script != nil && d.diverged() != nil {
		return d.say(req)
	}
	resp, err := d.ask(req)
	if failure.Of(err) != failure.CassetteMiss || !d.seen() {
		return resp, err
	}
	d.mu.Lock()
	d.misses++
	if d.first == nil {
		d.first = err
	}
	d.mu.Unlock()
	if d.script == nil {
		return nil, err
	}
	return d.say(req)
}

// ask asks the recordings, unless they would answer whatever the model was shown.
func (d *divert) ask(req *http.Request) (*http.Response, error) {
	if d.blind && d.seen() {
		return nil, failure.Errorf(failure.CassetteMiss, "what was recorded is no answer to what the model was shown, though in mode sequence it would be given")
	}
	return d.next.RoundTrip(req)
}

func (d *divert) say(req *http.Request) (*http.Response, error) {
	resp, err := d.script.RoundTrip(req)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.failed == nil {
			d.failed = err
		}
	}
	return resp, err
}

func (d *divert) diverged() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}

// expected tells whether all n misses of the player were led to by faults.
func (d *divert) expected(n int) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return n <= d.misses
}

// toolExecutor puts the ledger and the faults before what runs the tool.
func (w *world) toolExecutor(s *tool.Spec, exec tool.Executor) tool.Executor {
	s.Exec = w.ledger.Wrap(&s.Decl, exec)
	if w.injector == nil {
		return s.Exec
	}
	return w.injector.Tool(s)
}

// again lets recorded results be given once more under faults, where the ledger
// tells what a second delivery did.
func (w *world) again() func(string) bool {
	if w.params.Variant == nil {
		return nil
	}
	return func(string) bool { return true }
}

// decide asks the person that the scenario scripts, or who is there.
func (w *world) decide() func(context.Context, tool.Call) (tool.Decision, error) {
	w.person = newPerson(&w.params)
	if w.injector == nil {
		return w.person.decide
	}
	return w.injector.Decide(w.person.decide)
}

// crash ends what the agent does; whatever it still asks for is refused.
func (w *world) crash() {
	w.tap.live(false)
	w.kill()
}

func (w *world) regenerations() int {
	if w.injector == nil {
		return 0
	}
	return w.injector.Regenerations()
}

// begin is where a further run of the task begins, and how the one before ended.
type begin struct {
	at                      time.Duration
	models, calls, attempts int // of the runs before
	ended                   *journal.Ended
}

// regenerate begins the task anew in the same world: the recordings are free
// again, what was done stays done.
func (w *world) regenerate(ctx context.Context, before Outcome) {
	w.begins = append(w.begins, begin{
		at:     clock.Now(ctx),
		models: len(journal.Of[*journal.ModelAttempt](w.journal)), calls: len(journal.Of[*journal.ToolCall](w.journal)),
		attempts: len(journal.Of[*journal.ToolAttempt](w.journal)),
		ended:    &journal.Ended{At: clock.Now(ctx), Class: before.Class, Detail: before.Detail, Answer: before.Answer, Stop: before.Stop},
	})
	if before.Class == failure.None && !w.injector.Seen() {
		w.unplayed()
	}
	w.injector.Regenerate(ctx)
	w.tap.live(true)
	w.env.Tools.Forget(fault.ErrCrashed)
	if w.player != nil {
		w.player.Rewind()
	}
	if w.tools != nil {
		w.tools.Rewind()
	}
}

// split is the evidence of each run of a task that was run several times.
func (w *world) split() []contract.Evidence {
	if len(w.begins) == 0 {
		return nil
	}
	r := w.result
	from, ends := begin{}, append(w.begins, begin{
		at: r.Latency, models: len(r.Models), calls: len(r.Calls), attempts: len(r.Attempts), ended: w.end,
	})
	out := make([]contract.Evidence, len(ends))
	for i, to := range ends {
		out[i] = contract.Evidence{
			Models: r.Models[from.models:to.models], Calls: r.Calls[from.calls:to.calls], Attempts: r.Attempts[from.attempts:to.attempts],
			Ended: to.ended, Elapsed: to.at - from.at, ToolSeam: w.toolSeam(),
		}
		from = to
	}
	return out
}

func (w *world) crashed() bool { return w.injector != nil && w.injector.Crashed() }

func (w *world) injected() ([]fault.Fired, []fault.Place) {
	if w.injector == nil {
		return nil, nil
	}
	return w.injector.Fired(), w.injector.Places()
}

func (w *world) open(path string) (*cassette.File, error) { return w.params.Recordings.open(path) }

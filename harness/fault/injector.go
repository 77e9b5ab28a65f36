package fault

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/tool"
)

// Options configure an Injector.
type Options struct {
	Journal *journal.Journal // where a strike is written down; nil: nowhere
	Seed    uint64           // what chance is drawn from
	// Clock is the run's; RealWaitCap the longest wait where it is real.
	Clock       clock.Mode
	RealWaitCap time.Duration
	// Survey collects the places of the run, see Places.
	Survey bool
	// Deliver notes an effect that a tool has beside its answer; nil notes none.
	Deliver func(ctx context.Context, d *tool.Decl, c tool.Call)
	// Crash ends the host's run, which is begun again; nil: nothing does.
	Crash func()
}

// Injector injects the faults of one run. It may be used by many goroutines.
type Injector struct {
	opts  Options
	armed []*armed
	specs map[string]*tool.Spec // tools by name

	mu        sync.Mutex
	calls     int // model calls so far
	open      []*modelCall
	places    []Place
	toolCalls map[string]int // so far, by tool; "" of all
	known     map[int]number // tool calls by their ordinal in the run
	byID      map[string]number
	turns     map[string]int            // siblings of a call, by id
	originals map[string]jsontext.Value // of calls that a fault made up: the arguments that there is an answer for
	guesses   guesses
	seen      bool         // a fault has changed an answer that the model takes for its own
	altered   map[int]bool // tool calls, by number, whose newest attempt was struck
	down      bool         // the host has crashed, and the task was not begun again
	crashes   int
	partial   map[*modelCall]bool // calls of which a part was given as if it were the whole
}

// armed is a spec and what came of it.
type armed struct {
	Spec
	fault *Fault
	index int

	pinned  int    // the call at which it first struck, 0 before
	tool    string // and the tool's
	fired   int
	first   Address
	misfit  string // why it did not strike where it was due
	carried *held  // the answer that a lasting fault struck first, or that one keeps for the next call
	later   bool   // it strikes at pinned, not where it was addressed
}

// Fired is what came of one spec.
type Fired struct {
	Spec  Spec
	Times int     // how often it struck
	At    Address // where first
	Why   string  // why it did not strike where it was due; "" when it struck or was never due
}

// New arms the specs, which Check has been satisfied with. An unknown name is of
// class scenario_invalid.
func New(specs []Spec, o Options) (*Injector, error) {
	i := &Injector{
		opts: o, specs: map[string]*tool.Spec{}, toolCalls: map[string]int{}, known: map[int]number{}, altered: map[int]bool{}, partial: map[*modelCall]bool{},
		byID: map[string]number{}, turns: map[string]int{}, originals: map[string]jsontext.Value{},
	}
	for n, s := range specs {
		f, ok := Lookup(s.Name)
		if !ok {
			return nil, failure.Errorf(failure.ScenarioInvalid, "unknown fault %q", s.Name)
		}
		i.armed = append(i.armed, &armed{Spec: s, fault: f, index: n})
	}
	return i, nil
}

// Fired tells what came of each spec, in their order.
func (i *Injector) Fired() []Fired {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := make([]Fired, len(i.armed))
	for n, a := range i.armed {
		out[n] = Fired{Spec: a.Spec, Times: a.fired, At: a.first}
		if a.fired == 0 {
			out[n].Why = a.misfit
		}
	}
	return out
}

// StruckTool tells whether a fault has struck a tool call, so that recorded attempts
// may be left over.
func (i *Injector) StruckTool() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.ContainsFunc(i.armed, func(a *armed) bool { return a.fired > 0 && a.fault.Side() == SideTool })
}

// Seen tells whether the model has been shown what a fault did: an answer of its
// own that it did not give, or a tool's result in which the last attempt was
// struck. From then on its recorded answers may not fit. What a further attempt
// has made good is not seen.
func (i *Injector) Seen() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.seen || len(i.altered) > 0 || len(i.partial) > 0
}

// shows notes whether the newest attempt of a tool call gives another result than
// the tool did.
func (i *Injector) shows(call int, altered bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !altered {
		delete(i.altered, call)
		return
	}
	i.altered[call] = true
}

// Places are the places that were passed so far, in order; with Options.Survey.
func (i *Injector) Places() []Place {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]Place(nil), i.places...)
}

// due tells whether a's address and chance allow this place. The lock is held.
func (i *Injector) due(a *armed, at Address) bool {
	switch {
	case a.fault.Lasting:
		if !a.lasts(at.Call) {
			return false
		}
	case !a.addressed(at) || !a.attemptDue(max(at.Attempt, 1)):
		return false
	}
	if a.Chance == 0 || a.fault.profile || i.draw(a, at) < a.Chance {
		return true
	}
	a.misfit = fmt.Sprintf("the chance of %v never came up with the seed %d", a.Chance, i.opts.Seed)
	return false
}

// addressed tells whether the call is the one that the spec means.
func (a *armed) addressed(at Address) bool {
	if a.At.Tool != "" && a.At.Tool != at.Tool {
		return false
	}
	switch {
	case a.later:
		return at.Call == a.pinned
	case a.At.Call == Every, a.At.Call == 0 && (a.Chance != 0 || a.fault.profile):
		return true
	case a.At.Call == 0:
		return a.pinned == 0 || a.pinned == at.Call && a.tool == at.Tool
	}
	return a.At.Call == at.Call
}

// attemptDue tells whether attempt n is among those that the spec strikes.
func (a *armed) attemptDue(n int) bool {
	first := max(a.At.Attempt, 1)
	return n >= first && (a.Times == Every || n < first+max(a.Times, 1))
}

// lasts tells whether a lasting fault strikes model call n.
func (a *armed) lasts(n int) bool {
	from := a.At.Call
	if a.pinned > 0 {
		from = a.pinned
	}
	if n < from {
		return false
	}
	return a.Times <= 0 || a.pinned == 0 || n < a.pinned+a.Times
}

// draw is a number in [0, 1) for a spec at a place, the same in whatever order
// places are passed.
func (i *Injector) draw(a *armed, at Address) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%s/%d/%d", i.opts.Seed, a.index, at.Tool, at.Call, at.Attempt))
	const bits = 53
	return float64(binary.BigEndian.Uint64(sum[:8])>>(64-bits)) / (1 << bits)
}

// struck writes down a strike at an attempt that began at when.
func (i *Injector) struck(when time.Duration, a *armed, at Address) {
	i.mu.Lock()
	if a.fired == 0 {
		a.pinned, a.tool, a.first = at.Call, at.Tool, at
	}
	a.fired++
	i.seen = i.seen || a.fault.Seen && a.fault.model != nil
	i.mu.Unlock()
	if i.opts.Journal != nil {
		i.opts.Journal.Write(&journal.Fault{At: when, Name: a.Name, Place: at.String()})
	}
}

func (i *Injector) misfit(a *armed, at Address, why string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a.misfit = at.String() + ": " + why
}

// wait waits for d on the run's clock, on a real one at most for the cap.
func (i *Injector) wait(ctx context.Context, d time.Duration) error {
	if i.opts.Clock == clock.ModeReal {
		d = min(d, i.opts.RealWaitCap)
	}
	return clock.Sleep(ctx, d)
}

// Regenerations is how often the whole task is to be run again, by all that is known
// so far.
func (i *Injector) Regenerations() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := i.crashes
	for _, a := range i.armed {
		if a.fault == &regenerate {
			n += max(a.Times, 1)
		}
	}
	return n
}

// Regenerate notes that the task is run again: no request goes on with a call of
// the run before, and what that has shown its model the new one has not seen.
func (i *Injector) Regenerate(ctx context.Context) {
	i.mu.Lock()
	crashed := i.down
	i.open, i.seen, i.down = nil, false, false
	clear(i.partial)
	clear(i.altered)
	i.mu.Unlock()
	if crashed {
		return
	}
	for _, a := range i.armed {
		if a.fault == &regenerate {
			i.struck(clock.Now(ctx), a, Address{})
		}
	}
}

package drill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
)

// trial is one row at work: a world, an instance on it, and what was done so far.
//
// It is written to be read as a story. After the first breach, and after an error
// of the world, it is over: calls do nothing and return a zero answer, checks say
// nothing. So no row has to ask after each step whether to go on.
type trial struct {
	*setting
	ctx  context.Context
	row  *Row
	name string

	world World
	inst  Instance
	start Start // of the instance
	err   error // of the world, which ends the drill

	ops     int
	keys    []string // as sent; the n-th is shown as key-n
	base    int      // effects when the row began
	now     int      // effects when they were last counted
	counted bool
}

// over tells whether the story has ended.
func (t *trial) over() bool { return t.err != nil || t.row.State != NotRun }

// breach ends the row. do says what to do about it.
func (t *trial) breach(do, format string, args ...any) {
	if !t.over() {
		if t.Spec.Key.Field == "" && (do == doOnce || do == doReplay) {
			do = "take an idempotency key as an argument, and " + do
		}
		t.row.State, t.row.What, t.row.Do = Breached, t.mask(fmt.Sprintf(format, args...)), do
	}
}

// warn ends the row with a declared hazard.
func (t *trial) warn(do, format string, args ...any) {
	if !t.over() {
		t.row.State, t.row.What, t.row.Do = Warning, t.mask(fmt.Sprintf(format, args...)), do
	}
}

// inapplicable ends the row: it turned out that it says nothing here.
func (t *trial) inapplicable(format string, args ...any) {
	if !t.over() {
		t.row.State, t.row.What = NotApplicable, t.mask(fmt.Sprintf(format, args...))
	}
}

func (t *trial) note(format string, args ...any) {
	text := t.mask(fmt.Sprintf(format, args...))
	if !t.over() && !slices.Contains(t.row.Notes, text) {
		t.row.Notes = append(t.row.Notes, text)
	}
}

func (t *trial) broken(err error) {
	if t.err == nil && err != nil {
		t.err = err
	}
}

// step notes what was done.
func (t *trial) step(s Step) {
	s.Do, s.Answer = t.mask(s.Do), t.mask(s.Answer)
	t.row.Steps = append(t.row.Steps, s)
}

// mask shows keys by their number, so that a report is the same each time.
func (t *trial) mask(text string) string {
	for i, key := range t.keys {
		text = strings.ReplaceAll(text, key, fmt.Sprintf("key-%d", i+1))
	}
	return text
}

// open starts an instance on the row's state. Where one has run before, that it
// does not start is the tool's fault, not the world's.
func (t *trial) open(s Start) {
	if t.over() {
		return
	}
	again := t.world != nil
	if !again {
		if t.world, t.err = t.Target.World(t.ctx); t.err != nil {
			return
		}
	}
	inst, err := t.world.Open(t.ctx, s)
	switch {
	case err != nil && s.Fail != "" && t.ctx.Err() == nil && failure.Of(err) == failure.World:
		t.inapplicable("the server does not start with %s broken: %v", s.Fail, err)
		return
	case err != nil && again && t.ctx.Err() == nil && failure.Of(err) == failure.World:
		t.breach("let the server start on whatever state a killed one has left", "the server does not start again on the state that was left: %v", err)
		return
	case err != nil:
		t.err = err
		return
	}
	t.inst, t.start = inst, s
	if again || s != (Start{}) {
		t.step(Step{Do: "start" + s.words()})
	}
	t.count()
}

// need starts an instance as is usual, where none runs yet: a row that begins
// otherwise says so before its first call.
func (t *trial) need() {
	if t.inst == nil && t.world == nil {
		t.open(Start{})
	}
}

// words say how an instance is started.
func (s Start) words() string {
	var out []string
	if s.Principal != "" {
		out = append(out, "as "+s.Principal)
	}
	if s.ClockOffset != 0 {
		out = append(out, "with the clock "+s.ClockOffset.String()+" later")
	}
	if s.HoldAt != "" {
		out = append(out, "held at "+string(s.HoldAt))
	}
	if s.Fail != "" {
		out = append(out, "with "+s.Fail+" broken")
	}
	if out == nil {
		return ""
	}
	return " " + strings.Join(out, ", ")
}

// reopen ends the instance in good form and starts another.
func (t *trial) reopen(s Start) {
	if t.over() {
		return
	}
	if t.inst != nil {
		t.inst.Close()
		t.inst = nil
		t.step(Step{Do: "stop"})
	}
	t.open(s)
}

// restart starts again as it is usual, after a crash.
func (t *trial) restart() { t.reopen(Start{}) }

func (t *trial) kill() {
	if t.inst != nil {
		t.inst.Kill()
		t.inst = nil
		t.step(Step{Do: "kill"})
	}
}

func (t *trial) close() {
	if t.inst != nil {
		t.inst.Close()
	}
	if t.world != nil {
		t.world.Close()
	}
}

// count asks the probe. The first answer of a row is where it counts from.
func (t *trial) count() int {
	if t.over() || t.inst == nil {
		return t.now
	}
	limited, cancel := clock.WithTimeout(t.ctx, t.Timeout)
	defer cancel()
	n, err := t.inst.Count(limited)
	if err != nil {
		t.broken(failure.Errorf(failure.Of(err), "counting effects: %w", err))
		return t.now
	}
	if !t.counted {
		t.base, t.counted = n, true
	}
	t.now = n
	return n
}

// recount begins to count anew, where the probe's view has changed.
func (t *trial) recount() {
	t.counted = false
	t.count()
}

// made is how many effects the row has made so far.
func (t *trial) made() int { return t.now - t.base }

// effects wants so many of them; do says what to do otherwise.
func (t *trial) effects(want int, do string) {
	if got := t.made(); !t.over() && got != want {
		t.breach(do, "%s, not %d", effects(got), want)
	}
}

// atMost wants no more than so many.
func (t *trial) atMost(most int, do string) {
	if got := t.made(); !t.over() && got > most {
		t.breach(do, "%s, and at most %d may be", effects(got), most)
	}
}

func effects(n int) string {
	if n == 1 {
		return "1 effect"
	}
	return fmt.Sprintf("%d effects", n)
}

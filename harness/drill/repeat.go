package drill

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/retake-harness/retake/harness/tool"
)

// What to do about a second effect.
const (
	doOnce   = "look the key up and take it in one step (insert with a unique constraint, in the transaction of the effect), and answer a repeat from what is stored"
	doReplay = "store the whole result under its key, and answer a repeat with it word for word"
)

// repeats is how often I1 makes the same call.
const repeats = 9

func sequential() invariant {
	return invariant{
		id: "I1", title: "repeats one after the other make one effect",
		why: "a model regenerates, a platform retries: the same call again is the usual case",
		run: func(t *trial) {
			o := t.operation()
			t.succeed(t.call(o))
			t.effects(1, "let the example call have exactly one effect that the probe counts")
			for range repeats - 1 {
				t.call(o)
				t.effects(1, doOnce)
			}
		},
	}
}

func replayEqual() invariant {
	return invariant{
		id: "I22", title: "a replay answers what the first call answered", needs: needKey,
		why: "a caller that did not get the first answer goes on with the second",
		run: func(t *trial) {
			o := t.operation()
			first := t.succeed(t.call(o))
			t.same(first, t.call(o), doReplay)
			t.same(first, t.call(o), doReplay)
			t.effects(1, doOnce)
		},
	}
}

func twoMeant() invariant {
	return invariant{
		id: "I8", title: "two operations that are meant make two effects", needs: needKey,
		why: "somebody may buy the same thing twice; only the key says what is a repeat",
		run: func(t *trial) {
			const do = "tell operations apart by their keys, not by their arguments"
			one, two := t.operation(), t.operation()
			t.succeed(t.call(one))
			t.effects(1, do)
			if a := t.call(two); !t.over() && !a.ok() {
				t.breach(do, "the same call under another key is not served: %s", a.String())
			}
			t.effects(2, do)
		},
	}
}

func concurrent() invariant {
	return invariant{
		id: "I2", title: "duplicates at the same time make one effect",
		why: "a retry does not wait until the first call has ended",
		run: func(t *trial) {
			if t.need(); !t.over() {
				burst(t, []Instance{t.inst})
			}
		},
	}
}

func concurrentApart() invariant {
	return invariant{
		id: "I2", form: "two processes", title: "duplicates at the same time make one effect",
		why: "a lock in the memory of one process does not keep another one off",
		needs: func(s *setting) string {
			if !s.can.Together {
				return "the target does not allow two processes on one state"
			}
			return ""
		},
		run: func(t *trial) {
			if t.need(); t.over() {
				return
			}
			second, err := t.world.Open(t.ctx, Start{})
			if err != nil {
				t.broken(err)
				return
			}
			defer second.Close()
			burst(t, []Instance{t.inst, second})
		},
	}
}

// burst makes the same call many times at once.
func burst(t *trial, on []Instance) {
	o := t.operation()
	if t.over() {
		return
	}
	before := t.now
	answers := t.together(o, on)
	if t.err != nil {
		return
	}
	hung := false
	for i := range answers {
		hung = hung || answers[i].hung
	}
	t.tellBurst(o, answers)
	if hung {
		t.breach("answer a duplicate with the first result, or with a conflict; never let it wait for ever", "a duplicate got no answer within %s", t.Timeout)
		return
	}
	after := t.count()
	t.step(Step{Do: "count", Before: &before, After: &after})
	if t.made() > 1 {
		t.effects(1, doOnce)
	}
	t.judgeBurst(o, answers)
}

// tellBurst notes the answers, equal ones once. Who came first is chance, and is
// not told.
func (t *trial) tellBurst(o operation, answers []answer) {
	times := map[string]int{}
	for i := range answers {
		times[t.mask(answers[i].String())]++
	}
	for _, text := range slices.Sorted(maps.Keys(times)) {
		t.step(Step{Do: fmt.Sprintf("%d of %d at the same time: %s", times[text], len(answers), o.words()), Answer: text})
	}
}

// together releases the calls at once and waits for all.
func (t *trial) together(o operation, on []Instance) []answer {
	answers, errs := make([]answer, t.Duplicates), make([]error, t.Duplicates)
	gate := make(chan struct{})
	var ready, done sync.WaitGroup
	for i := range answers {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			answers[i], errs[i] = t.execute(t.ctx, on[i%len(on)], o, t.ops+1+i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	t.ops += len(answers)
	for _, err := range errs {
		t.broken(err)
	}
	return answers
}

// judgeBurst wants the same result for all that were served, the declared answer
// for the others, and the result for a repeat afterwards.
func (t *trial) judgeBurst(o operation, answers []answer) {
	var first *answer
	for i := range answers {
		a := &answers[i]
		switch {
		case a.ok() && first == nil:
			first = a
		case a.ok():
			t.same(*first, *a, doReplay)
		case t.Spec.Policies.InFlight == InFlightSame:
			t.breach("let a duplicate wait for the first call and answer with its result, or declare in_flight: conflict", "a duplicate in flight is refused, which is declared to be served: %s", a.String())
		case !conflict(a.res.Err) && !slices.Contains(t.Spec.Policies.InDoubt, a.res.Err.Code):
			t.breach("refuse a duplicate in flight with a conflict: an error that is retryable, or with a code such as CONFLICT or IN_PROGRESS", "a duplicate in flight is told something else than that its operation is at work: %s", a.String())
		}
	}
	if first == nil {
		t.breach("serve one of the duplicates", "none of %d calls at the same time was served", len(answers))
		return
	}
	late := t.call(o)
	t.effects(1, doOnce)
	t.same(*first, late, doReplay)
}

func restarted() invariant {
	return invariant{
		id: "I9", title: "a restart between two attempts changes nothing",
		why:   "a map in memory forgets all keys with the next deployment",
		needs: needRestart,
		run: func(t *trial) {
			const do = "keep keys and results where the effects are, not in memory"
			o := t.operation()
			first := t.succeed(t.call(o))
			t.reopen(Start{})
			again := t.call(o)
			t.effects(1, do)
			t.same(first, again, do)
		},
	}
}

func needRestart(s *setting) string {
	if !s.can.Restart {
		return "the target cannot be started again on the same state"
	}
	return ""
}

func reads() invariant {
	return invariant{
		id: "I21", title: "what only reads writes nothing, and hints tell the truth",
		why:   "reads are approved by themselves and repeated at will, on the word of the hint alone",
		needs: needReads,
		run: func(t *trial) {
			for _, c := range t.readCalls() {
				for range 2 {
					t.call(operation{tool: c.Tool, args: c.Args})
				}
				t.effects(0, "declare "+c.Tool+" as a write: drop its readOnlyHint, and give it an idempotency key")
			}
			t.ownHints()
		},
	}
}

func needReads(s *setting) string {
	if len(s.readCalls()) == 0 && !s.claims() {
		return "no reading tool is known that could be called, and the tool's own hints promise nothing; name some under reads"
	}
	return ""
}

// claims tells whether the drilled tool says of itself that it may be called at
// will.
func (s *setting) claims() bool {
	d := s.Spec.decl(s.Spec.Tool)
	return d != nil && (saysReads(d) || saysIdempotent(d))
}

func saysIdempotent(d *tool.Decl) bool {
	return d.Hints != nil && d.Hints.Idempotent != nil && *d.Hints.Idempotent
}

// ownHints holds the drilled tool to what it says of itself.
func (t *trial) ownHints() {
	if t.over() || !t.claims() {
		return
	}
	d := t.Spec.decl(t.Spec.Tool)
	o := t.operation()
	t.succeed(t.call(o))
	if saysReads(d) {
		t.effects(0, "drop the readOnlyHint of "+d.Name+": it writes")
		return
	}
	had := t.made()
	t.call(o)
	if t.made() > had {
		t.breach("drop the idempotentHint of "+d.Name+", or make it true", "the same call twice, of a tool with idempotentHint: %s", effects(t.made()))
	}
}

package drill

func lostAnswer() invariant {
	return invariant{
		id: "I3", title: "the answer is lost: the retry gets the first result",
		why: "the effect is there, and nobody was told; a second one would be as real",
		run: func(t *trial) {
			o := t.operation()
			first := t.succeed(t.lost(o))
			retry := t.call(o)
			t.effects(1, doOnce)
			t.same(first, retry, doReplay)
		},
	}
}

// lost makes the call; its answer is known to the drill alone.
func (t *trial) lost(o operation) answer {
	a := t.call(o)
	if n := len(t.row.Steps); n > 0 && !t.over() {
		t.row.Steps[n-1].Answer += " (lost on the way)"
	}
	return a
}

func lostInCrash() invariant {
	return invariant{
		id: "I3", form: "crash", title: "the answer is lost: the retry gets the first result",
		why:   "the usual reason for a lost answer is that the process which had it is dead",
		needs: needCrash,
		run: func(t *trial) {
			at := Point("")
			if t.holds(AfterEffect) {
				at = AfterEffect
			}
			o := t.crashAt(at)
			t.afterCrash(o, t.call(o), at)
		},
	}
}

const doNew = "do a call of which nothing is known as a new one"

func lostBefore() invariant {
	return invariant{
		id: "I4", title: "the call is lost before its effect: the retry makes it",
		why: "a retry that believes in an effect which never was loses an order",
		run: func(t *trial) {
			o := t.operation()
			if !t.over() {
				t.step(Step{Do: o.words(), Answer: "not delivered"})
			}
			t.succeed(t.call(o))
			t.effects(1, doNew)
		},
	}
}

func lostBeforeCrash() invariant {
	return invariant{
		id: "I4", form: "crash", title: "the call is lost before its effect: the retry makes it",
		why:   "the process may die with the call in its hands",
		needs: needPoint(BeforeReserve),
		run: func(t *trial) {
			o := t.crashAt(BeforeReserve)
			t.effects(0, "do nothing before the key is taken")
			t.succeed(t.call(o))
			t.effects(1, doNew)
		},
	}
}

func lateArrival() invariant {
	return invariant{
		id: "I19", title: "a first attempt that arrives late makes no second effect", needs: needKey,
		why: "a network may hold a request back until its retry has long been served",
		run: func(t *trial) {
			o := t.operation()
			if !t.over() {
				t.step(Step{Do: o.words(), Answer: "held back on the way"})
			}
			retry := t.succeed(t.call(o))
			late := t.call(o)
			t.effects(1, doOnce)
			if !t.over() && !late.refused() {
				t.same(retry, late, doReplay)
			}
		},
	}
}

func staleLock() invariant {
	return invariant{
		id: "I18", title: "a reservation that nobody finishes is recovered, without a second effect",
		why: "the process that took the key is dead, and an operation must not be blocked for ever",
		needs: func(s *setting) string {
			if why := needKey(s); why != "" {
				return why
			}
			return needPoint(AfterReserve)(s)
		},
		run: recovered,
	}
}

const doLock = "let a reservation expire, and let the next call take it over"

func recovered(t *trial) {
	o := t.operation()
	t.reopen(Start{HoldAt: AfterReserve})
	t.killedAt(o, AfterReserve)
	t.restart()
	a := t.call(o)
	if !t.over() && !a.ok() {
		if !t.can.Clock {
			t.inapplicable("the reservation still holds, and the server's clock cannot be moved to its end (no hook for it is declared): %s", a.String())
			return
		}
		t.reopen(Start{ClockOffset: t.lock()})
		a = t.call(o)
	}
	t.atMost(1, doLock+"; it must find out first whether the effect is there")
	if t.Spec.Policies.Stale == StaleUnknown {
		if !t.over() && a.ok() {
			t.effects(1, "answer ok only when the effect is there")
		}
		return
	}
	if !t.over() && !a.ok() {
		t.breach(doLock+", or declare stale: unknown", "the operation is blocked %s after the process died: %s", t.lock(), a.String())
	}
	t.effects(1, doLock)
	t.same(a, t.call(o), doReplay)
	t.effects(1, doOnce)
}

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
			r := &recovery{trial: t, op: t.crashAt(at), at: at}
			r.retry()
			r.retry()
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

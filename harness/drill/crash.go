package drill

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
)

// pending is a call that is under way.
type pending struct {
	replies chan reply
	ended   chan struct{}
	cancel  context.CancelFunc
}

type reply struct {
	answer answer
	err    error
}

// begin makes a call and does not wait for its answer.
func (t *trial) begin(o operation) *pending {
	ctx, cancel := context.WithCancel(t.ctx)
	p := &pending{make(chan reply, 1), make(chan struct{}), cancel}
	t.ops++
	n, x := t.ops, t.inst
	go func() {
		defer close(p.ended)
		a, err := t.execute(ctx, x, o, n)
		p.replies <- reply{a, err}
	}()
	return p
}

// forget waits for the call's end; nobody is told its answer.
func (p *pending) forget() {
	p.cancel()
	<-p.ended
}

// killedAt makes the call, and kills the process when it stands still at the
// point. The instance must have been started with HoldAt.
func (t *trial) killedAt(o operation, at Point) {
	if t.need(); t.over() {
		return
	}
	before := t.now
	held := t.inst.Held()
	p := t.begin(o)
	defer p.cancel()
	select {
	case r := <-p.replies:
		t.broken(r.err)
		t.step(Step{Do: o.words(), Answer: r.answer.String(), Before: &before})
		t.warn(fmt.Sprintf("have the first write that comes there say \"retake: held at %s\" on a line of standard error, and wait; or do not declare the point", at),
			"the server declares the point %s, and did not stand still there: nothing was tried", at)
		return
	case <-held:
	}
	t.step(Step{Do: o.words(), Answer: "stands still at " + string(at), Before: &before})
	t.kill()
	p.forget()
}

// killedWhenSeen makes the call, and kills the process as soon as the probe shows
// its effect. Whatever the call has answered by then is passed on to nobody.
func (t *trial) killedWhenSeen(o operation) {
	if t.need(); t.over() {
		return
	}
	before := t.now
	p := t.begin(o)
	defer p.cancel()
	if !t.seen(p, before) {
		return
	}
	after := t.now
	t.step(Step{Do: o.words(), Answer: "not passed on", Before: &before, After: &after})
	t.kill()
	p.forget()
}

// seen waits for an effect.
func (t *trial) seen(p *pending, before int) bool {
	for !t.over() {
		var r *reply
		select {
		case got := <-p.replies:
			r = &got
		default:
		}
		switch {
		case t.count() > before:
			return true
		case r != nil:
			t.broken(r.err)
			t.inapplicable("the call had no effect that the probe shows: %s", r.answer.String())
		case clock.Sleep(t.ctx, soon) != nil:
			t.broken(failure.Errorf(failure.Interrupted, "interrupted"))
		}
	}
	return false
}

func (s *setting) holds(p Point) bool {
	return s.can.Restart && s.can.Kill && slices.Contains(s.can.Points, p)
}

// needCrash says why no process can be killed.
func needCrash(s *setting) string {
	if !s.can.Restart || !s.can.Kill {
		return "the target cannot be killed and started again on the same state"
	}
	return ""
}

// needPoint says why a process cannot be killed at the point.
func needPoint(p Point) func(*setting) string {
	return func(s *setting) string {
		switch why := needCrash(s); {
		case why != "":
			return why
		case !s.holds(p):
			return "the server does not declare the point " + string(p) + "; see the hook RETAKE_HOLD_AT"
		}
		return ""
	}
}

// crashes are the forms of I10.
func crashes() []invariant {
	const title = "a crash in the middle makes at most one effect"
	const why = "a process may die between any two steps of a write, and the retry finds what it has left"
	var out []invariant
	for _, p := range Points() {
		out = append(out, invariant{
			id: "I10", form: string(p), title: title, why: why, needs: needPoint(p),
			run: func(t *trial) { crash(t, p) },
		})
	}
	return append(out, invariant{
		id: "I10", form: "effect seen", title: title, why: why,
		needs: func(s *setting) string {
			if s.holds(AfterEffect) {
				return "the server declares the points themselves"
			}
			return needCrash(s)
		},
		run: func(t *trial) { crash(t, "") },
	})
}

// crashAt kills the process in the call, at a point or when the effect is seen,
// and starts it again.
func (t *trial) crashAt(at Point) operation {
	o := t.operation()
	if at == "" {
		t.killedWhenSeen(o)
	} else {
		t.reopen(Start{HoldAt: at})
		t.killedAt(o, at)
	}
	t.restart()
	return o
}

const doCrash = "take the key, the effect and its record in one transaction; where the effect lies outside the database, take the key first and ask the other side, or answer that the outcome is unknown, before doing it again"

func crash(t *trial, at Point) {
	o := t.crashAt(at)
	r := &recovery{trial: t, op: o, at: at}
	r.retry()
	r.retry()
	if r.lockEnds() {
		r.retry()
		r.retry()
	}
}

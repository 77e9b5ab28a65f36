package drill

import (
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/tool"
)

const doOK = "answer ok only when the effect is there"

// recovery judges what comes after a crash: each retry, whatever it is answered,
// may find at most one effect, and may not be told that there is none.
type recovery struct {
	*trial
	op    operation
	at    Point   // of the crash; "" when the effect was seen
	first *answer // that was ok
}

// retry makes the call once more and judges its answer.
func (r *recovery) retry() answer {
	a := r.call(r.op)
	r.atMost(1, doCrash)
	switch {
	case r.over():
	case a.ok():
		r.effects(1, doOK)
		r.served(a)
	case r.first != nil:
		r.same(*r.first, a, "store the result of a recovered call under its key")
	case r.at == BeforeReserve:
		r.breach("do the retry of a call of which nothing was written as a new one", "the retry is refused, though nothing of the first call was written: %s", a.String())
	case r.at == AfterRecord:
		r.breach("look the key up before anything else, and answer what is stored", "the result was stored, and the retry does not get it: %s", a.String())
	case r.made() > 0 && !r.inDoubt(a):
		r.breach("answer with the result, or with an error that says that the outcome is open: retryable, or with a code such as IN_PROGRESS or OUTCOME_UNKNOWN, or one that is declared under in_doubt",
			"the retry claims a failure that is none, for the effect is there: %s", a.String())
	default:
		r.note("the retry is told that it is not served: %s", a.String())
	}
	return a
}

// served keeps the first ok, and wants each later one to be the same.
func (r *recovery) served(a answer) {
	if r.first == nil {
		r.first = &a
		return
	}
	r.same(*r.first, a, "store the result of a recovered call under its key")
}

// lockEnds starts the server when any reservation is over, where that can be had
// and the key is still known then.
func (r *recovery) lockEnds() bool {
	p := r.Spec.Policies
	if r.over() || r.Spec.Key.Field == "" || p.Lock == 0 || !r.can.Clock || p.Expiry > 0 && p.Expiry <= r.lock() {
		return false
	}
	r.reopen(Start{ClockOffset: r.lock()})
	return !r.over()
}

// Words in an error's code that leave the outcome open.
var (
	conflictWords = []string{"CONFLICT", "IN_USE", "IN_PROGRESS", "409"}
	doubtWords    = []string{"IN_DOUBT", "PENDING", "RECONCIL", "OUTCOME_UNKNOWN", "UNKNOWN_OUTCOME", "UNKNOWN_STATE", "STATE_UNKNOWN"}
)

// conflict tells whether an error says that the same call is at work, or may be
// repeated.
func conflict(e *tool.Error) bool { return e.Retryable || has(e.Code, conflictWords) }

// inDoubt tells whether an answer says that it is open what has happened. Words of
// a message count for nothing: no machine can tell a claim from a guess in them.
func (t *trial) inDoubt(a answer) bool {
	e := a.res.Err
	return a.doubt() || conflict(e) || e.Code == "UNKNOWN" || has(e.Code, doubtWords) || slices.Contains(t.Spec.Policies.InDoubt, e.Code)
}

func has(code string, words []string) bool {
	code = strings.ToUpper(code)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(code, w) })
}

func staleLock(at Point) invariant {
	inv := invariant{
		id: "I18", title: "a reservation that nobody finishes is recovered, without a second effect",
		why: "the process that took the key is dead, and an operation must not be blocked for ever",
		needs: func(s *setting) string {
			if why := needKey(s); why != "" {
				return why
			}
			return needPoint(at)(s)
		},
		run: func(t *trial) { recovered(t, at) },
	}
	if at == AfterEffect {
		inv.form, inv.why = string(at), "who takes a reservation over does not know whether the effect is there, and must not guess"
		inv.needs = func(s *setting) string { return needLockEnd(s, at) }
	}
	return inv
}

// needLockEnd says why the end of a reservation cannot be tried.
func needLockEnd(s *setting, at Point) string {
	p := s.Spec.Policies
	switch {
	case needKey(s) != "":
		return needKey(s)
	case needPoint(at)(s) != "":
		return needPoint(at)(s)
	case !s.can.Clock:
		return "the server's clock cannot be moved: it declares no hook for it; see RETAKE_CLOCK_OFFSET"
	case p.Expiry > 0 && p.Expiry <= s.lock():
		return "the key is forgotten before its reservation ends; declare a lock that is shorter than the expiry"
	}
	return ""
}

const doLock = "let a reservation expire, and let the next call take it over when it has found out whether the effect is there"

// recovered kills the process with the key in its hands. After the effect nobody
// calls before the reservation is over; else the first call tells whether it holds.
func recovered(t *trial, at Point) {
	r := &recovery{trial: t, op: t.operation(), at: at}
	t.reopen(Start{HoldAt: at})
	t.killedAt(r.op, at)
	if at == AfterReserve {
		t.restart()
		switch a := r.retry(); {
		case t.over():
			return
		case a.ok():
			r.retry()
			return
		case !t.can.Clock:
			t.inapplicable("the reservation still holds, and the server's clock cannot be moved to its end (no hook for it is declared): %s", a.String())
			return
		}
	}
	t.reopen(Start{ClockOffset: t.lock()})
	a := r.retry()
	r.retry()
	r.blocked(a)
}

// blocked judges the first answer after a reservation's end.
func (r *recovery) blocked(a answer) {
	switch {
	case r.over() || a.ok():
	case r.Spec.Policies.Stale == StaleUnknown && !r.inDoubt(a):
		r.breach("say that the outcome is unknown, as declared (stale: unknown)", "the reservation is over, and the answer leaves no doubt: %s", a.String())
	case r.Spec.Policies.Stale == StaleRecovered && r.made() == 0:
		r.breach(doLock+", or declare stale: unknown", "the operation is blocked %s after the process died: %s", r.lock(), a.String())
	}
}

package drill

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// day is how long a reservation is taken to hold where nothing is declared.
const day = 24 * time.Hour

func (s *setting) lock() time.Duration {
	if s.Spec.Policies.Lock > 0 {
		return s.Spec.Policies.Lock + time.Second
	}
	return day
}

func expiry() invariant {
	return invariant{
		id: "I13", title: "a key is known until its expiry, and then treated as declared",
		why: "a retry may come after a weekend; a key that is forgotten early is a second effect",
		needs: func(s *setting) string {
			switch {
			case needKey(s) != "":
				return needKey(s)
			case s.Spec.Policies.Expiry == 0:
				return "no expiry is declared"
			case !s.can.Clock || !s.can.Restart:
				return "the server's clock cannot be moved: it declares no hook for it; see RETAKE_CLOCK_OFFSET"
			}
			return ""
		},
		run: expires,
	}
}

func expires(t *trial) {
	p := t.Spec.Policies
	o := t.operation()
	first := t.succeed(t.call(o))
	t.reopen(Start{ClockOffset: p.Expiry - p.Expiry/10})
	const early = "keep keys as long as is declared"
	before := t.call(o)
	t.effects(1, early)
	t.same(first, before, early)
	t.reopen(Start{ClockOffset: p.Expiry + p.Expiry/10})
	after := t.call(o)
	switch p.Expired {
	case ExpiredNew:
		if !t.over() && !after.ok() {
			t.breach("forget the key at its expiry, or declare what comes then", "after its expiry the key is declared to be new, and the call is refused: %s", after.String())
		}
		t.effects(2, "forget the key at its expiry, or declare expired: replayed")
	case ExpiredRefused:
		t.effects(1, "refuse a key after its expiry, as declared")
		t.refuses(after, "refuse a key after its expiry, as declared", "an expired key")
	case ExpiredReplayed:
		t.effects(1, "keep the key, as declared (expired: replayed)")
		t.same(first, after, "keep the result, as declared (expired: replayed)")
	}
}

func otherTool() invariant {
	return invariant{
		id: "I14", form: "another tool", title: "the same key elsewhere is another key",
		why: "two tools may be given the same key, and neither may answer for the other",
		needs: func(s *setting) string {
			if s.Spec.Another == nil {
				return "no other tool is named that takes keys; name one under another"
			}
			return needKey(s)
		},
		run: func(t *trial) {
			x := t.Spec.Another
			if !t.elsewhere(x.Args) {
				t.inapplicable("%s does not take the arguments that are given under another", x.Tool)
				return
			}
			if t.Spec.Prepare == nil && !t.elsewhere(t.Spec.Args) {
				t.note("%s does not take the arguments of %s, so the same ones were not tried", x.Tool, t.Spec.Tool)
			}
		},
	}
}

// atOther is a call of the other tool.
func (t *trial) atOther(args jsontext.Value, key string) operation {
	x := t.Spec.Another
	return operation{tool: x.Tool, args: args, field: cmp.Or(x.Key, t.Spec.Key.Field), key: key}
}

// elsewhere uses a key at the drilled tool, then at the other one. It is false where
// the other one does not take the arguments under any key.
func (t *trial) elsewhere(args jsontext.Value) bool {
	const do = "keep keys by tool, and let no tool answer with another one's result"
	if t.over() {
		return true
	}
	own := t.call(t.atOther(args, t.newKey()))
	if t.over() || !own.ok() {
		return t.over()
	}
	o := t.operation()
	first := t.succeed(t.call(o))
	a := t.call(t.atOther(args, o.key))
	name := t.Spec.Another.Tool
	switch {
	case t.over():
	case a.ok() && t.difference(first, a) == "" && t.difference(first, own) == "":
		t.note("%s and %s answer alike, so whose result it is cannot be told", name, o.tool)
	case a.ok() && t.difference(first, a) == "":
		t.breach(do, "%s answers with the result of %s", name, o.tool)
	case !a.ok() && !t.Spec.Policies.SharedByTools:
		t.breach(do+"; or declare that keys are shared by the tools", "%s is refused under a key that %s has used: %s", name, o.tool, a.String())
	}
	t.same(first, t.call(o), do)
	return true
}

func otherTenant() invariant {
	return invariant{
		id: "I14", form: "another tenant", title: "the same key elsewhere is another key",
		why: "keys are chosen by callers: two tenants may choose the same one",
		needs: func(s *setting) string {
			if why := needKey(s); why != "" {
				return why
			}
			return needTenants(s)
		},
		run: func(t *trial) {
			const do = "keep keys by tenant"
			o := t.operation()
			mine := t.succeed(t.call(o))
			t.reopen(Start{Principal: t.can.Principals[1]})
			t.recount()
			theirs := o
			if t.Spec.Prepare != nil {
				theirs = t.operation().withKey(o.key)
			}
			a := t.call(theirs)
			t.effects(1, do+": the second one's call is an operation of its own")
			if !t.over() && !a.ok() {
				t.breach(do, "a key that another tenant has used is refused: %s", a.String())
			}
			t.reopen(Start{})
			t.recount()
			t.same(mine, t.call(o), do)
			t.effects(0, doOnce)
		},
	}
}

func needTenants(s *setting) string {
	switch {
	case len(s.can.Principals) < 2:
		return "the target has no two principals; name them under principals"
	case !s.can.Restart && !s.can.Together:
		return "the target cannot be opened by another principal on the same state"
	}
	return ""
}

func stableKey() invariant {
	return invariant{
		id: "I15", title: "the host's key belongs to the operation, not to the attempt",
		why: "a retry, another call id, a regenerated answer and a resumed task are the same operation",
		needs: func(s *setting) string {
			if s.Spec.Key.From == tool.KeyFromModel {
				return "the model makes the key; whether it keeps it is for scenarios to show"
			}
			return needKey(s)
		},
		run: hostKeys,
	}
}

// hostKeys calls by way of the host's own box, which makes the keys.
func hostKeys(t *trial) {
	const do = "take the key from the task and the operation (tool and arguments), never from the attempt, the call's id or the clock"
	o := t.operation()
	x := &listener{trial: t, op: o, lose: 1}
	x.host("task-1", "call-1", o.args)
	x.host("task-1", "call-2", o.args)
	x.host("task-1", "call-1", o.args) // regenerated: a box of its own, the same task
	keys := x.seen()
	if t.over() {
		return
	}
	if !t.keyFits(keys[0]) {
		t.inapplicable("the host's keys are 24 letters and digits, which this tool does not take; let the model make them (from: model)")
		return
	}
	t.effects(1, do)
	if len(slices.Compact(slices.Clone(keys))) != 1 || len(keys) < 4 {
		t.breach(do, "%d attempts at one operation carry other keys: %v", len(keys), keys)
	}
	if args := t.other(o); args != nil {
		x.another("other arguments", args, "task-1")
	} else {
		t.note("other arguments were not tried: %s", noOther)
	}
	x.another("another task", o.args, "task-2")
}

// another makes a call that is another operation, and wants another key for it.
func (l *listener) another(what string, args jsontext.Value, task string) {
	if args == nil || l.Spec.Prepare != nil || l.over() {
		return
	}
	had, keys := l.made(), l.seen()
	l.host(task, "call-3", args)
	if now := l.seen(); !l.over() && (l.made() <= had || slices.Contains(keys, now[len(now)-1])) {
		l.breach("take the key from the task and the operation, all of it", "%s: no further effect, or the same key", what)
	}
}

// listener is the way from the host's box to the tool. It hears the keys, and
// loses the first answers.
type listener struct {
	*trial
	op   operation
	lose int

	mu   sync.Mutex
	keys []string
}

func (l *listener) seen() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys
}

func (l *listener) host(task, call string, args jsontext.Value) {
	if l.over() {
		return
	}
	box := tool.NewBox([]tool.Spec{{
		Decl: tool.Decl{
			Name: l.op.tool, Effect: tool.EffectWrite, Retry: tool.Retry{Attempts: 2},
			Key: &tool.Key{Field: l.op.field, From: tool.KeyFromHost},
		},
		Exec: tool.ExecutorFunc(l.deliver), Instant: true,
	}}, tool.Options{TaskID: task + l.Salt})
	a, err := box.Call(l.ctx, l.op.tool, call, string(args))
	l.broken(err)
	if !l.over() && a.IsError {
		l.breach("accept the keys that a host makes: 24 letters and digits", "a call with a host's key is refused: %s", brief(a.Text))
	}
}

func (l *listener) deliver(_ context.Context, c tool.Call) (tool.Result, error) {
	m := members(c.Args)
	var key string
	if json.Unmarshal(m[l.op.field], &key) != nil {
		key = string(m[l.op.field])
	}
	l.mu.Lock()
	l.keys = append(l.keys, key)
	lost := l.lose > 0
	l.lose--
	l.mu.Unlock()
	if !slices.Contains(l.trial.keys, key) {
		l.trial.keys = append(l.trial.keys, key)
	}
	delete(m, l.op.field)
	a := l.call(operation{tool: c.Tool, args: marshal(m), field: l.op.field, key: key})
	if lost && a.ok() {
		return tool.Result{Err: &tool.Error{Code: tool.CodeTimeout, Message: "the answer was lost", Retryable: true}}, nil
	}
	return a.res, nil
}

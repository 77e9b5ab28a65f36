package drill

import (
	"strings"
)

const (
	doRefuse = "store a fingerprint of the arguments with the key, and refuse the key with another one"
	doKeep   = "let a refused call leave the stored result as it is"
)

func otherPayload() invariant {
	return invariant{
		id: "I5", title: "the same key with other arguments is refused", needs: needKey,
		why: "it is a mistake of the caller, and the stored result answers another question",
		run: func(t *trial) {
			o := t.operation()
			args := t.other(o)
			if args == nil {
				t.inapplicable(noOther)
				return
			}
			first := t.succeed(t.call(o))
			mixed := t.call(o.withArgs(args))
			t.effects(1, "make no effect under a key that is taken")
			hazard := t.answersOther(first, mixed)
			t.same(first, t.call(o), doKeep)
			t.effects(1, doOnce)
			if hazard {
				t.warn("better refuse it: nobody asked for this result", "other arguments under the same key get the stored result, as declared: %s", mixed.String())
			}
		},
	}
}

// answersOther judges the answer to other arguments; it is true for a declared
// hazard.
func (t *trial) answersOther(first, mixed answer) bool {
	switch {
	case t.over():
		return false
	case t.Spec.Policies.OtherPayload == OtherStored:
		t.same(first, mixed, "answer as declared (other_payload: stored), or better refuse")
		return true
	case mixed.ok():
		t.breach(doRefuse, "other arguments under the same key were not refused: %s", mixed.String())
	case !mixed.refused():
		t.breach(doRefuse, "whether other arguments under the same key were refused is left open: %s", mixed.String())
	case t.Spec.Policies.OtherPayload == OtherConflict && !strings.Contains(strings.ToUpper(mixed.res.Err.Code), "CONFLICT"):
		t.breach("refuse with a code that has CONFLICT in it, or declare other_payload: refused", "other arguments under the same key are declared to be a conflict, and are refused with the code %q", mixed.res.Err.Code)
	}
	return false
}

func fingerprint() invariant {
	return invariant{
		id: "I6", title: "the fingerprint sees every change of meaning, and nothing else", needs: needKey,
		why: "order and white space differ from one encoder to the next; a forgotten field lets another order pass for a repeat",
		run: func(t *trial) {
			o := t.operation()
			found, unknown := t.meanings(o, mostPlaces)
			first := t.succeed(t.call(o))
			again := o
			again.raw = spelled(o.text())
			t.same(first, t.call(again), "take the fingerprint of a canonical spelling: sorted members, no white space")
			t.unmarked(o, first)
			t.changed(o, found, unknown)
			t.effects(1, doRefuse)
		},
	}
}

// unmarked changes what the fingerprint is declared to leave out.
func (t *trial) unmarked(o operation, first answer) {
	all := members(o.args)
	for _, name := range t.Spec.Unmarked {
		v, there := all[name]
		if !there {
			t.note("%s, which the fingerprint leaves out, is not among the arguments", name)
			continue
		}
		for _, other := range values(v, nil, t.input.property(name)) {
			if args := with(o.args, name, other); t.validArgs(args) {
				t.same(first, t.call(o.withArgs(args)), "leave "+name+" out of the fingerprint, as is declared")
				break
			}
		}
	}
}

// changed sends each of the other meanings under the operation's key.
func (t *trial) changed(o operation, found []meaning, unknown []string) {
	switch {
	case t.Spec.Policies.OtherPayload == OtherStored:
		t.note("which changes the fingerprint sees cannot be told: any other arguments are declared to get the stored result")
		return
	case len(found) == 0:
		t.inapplicable(noOther)
		return
	}
	names := make([]string, 0, len(found))
	for _, m := range found {
		names = append(names, m.name)
		t.refuses(t.call(o.withArgs(m.args)), doRefuse, "another "+m.name+" under the same key")
	}
	t.note("%d changes of meaning were tried: %s", len(found), strings.Join(names, ", "))
	if len(unknown) > 0 {
		t.note("no other value that the tool accepts is known of %s", strings.Join(unknown, ", "))
	}
}

func missingKey() invariant {
	return invariant{
		id: "I7", title: "a write without a key is refused", needs: needKey,
		why: "nothing could tell its retry from a second order",
		run: func(t *trial) {
			const do = "make the key a required argument, and refuse a call without it"
			o := t.operation().withoutKey()
			a := t.call(o)
			if t.Spec.Policies.MissingKey == MissingAllowed {
				t.succeed(a)
				t.effects(1, "serve it as declared (missing_key: allowed), or better refuse")
				t.warn("better refuse it: its retry is a second effect", "a write without a key is served, as declared")
				return
			}
			t.effects(0, do)
			t.refuses(a, do, "a call without a key")
		},
	}
}

func validationFirst() invariant {
	return invariant{
		id: "I11", title: "a call that was refused as invalid does not burn the key", needs: needKey,
		why: "a model mends its arguments and calls again with the same key",
		run: func(t *trial) {
			const do = "check the arguments before the key is taken, and store no refusal"
			o := t.operation()
			bad := t.bad(o.args)
			if len(bad) == 0 {
				t.inapplicable("no arguments are known that the tool must refuse; name some under bad")
				return
			}
			for _, args := range bad {
				t.invalid(o.withArgs(args))
			}
			if a := t.call(o); !t.over() && !a.ok() {
				t.breach(do, "after a refused call the right one is not served under the same key: %s", a.String())
			}
			t.effects(1, do)
		},
	}
}

func (t *trial) invalid(o operation) {
	a := t.call(o)
	t.effects(0, "check the arguments before anything is done")
	t.refuses(a, "refuse arguments that break the schema or a rule", "a call with wrong arguments")
}

func errorCaching() invariant {
	return invariant{
		id: "I12", title: "errors are stored, or are not, as declared",
		why: "a stored 500 makes each retry useless; one that is not stored lets the retry do it",
		needs: func(s *setting) string {
			switch {
			case needKey(s) != "":
				return needKey(s)
			case len(s.can.Fail) == 0:
				return "the server declares no dependency that can be broken; see the hook RETAKE_FAIL"
			}
			return needRestart(s)
		},
		run: afterErrors,
	}
}

// afterErrors breaks each dependency by itself.
func afterErrors(t *trial) {
	var tried, spared []string
	for _, d := range t.can.Fail {
		if t.over() {
			return
		}
		if t.base = t.now; afterError(t, d) {
			tried = append(tried, d)
		} else {
			spared = append(spared, d)
		}
	}
	if len(tried) == 0 {
		t.inapplicable("the call succeeds though %s is broken", strings.Join(spared, " or "))
		return
	}
	t.note("what was broken: %s", strings.Join(tried, ", "))
	if len(spared) > 0 {
		t.note("the call succeeds without %s", strings.Join(spared, ", "))
	}
}

// afterError is false where the call succeeds all the same.
func afterError(t *trial, dependency string) bool {
	t.reopen(Start{})
	o := t.operation()
	t.reopen(Start{Fail: dependency})
	failed := t.call(o)
	if t.over() || failed.ok() {
		return false
	}
	had := t.made()
	t.reopen(Start{})
	again := t.call(o)
	switch {
	case t.over():
	case t.Spec.Policies.Errors == ErrorsCached:
		t.effects(had, "a stored error is answered without a further effect")
		if !t.over() && (again.ok() || again.res.Err.Code != failed.res.Err.Code) {
			t.breach("store the error under its key, or declare errors: not cached", "the error is declared to be stored, and the retry got another answer: %s", again.String())
		}
	case !again.ok():
		t.breach("release the key when a call fails before its effect, or declare errors: cached", "%s works again, and the retry is not served: %s", dependency, again.String())
	default:
		t.effects(1, doOnce)
		t.same(again, t.call(o), doReplay)
		t.effects(1, doOnce)
	}
	return true
}

func keyFormat() invariant {
	return invariant{
		id: "I16", title: "the length and the format of a key are checked", needs: needKey,
		why: "a key that is cut or changed on its way into a column makes two operations one",
		run: badKeys,
	}
}

// tooLong is a key that no system takes.
const tooLong = 64 << 10

func badKeys(t *trial) {
	const do = "check the key as any argument: not empty, of a declared length and format"
	o := t.operation()
	k := t.Spec.Key
	for _, bad := range []struct{ what, key string }{
		{"an empty key", ""},
		{"a key of 64 KiB", strings.Repeat("k", tooLong)},
		{"a key that is too long", strings.Repeat("k", k.MaxLength+1)},
		{"a key of another format", "\u0001\t no key"},
	} {
		if bad.what == "a key that is too long" && k.MaxLength == 0 || bad.what == "a key of another format" && (k.Pattern == nil || k.Pattern.MatchString(bad.key)) {
			continue
		}
		a := t.call(o.withKey(bad.key))
		t.effects(0, do)
		t.refuses(a, do, bad.what)
	}
	t.longKeys(o)
}

// longKeys uses two keys that differ in their last character alone.
func (t *trial) longKeys(o operation) {
	n := t.Spec.Key.MaxLength
	if n == 0 || t.over() {
		return
	}
	first := t.keyLike(func(string) bool { return true })
	if len(first) < n {
		first = strings.Repeat(first, n/len(first)+1)[:n-1] + "1"
	}
	second := first[:len(first)-1] + "2"
	if first == second {
		second = first[:len(first)-1] + "3"
	}
	if !t.keyFits(first) || !t.keyFits(second) {
		t.note("no two long keys are known that differ in the last character alone")
		return
	}
	const do = "keep keys whole, up to the declared length"
	t.succeed(t.call(o.withKey(first)))
	t.effects(1, do)
	if t.Spec.Prepare != nil {
		o = t.operation()
	}
	t.call(o.withKey(second))
	t.effects(2, do)
}

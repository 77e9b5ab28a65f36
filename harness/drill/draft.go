package drill

import (
	"github.com/go-json-experiment/json/jsontext"
)

func needPrepare(s *setting) string {
	if s.Spec.Prepare == nil {
		return "the tool commits no draft; name the one that makes it under prepare"
	}
	return ""
}

func drafts() invariant {
	return invariant{
		id: "I17", title: "a draft has no effect, and a commit needs a live one that fits",
		why:   "what a person has confirmed is the draft, not whatever is sent afterwards",
		needs: needPrepare,
		run: func(t *trial) {
			t.onlyPrepared()
			t.unknownDraft()
			t.committedTwice()
			t.changedAfter()
		},
	}
}

func (t *trial) onlyPrepared() {
	const do = "let prepare check and price, and store nothing but the draft"
	p := t.Spec.Prepare
	o := operation{tool: p.Tool, args: p.Args, field: p.Key}
	if p.Key != "" {
		o.key = t.newKey()
	}
	one, first := t.prepared(o)
	two, again := t.prepared(o)
	t.effects(0, do)
	if !t.over() && p.Key != "" && string(one) != string(two) {
		t.breach("answer a repeated prepare with the same draft", "the same key makes two drafts: %s, then %s", first.String(), again.String())
	}
}

func (t *trial) unknownDraft() {
	const do = "commit nothing but a draft that is there"
	o := t.operation()
	id := jsontext.Value(`"no-such-draft"`)
	if members(o.args)[t.Spec.Prepare.Into].Kind() == '0' {
		id = jsontext.Value("999999999")
	}
	a := t.call(o.withArgs(with(o.args, t.Spec.Prepare.Into, id)))
	t.effects(0, do)
	t.refuses(a, do, "a draft that does not exist")
}

func (t *trial) committedTwice() {
	const do = "mark the draft as committed in the transaction of the effect, and commit it once whatever the key"
	o := t.operation()
	t.succeed(t.call(o))
	t.effects(1, do)
	t.call(o)
	t.effects(1, do)
	if o.field != "" && !t.over() {
		t.call(o.withKey(t.newKey()))
		t.effects(1, do)
	}
}

func (t *trial) changedAfter() {
	p := t.Spec.Prepare
	if p.Changed == nil {
		t.note("the commit takes nothing that could be changed after the draft; else name it under changed")
		return
	}
	const do = "compare what is committed with the draft, and refuse what was changed"
	o := t.operation()
	had := t.made()
	a := t.call(o.withArgs(merge(o.args, p.Changed)))
	t.effects(had, do)
	t.refuses(a, do, "a commit with changed arguments")
}

func draftExpiry() invariant {
	return invariant{
		id: "I17", form: "expired", title: "an expired draft is not committed",
		why: "prices and stock have changed since somebody has confirmed it",
		needs: func(s *setting) string {
			switch {
			case needPrepare(s) != "":
				return needPrepare(s)
			case s.Spec.Prepare.Expiry == 0:
				return "no expiry of drafts is declared"
			case !s.can.Clock || !s.can.Restart:
				return "the server's clock cannot be moved: it declares no hook for it; see RETAKE_CLOCK_OFFSET"
			}
			return ""
		},
		run: func(t *trial) {
			const do = "store when a draft ends, and refuse it afterwards"
			o := t.operation()
			life := t.Spec.Prepare.Expiry
			t.reopen(Start{ClockOffset: life + life/10})
			a := t.call(o)
			t.effects(0, do)
			t.refuses(a, do, "an expired draft")
		},
	}
}

func batch() invariant {
	return invariant{
		id: "I20", title: "of a batch that was partly done only the rest is done again",
		why: "the caller sends the whole batch again: it knows no other way",
		needs: func(s *setting) string {
			b := s.Spec.Batch
			switch {
			case b == nil:
				return "the tool does one thing at a time; a batch is named under batch"
			case b.Fail != "" && !s.can.Restart:
				return needRestart(s)
			}
			return needKey(s)
		},
		run: partly,
	}
}

func partly(t *trial) {
	const do = "record each item under the batch's key and its place, and skip on a repeat what is done"
	b := t.Spec.Batch
	o := operation{tool: t.Spec.Tool, args: b.Args, field: t.Spec.Key.Field, key: t.newKey()}
	t.reopenWith(b.Fail)
	t.call(o)
	done := t.made()
	good := b.Items - b.Bad
	switch {
	case t.over():
		return
	case b.Fail == "" && done == 0:
		t.breach("do the items that can be done, and say which could not", "nothing of the batch was done, and %d of %d items can be", good, b.Items)
		return
	case b.Fail != "" && done >= b.Items:
		t.inapplicable("all items are done though %s is broken", b.Fail)
		return
	}
	if b.Fail != "" {
		t.reopen(Start{})
	}
	t.call(o)
	t.atMost(good, do)
	if b.Fail != "" {
		t.effects(good, do+"; what was not done is due")
	} else if !t.over() && t.made() < done {
		t.breach(do, "the repeat has undone something: %s, then %s", effects(done), effects(t.made()))
	}
	t.call(o)
	t.atMost(good, do)
	if b.Fail != "" && done == 0 {
		t.inapplicable("nothing was done with %s broken, so there is no part that could be done again; break it for some items only", b.Fail)
	}
}

func (t *trial) reopenWith(dependency string) {
	if dependency != "" {
		t.reopen(Start{Fail: dependency})
	}
}

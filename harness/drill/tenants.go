package drill

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
)

func noToken() invariant    { return token("T1", "without a token nobody comes in", NoToken) }
func wrongToken() invariant { return token("T2", "with a wrong token nobody comes in", WrongToken) }

func token(id, title string, what Token) invariant {
	return invariant{
		id: id, title: title, why: "authentication belongs at the entrance",
		needs: func(s *setting) string {
			if !s.can.Entrance {
				return "the tool is not reached over HTTP with a token"
			}
			return ""
		},
		run: func(t *trial) {
			t.need()
			door, ok := t.world.(Entrance)
			if !ok && !t.over() {
				t.broken(failure.Errorf(failure.Internal, "the target has an entrance, its world has none"))
			}
			if t.over() {
				return
			}
			limited, cancel := clock.WithTimeout(t.ctx, t.Timeout)
			defer cancel()
			status, err := door.Knock(limited, what)
			if err != nil {
				t.broken(err)
				return
			}
			t.step(Step{Do: "a request with " + string(what), Answer: "HTTP " + http.StatusText(status)})
			if status != http.StatusUnauthorized {
				t.breach("answer 401 before anything else is looked at", "with %s the answer is HTTP %d %s, not 401", what, status, http.StatusText(status))
			}
		},
	}
}

func foreignObjects() invariant {
	return invariant{
		id: "T3", title: "what one principal has made is not shown to another",
		why: "a valid token says who somebody is, not what is theirs",
		needs: func(s *setting) string {
			if len(s.Spec.Looks) == 0 {
				return "no way is named in which one could look at what was made; name reading tools under looks"
			}
			return needTenants(s)
		},
		run: func(t *trial) {
			o := t.operation()
			made := t.succeed(t.call(o))
			if t.over() {
				return
			}
			for _, l := range t.Spec.Looks {
				t.look(l, made)
			}
		},
	}
}

// look lets the owner see it, and then the other one try.
func (t *trial) look(l Look, made answer) {
	found := l.From.Find(jsontext.Value(made.res.Content))
	if len(found) == 0 {
		t.inapplicable("the result has no id at %q: %s", l.From, brief(made.res.Content))
		return
	}
	o := operation{tool: l.Tool, args: l.Args}
	if len(o.args) == 0 {
		o.args = jsontext.Value("{}")
	}
	if l.Into != "" {
		o.args = with(o.args, l.Into, found[0])
	}
	owner := t.call(o)
	if !t.over() && (!owner.ok() || !shows(owner, found[0])) {
		t.inapplicable("%s does not show its owner what was made, so it tells nothing: %s", l.Tool, owner.String())
		return
	}
	t.reopen(Start{Principal: t.can.Principals[1]})
	t.recount()
	other := t.call(o)
	if !t.over() && other.ok() && shows(other, found[0]) {
		t.breach("look for the owner where the data is read, not only at the entrance", "%s shows %s what belongs to %s: %s", l.Tool, t.can.Principals[1], t.can.Principals[0], other.String())
	}
	t.reopen(Start{})
	t.recount()
}

// shows tells whether an answer has the id in it, at any place, as a word of its
// own: order-1 is not shown by order-12.
func shows(a answer, id jsontext.Value) bool {
	text := string(id)
	if json.Unmarshal(id, &text) != nil {
		text = string(id)
	}
	word := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	for rest := a.res.Content; text != ""; {
		before, after, found := strings.Cut(rest, text)
		if !found {
			return false
		}
		if (before == "" || !word(before[len(before)-1])) && (after == "" || !word(after[0])) {
			return true
		}
		rest = rest[len(before)+1:]
	}
	return false
}

func foreignDrafts() invariant {
	return invariant{
		id: "T4", title: "a draft is committed by the one who has made it",
		why: "a draft's id may be guessed, or have been in a log",
		needs: func(s *setting) string {
			if why := needPrepare(s); why != "" {
				return why
			}
			return needTenants(s)
		},
		run: func(t *trial) {
			const do = "store the owner with the draft, and refuse it to others as if it were not there"
			o := t.operation()
			t.reopen(Start{Principal: t.can.Principals[1]})
			t.recount()
			a := t.call(o)
			t.effects(0, do)
			t.refuses(a, do, "a draft of another principal")
		},
	}
}

package fault

import (
	"cmp"
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// duplicateCall is the same call made twice under two ids, in one turn or in the
// next. In real life a model that is not sure whether it was heard asks again, and
// the customer pays twice. A right program has one effect for one logical
// operation, answers both ids, and does not merge two calls that are meant.
var duplicateCall = Fault{
	Name:   "model.duplicate_call",
	What:   "the model makes a call twice under two ids: in one turn, or again in the next",
	Breaks: "the effect happens twice",
	Right:  "one effect, and both ids answered",
	Takes:  []Param{{"kind", kindTurn}},
	Kinds:  []string{kindTurn, kindNext},
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		if s.Params.Kind == kindNext {
			return rewritable(p, s)
		}
		return cmp.Or(rewritable(p, s), p.alone())
	},
	model: func(s *strike) (*http.Response, error) {
		if s.params().Kind == kindNext {
			return s.repeatNext()
		}
		return s.rewrite(func(r *wire.Response) {
			n := plainCalls(r.Message.Blocks)[0]
			r.Message.Blocks = insert(r.Message.Blocks, n+1, s.again(r.Message.Blocks[n], "again", 1))
		})
	},
}

// The turns in which the second call comes.
const (
	kindTurn = "turn"
	kindNext = "next"
)

// repeatNext lets the turn through, and answers the next model call with it again.
func (s *strike) repeatNext() (*http.Response, error) {
	if !s.repeats {
		s.later = true
		return nil, nil //nolint:nilnil // later says that there is no answer yet
	}
	return s.rewrite(func(r *wire.Response) { s.restate(r, "again", 1) })
}

// restate makes the turn one that the model makes once more, as its n-th.
func (s *strike) restate(r *wire.Response, mark string, n int) {
	r.ID = freshID(r.ID, mark, n)
	r.Message.Blocks = restated(s.held.place.API, r.Message.Blocks, mark, n)
}

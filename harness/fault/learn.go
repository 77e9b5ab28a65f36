package fault

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// learn takes from an answer that goes through what is asked of it: its place for
// a survey, the order of its calls where goroutines may change it.
func (i *Injector) learn(s *strike, h *held) {
	if h.place == nil {
		h.place = i.placeOf(s, h)
	}
	if h.status >= http.StatusBadRequest {
		return
	}
	if i.opts.Survey {
		p := *h.place
		p.survey(h)
		i.survey(p)
	}
	i.order(h.place.calls())
}

// order numbers the calls of a turn as the model made them. Those that the schema
// refuses never reach their tool, and have no number.
func (i *Injector) order(calls []wire.Block) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range calls {
		if spec := i.specs[c.Name]; c.ID != "" && spec != nil && len(spec.Input.Check(c.Args)) == 0 {
			i.byID[c.ID] = i.next(c.Name)
		}
		i.turns[c.ID] = len(calls) - 1
	}
}

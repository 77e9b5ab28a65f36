package fault

import (
	"slices"
	"sync"

	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// guesses are the turns of a run that no recording has.
type guesses struct {
	mu    sync.Mutex
	turns []madeUp
	count int
}

// madeUp is a turn with one call, and the answer to the request that brings its
// result.
type madeUp struct {
	call wire.Block
	then *held
}

func (g *guesses) add(turns []madeUp) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns = append(g.turns, turns...)
}

// number counts the made-up turns, for ids that are there only once.
func (g *guesses) number() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	return g.count
}

func (g *guesses) all() []madeUp {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.turns)
}

// continueGuess looks for made-up turns in the request's history. Where the newest
// turn is one, the next try is the answer; else the request is passed on without
// them, so that its recording is found.
func (i *Injector) continueGuess(s *strike) error {
	turns := i.guesses.all()
	if len(turns) == 0 {
		return nil
	}
	c, ok := codec.For(s.api())
	if !ok {
		return nil
	}
	q, err := c.DecodeRequest(s.req.URL.String(), s.body)
	if err != nil {
		return nil //nolint:nilerr // what is no request of the API has no made-up turns
	}
	then, found := splice(q, turns)
	switch {
	case then != nil:
		i.keep(s.call, then)
		return nil
	case !found:
		return nil
	}
	text, err := c.EncodeRequest(nil, q)
	if err != nil {
		return err
	}
	s.req.Body, s.req.ContentLength = body.Of(text), int64(len(text))
	return nil
}

// splice takes the made-up turns and their results out of the request. then is
// what follows on the newest turn, when that is made up.
func splice(q *wire.Request, turns []madeUp) (then *held, found bool) {
	kept := make([]wire.Message, 0, len(q.Messages))
	var pending []wire.Block // calls whose results are still to come
	for _, m := range q.Messages {
		if m.Role != wire.RoleAssistant {
			before := len(m.Blocks)
			m.Blocks, pending = withoutResults(m.Blocks, pending)
			if len(m.Blocks) > 0 || before == 0 {
				kept = append(kept, m)
			}
			continue
		}
		turn := find(turns, &m)
		if turn == nil {
			then, pending = nil, nil
			kept = append(kept, m)
			continue
		}
		then, found = turn.then, true
		pending = callsOf(&m)
	}
	q.Messages = kept
	return then, found
}

func callsOf(m *wire.Message) []wire.Block {
	return (&wire.Response{Message: *m}).Calls()
}

// find is the made-up turn that the message is, nil for none; of equal ones the
// newest.
func find(turns []madeUp, m *wire.Message) *madeUp {
	calls := callsOf(m)
	if len(calls) != 1 {
		return nil
	}
	for n := len(turns) - 1; n >= 0; n-- {
		if t := &turns[n]; t.is(&calls[0]) {
			return t
		}
	}
	return nil
}

// is tells whether the call is the turn's: by its id, and where the API gave none
// by what it asks for.
func (t *madeUp) is(b *wire.Block) bool {
	if t.call.ID != "" {
		return b.ID == t.call.ID
	}
	return callKey(t.call.Name, "", t.call.Args) == callKey(b.Name, "", b.Args)
}

// withoutResults drops the results of the calls; left are those that were not
// answered here. A result without an id answers the first.
func withoutResults(blocks, calls []wire.Block) (kept, left []wire.Block) {
	if len(calls) == 0 {
		return blocks, nil
	}
	left = slices.Clone(calls)
	for _, b := range blocks {
		n := -1
		if b.Kind == wire.KindToolResult {
			n = slices.IndexFunc(left, func(c wire.Block) bool { return b.ID == "" || c.ID == "" || b.ID == c.ID })
		}
		if n < 0 {
			kept = append(kept, b)
			continue
		}
		left = slices.Delete(left, n, n+1)
	}
	return kept, left
}

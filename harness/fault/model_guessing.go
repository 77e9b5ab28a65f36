package fault

import (
	"cmp"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// guessing is a model that has to guess at a schema. In real life, on complex
// schemas, about every third call is malformed, and the model gets it right at the
// second or third try; a program that runs what it can of each try has several
// effects for one operation. A right loop rejects the malformed tries, field by
// field, and has one effect.
//
// It is a profile: it strikes several turns of a run. The first that it can strike
// always is, each later one by the chance. The model then makes one call of that
// turn, the first whose schema refuses something, with one field broken, once or
// twice, each time in another way; the last try is the recorded turn. The made-up
// turns are taken out of the requests before they are looked up, so the run goes
// on with the same recordings.
var guessing = Fault{
	Name:    "model.guessing",
	What:    "three in ten of the turns with calls take two or three tries, all but the last malformed",
	Breaks:  "a try that was malformed has an effect, or the run ends at the first",
	Right:   "each malformed try rejected with its field; at most one effect",
	profile: true,
	fits: func(p *Place, s *Spec) string {
		switch {
		case p.guessed:
			return "the answer is one of several tries already"
		case p.Asked == nil || p.Asked.Continues:
			return "the request goes on from what the provider keeps, where made-up turns are not"
		}
		if why := rewritable(p, s); why != "" {
			return why
		}
		if n, _ := p.broken(""); n < 0 {
			return "no called tool has a schema that refuses something"
		}
		return ""
	},
	model: func(s *strike) (*http.Response, error) {
		if len(s.injector.guesses.all()) > 0 && s.injector.draw(s.armed, s.at) >= cmp.Or(s.armed.Chance, defaultChance) {
			return s.unfit("it was not drawn")
		}
		return s.guess()
	},
}

const defaultChance = 0.3

// guess answers with the first malformed try, and keeps the others.
func (s *strike) guess() (*http.Response, error) {
	n, _ := s.held.place.broken("")
	ways := s.waysToBreak(&s.held.place.Answer.Message.Blocks[n])
	tries := make([]*held, 0, len(ways)+1)
	turns := make([]madeUp, 0, len(ways))
	for _, args := range ways {
		h, turn, err := s.malformed(n, args)
		if err != nil {
			return nil, err
		}
		tries, turns = append(tries, h), append(turns, turn)
	}
	tries = append(tries, s.lastTry())
	for k := range turns {
		turns[k].then = tries[k+1]
	}
	s.injector.guesses.add(turns)
	return tries[0].response(s.req), nil
}

// lastTry is the turn as it was recorded, which is not guessed at again.
func (s *strike) lastTry() *held {
	h := *s.held
	h.guessed, h.place = true, nil
	return &h
}

// waysToBreak are the arguments of the malformed tries: one or two, by the seed,
// each broken in another way where the schema refuses several.
func (s *strike) waysToBreak(call *wire.Block) []jsontext.Value {
	ways := breaksOfEachKind(s.held.place.Decls[call.Name], call.Args)
	first := int(s.injector.draw(s.armed, Address{Tool: "first try", Call: s.at.Call}) * float64(len(ways)))
	out := []jsontext.Value{ways[first]}
	if len(ways) > 1 && s.injector.draw(s.armed, Address{Tool: "second try", Call: s.at.Call}) < chanceOfASecond {
		out = append(out, ways[(first+1)%len(ways)])
	}
	return out
}

const chanceOfASecond = 0.5

// breaksOfEachKind is one way to break the arguments of each kind; where there is
// but one kind, two of it if the schema refuses two.
func breaksOfEachKind(spec *tool.Spec, args jsontext.Value) []jsontext.Value {
	var ways []jsontext.Value
	var only string
	for _, kind := range breakages {
		for broken := range breaks(kind, spec, args) {
			ways, only = append(ways, broken), kind
			break
		}
	}
	if len(ways) == 1 {
		for broken := range breaks(only, spec, args) {
			if string(broken) != string(ways[0]) {
				return append(ways, broken)
			}
		}
	}
	return ways
}

// malformed is the turn with call n alone, its arguments broken.
func (s *strike) malformed(n int, args jsontext.Value) (*held, madeUp, error) {
	p, number := s.held.place, s.injector.guesses.number()
	r := *p.Answer
	var kept []wire.Block
	for k, b := range r.Message.Blocks {
		if k == n {
			b = changed(b, args)
		} else if b.Kind == wire.KindToolCall {
			continue
		}
		kept = append(kept, b)
	}
	r.Message.Blocks = restated(p.API, kept, "try", number)
	r.ID, r.Problems = freshID(r.ID, "try", number), nil
	s.stop(&r, wire.StopToolCalls, "")
	text, err := s.codec().EncodeResponse(nil, &r, p.Stream)
	if err != nil {
		return nil, madeUp{}, err
	}
	h := &held{status: s.held.status, header: s.held.header, body: text, took: s.held.took, guessed: true}
	return h, madeUp{call: r.Calls()[0]}, nil
}

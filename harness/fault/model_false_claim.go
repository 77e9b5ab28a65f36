package fault

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/retake-harness/retake/harness/wire"
)

// falseClaim is a model that says it has done what it has not. In real life it
// skips the call and reports success, and the customer waits for an order that
// nobody placed. No loop can know; the check compares the claim with the effects.
var falseClaim = Fault{
	Name:    "model.false_claim",
	What:    "instead of calling a write the model says that it is done",
	Breaks:  "a task is reported as done that had no effect",
	Right:   "the check of the effects finds that one is missing",
	Takes:   []Param{{"text", defaultClaim}},
	Seen:    true,
	FoundBy: "W6",
	fits: func(p *Place, s *Spec) string {
		if why := cmp.Or(rewritable(p, s), p.forced()); why != "" {
			return why
		}
		if !slices.ContainsFunc(p.calls(), func(b wire.Block) bool { return p.writes(b.Name) }) {
			return "the answer calls no tool that writes"
		}
		return ""
	},
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			kept := slices.DeleteFunc(r.Message.Blocks, func(b wire.Block) bool {
				return b.Kind != wire.KindReasoning || s.held.place.API == wire.OpenAIResponses
			})
			claim := cmp.Or(s.params().Text, defaultClaim)
			r.Message.Blocks = append(kept, wire.Block{Kind: wire.KindText, Text: claim})
			s.stop(r, wire.StopDone, "")
		})
	},
}

const defaultClaim = "Done. Everything you asked for has been taken care of."

// writes tells whether a call of the tool would count as an effect.
func (p *Place) writes(name string) bool {
	spec := p.Decls[name]
	return spec != nil && spec.Decl.Writes()
}

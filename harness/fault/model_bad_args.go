package fault

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
)

// badArgs is a call whose arguments the tool's schema refuses. In real life models
// leave out what they do not know, write numbers as words and invent members, the
// more the larger the schema. A right loop rejects the call before the tool gets
// it, and says which field is wrong.
var badArgs = Fault{
	Name:   "model.bad_args",
	What:   "an argument is missing, of the wrong type, not allowed, or out of range",
	Breaks: "the tool works with half of its arguments, or breaks down on them",
	Right:  "rejected before the tool, with the field and what is wrong with it; no effect",
	Takes:  []Param{{"kind", "the first that the tool's schema refuses"}},
	Kinds:  breakages,
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		if why := rewritable(p, s); why != "" {
			return why
		}
		if n, _ := p.broken(s.Params.Kind); n < 0 {
			return "no called tool has a schema that refuses such arguments"
		}
		return ""
	},
	model: func(s *strike) (*http.Response, error) {
		n, args := s.held.place.broken(s.params().Kind)
		return s.rewrite(func(r *wire.Response) {
			r.Message.Blocks[n] = changed(r.Message.Blocks[n], args)
		})
	},
}

// broken finds the first call whose schema refuses arguments of the kind, any with
// "", and these arguments; -1 for none.
func (p *Place) broken(kind string) (block int, args jsontext.Value) {
	kinds := breakages
	if kind != "" {
		kinds = []string{kind}
	}
	for _, n := range plainCalls(p.Answer.Message.Blocks) {
		b := &p.Answer.Message.Blocks[n]
		for _, kind := range kinds {
			for args := range breaks(kind, p.Decls[b.Name], b.Args) {
				return n, args
			}
		}
	}
	return -1, nil
}

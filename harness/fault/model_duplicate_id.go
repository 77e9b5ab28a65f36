package fault

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// duplicateID is a turn with two calls under one id. In real life models and
// gateways that number their calls begin anew. Sent back as it is, the provider
// refuses the conversation; a program that keeps results by id loses one. A right
// loop does not run the second one under the id of the first.
var duplicateID = Fault{
	Name:   "model.duplicate_id",
	What:   "two calls of a turn have one id: the first two, or the only one twice",
	Breaks: "one call runs twice, or its result answers the wrong call",
	Right:  "not run twice, and not sent back as it is",
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		if why := rewritable(p, s); why != "" {
			return why
		}
		calls := plainCalls(p.Answer.Message.Blocks)
		switch {
		case p.Answer.Message.Blocks[calls[0]].ID == "":
			return "the API gave the call no id"
		case len(calls) == 1:
			return p.alone()
		}
		return ""
	},
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			calls := plainCalls(r.Message.Blocks)
			first := r.Message.Blocks[calls[0]]
			if len(calls) == 1 {
				second := s.again(first, "again", 1)
				second.ID = first.ID
				r.Message.Blocks = insert(r.Message.Blocks, calls[0]+1, second)
				return
			}
			second := &r.Message.Blocks[calls[1]]
			second.ID, second.Raw = first.ID, nil
		})
	},
}

// insert puts blocks in front of block n.
func insert(blocks []wire.Block, n int, more ...wire.Block) []wire.Block {
	out := append([]wire.Block(nil), blocks[:n]...)
	return append(append(out, more...), blocks[n:]...)
}

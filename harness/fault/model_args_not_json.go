package fault

import (
	"net/http"
	"slices"

	"github.com/retake-harness/retake/harness/wire"
)

// argsNotJSON is a call whose argument text ends in the middle, in a turn that
// claims to be whole. In real life models that stream their arguments freely send
// text that is no JSON, and several programs put {} in its place: a call that was
// never made. A right loop rejects the call as it does bad arguments.
var argsNotJSON = Fault{
	Name:   "model.args_not_json",
	What:   "the argument text of a call is no JSON: it ends in the middle",
	Breaks: "{} takes its place, and the tool runs with its defaults",
	Right:  "rejected before the tool; never {} in its place",
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		if p.structured() {
			return "the API sends arguments as JSON within its own, which cannot be unreadable"
		}
		return rewritable(p, s)
	},
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			b := &r.Message.Blocks[plainCalls(r.Message.Blocks)[0]]
			*b = cutShort(*b)
		})
	},
}

// structured tells that arguments travel as JSON and not as text.
func (p *Place) structured() bool {
	return p.API == wire.GeminiGenerate || p.API == wire.AnthropicMessages && !p.Stream
}

// cutShort is the call with its argument text cut in the middle.
func cutShort(b wire.Block) wire.Block {
	text := slices.Clone(b.Args)
	b.Args, b.ArgsText, b.Raw = nil, string(text[:max(1, len(text)/2)]), nil //nolint:mnd // half of it
	return b
}

package fault

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/retake-harness/retake/harness/wire"
)

// unknownTool is a call of a tool that was not declared. In real life a model
// remembers a tool from its training or from an earlier version of the prompt; a
// program that looks it up without a check breaks down. A right loop answers the
// call with an error and goes on.
var unknownTool = Fault{
	Name:   "model.unknown_tool",
	What:   "the model calls a tool that was not declared",
	Breaks: "the run breaks down on a name that is not there, or the call stays without an answer",
	Right:  "an error result for that id; the loop goes on, with no effect",
	Takes:  []Param{{"text", "the called tool's name, with _legacy behind it"}},
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		switch {
		case p.declares(s.Params.Text):
			return fmt.Sprintf("the tool %q is declared; give a name that is not", s.Params.Text)
		case p.Asked != nil && p.Asked.ToolChoice.Mode == wire.ChoiceTool:
			return "the request says which tool is called"
		}
		return rewritable(p, s)
	},
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			b := &r.Message.Blocks[plainCalls(r.Message.Blocks)[0]]
			name := cmp.Or(s.params().Text, b.Name+"_legacy")
			for s.held.place.declares(name) {
				name += "_legacy"
			}
			b.Name, b.Raw = name, nil
		})
	},
}

// declares tells whether the model was told of a tool.
func (p *Place) declares(name string) bool {
	return p.Asked != nil && slices.ContainsFunc(p.Asked.Tools, func(t wire.Tool) bool { return t.Name == name }) || p.Decls[name] != nil
}

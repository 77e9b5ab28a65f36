package fault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// Place is where a fault can strike: a model call or a tool call as it goes
// without a fault. It is read-only and may be shared.
type Place struct {
	Side Side
	Call int // as in Address: the model call, or the call of this tool

	// Of a model call.

	API    wire.API
	Asked  *wire.Request  // nil when no codec knows the request
	Answer *wire.Response // nil when it cannot be read
	Status int
	Stream bool
	Events int   // of the stream
	Bounds []int // the events with which a block of the answer is complete, ascending
	// Decls are the tools of the run by name.
	Decls   map[string]*tool.Spec
	guessed bool // the answer is one of the tries of a turn

	// Of a tool call.

	Spec     *tool.Spec
	Args     string // the arguments as the tool gets them
	Result   tool.Result
	Siblings int // other calls of the same turn; only in a survey
}

// Decl is the declaration of the place's tool.
func (p *Place) Decl() *tool.Decl { return &p.Spec.Decl }

// calls are the client tool calls of the answer; nil without one.
func (p *Place) calls() []wire.Block {
	if p.Answer == nil {
		return nil
	}
	return p.Answer.Calls()
}

// readable is what every rewriting fault needs.
func readable(p *Place, _ *Spec) string {
	switch {
	case p.Answer == nil:
		return "the answer cannot be read"
	case p.Answer.Err != nil:
		return "the answer is an error already"
	case !p.Answer.Complete:
		return "the answer is cut already"
	}
	return ""
}

// rewritable is what a fault needs that changes a call: that the answer makes one
// whose arguments are JSON.
func rewritable(p *Place, s *Spec) string {
	if why := readable(p, s); why != "" {
		return why
	}
	if slices.ContainsFunc(p.Answer.Message.Blocks, plainCall) {
		return ""
	}
	return "the answer calls no tool"
}

// alone says why a turn cannot have a further call: the provider keeps to what the
// request allows, so such a turn never comes.
func (p *Place) alone() string {
	if p.Asked != nil && p.Asked.ToolChoice.NoParallel {
		return "the request allows one call in a turn"
	}
	return ""
}

// forced says why a turn cannot be without a call.
func (p *Place) forced() string {
	if p.Asked != nil && (p.Asked.ToolChoice.Mode == wire.ChoiceAny || p.Asked.ToolChoice.Mode == wire.ChoiceTool) {
		return "the request forces a call"
	}
	return ""
}

// plainCall tells the calls that can be rewritten. Those of tools with free text
// as their input cannot.
func plainCall(b wire.Block) bool { return b.Kind == wire.KindToolCall && b.Args != nil }

// plainCalls are the places of these calls among the blocks.
func plainCalls(blocks []wire.Block) []int {
	var out []int
	for n := range blocks {
		if plainCall(blocks[n]) {
			out = append(out, n)
		}
	}
	return out
}

// String spells a place: call 2 attempt 1 event 7, get_weather call 1.
func (a Address) String() string {
	var b strings.Builder
	b.WriteString(a.Tool)
	add := func(word string, n int) {
		if n != 0 {
			fmt.Fprintf(&b, " %s %d", word, n)
		}
	}
	if a.Call == Every {
		b.WriteString(" every call")
	} else {
		add("call", a.Call)
	}
	add("attempt", a.Attempt)
	add("event", a.Event)
	return strings.TrimSpace(b.String())
}

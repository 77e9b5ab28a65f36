package contract

import (
	"fmt"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
)

// run is the evidence, sorted for the rules, and the place where the rule at
// work puts what it finds.
type run struct {
	Evidence
	Terms    Terms
	requests []*journal.ModelAttempt // those whose request could be read
	answers  []*journal.ModelAttempt // those with an answer that is no error, or a part of one
	turns    []*journal.ModelAttempt // of these, the ones whose answer is whole

	sources map[int]source                     // by the call's number, once asked for
	asks    map[*journal.ModelAttempt][]string // see whats

	rule  Rule
	found []Breach
}

func newRun(t Terms, e Evidence) *run {
	r := &run{Evidence: e, Terms: t}
	for _, m := range e.Models {
		if m.Request != nil {
			r.requests = append(r.requests, m)
		}
		if m.Request != nil && m.Response != nil && m.Response.Err == nil {
			r.answers = append(r.answers, m)
			if m.Response.Complete {
				r.turns = append(r.turns, m)
			}
		}
	}
	return r
}

// breach writes a finding down, once: a defect of a block stays in the history and
// is sent again with every later request.
func (r *run) breach(b Breach) {
	b.Rule = r.rule
	if b.Part == "" {
		b.Part = failure.PartAgent
	}
	for _, f := range r.found {
		if f.What == b.What && f.Block == b.Block && (b.Block != "" || f.Request == b.Request) {
			return
		}
	}
	r.found = append(r.found, b)
}

// block is the place of a block in a request.
func block(message, index int) string { return fmt.Sprintf("messages/%d/%d", message, index) }

// calls are the tool calls of a message, with their places.
func calls(m *wire.Message, kind wire.Kind) (blocks []*wire.Block, at []int) {
	for i := range m.Blocks {
		if m.Blocks[i].Kind == kind {
			blocks, at = append(blocks, &m.Blocks[i]), append(at, i)
		}
	}
	return blocks, at
}

// name is how a breach names a call.
func name(b *wire.Block) string {
	if b.ID == "" {
		return b.Name
	}
	if b.Name == "" {
		return fmt.Sprintf("%q", b.ID)
	}
	return fmt.Sprintf("%s (%q)", b.Name, b.ID)
}

// sameCall is a key that is equal for calls of one tool with equal arguments.
func sameCall(tool string, args []byte, text string) string {
	if args == nil {
		return tool + " " + text
	}
	c, err := jsondoc.Canonical(nil, args)
	if err != nil {
		return tool + " " + string(args)
	}
	return tool + " " + string(c)
}

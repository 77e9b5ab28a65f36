package harness

import (
	"context"
	"fmt"
	"sync"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// person decides as the scenario's script says; where it says nothing, somebody
// else is asked.
type person struct {
	script []scenario.Approval
	ask    func(ctx context.Context, c tool.Call) (bool, error) // nil: nobody is there

	mu    sync.Mutex
	asked map[string]int // by tool
	used  map[int]bool   // entries of the script
	late  map[string]bool
}

func newPerson(p *Params) *person {
	return &person{script: p.Scenario.Approvals, ask: p.Approve, asked: map[string]int{}, used: map[int]bool{}, late: map[string]bool{}}
}

// decide answers for one call.
func (p *person) decide(ctx context.Context, c tool.Call) (tool.Decision, error) {
	a := p.scripted(c.Tool)
	if a == nil {
		if p.ask == nil {
			return tool.Decision{}, nil
		}
		ok, err := p.ask(ctx, c)
		return tool.Decision{Approved: ok}, err
	}
	switch a.Decision {
	case scenario.DecideApprove:
		return tool.Decision{Approved: true}, nil
	case scenario.DecideEdit:
		return tool.Decision{Approved: true, Args: a.Args}, nil
	case scenario.DecideDeny:
		return tool.Decision{Reason: "a person has refused this call"}, nil
	case scenario.DecideLate:
		return p.later(&c), nil
	default: // never
		return tool.Decision{}, nil
	}
}

// scripted counts the call and finds what is said of it: of this call first, then
// of each.
func (p *person) scripted(name string) *scenario.Approval {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[name]++
	each := -1
	for i := range p.script {
		switch a := &p.script[i]; {
		case a.Tool != name:
		case a.Call == p.asked[name]:
			p.used[i] = true
			return a
		case a.Call == 0:
			each = i
		}
	}
	if each < 0 {
		return nil
	}
	p.used[each] = true
	return &p.script[each]
}

// unasked fails the run for the decisions that nobody has asked for.
func (w *world) unasked() {
	for i := range w.person.script {
		a := &w.person.script[i]
		if w.person.used[i] || a.Call == 0 && w.person.asked[a.Tool] > 0 { // what is said of all other calls may be about none
			continue
		}
		which := "a call"
		if a.Call > 0 {
			which = fmt.Sprintf("call %d", a.Call)
		}
		w.fail(Failure{
			Class: failure.Expectation, Part: w.speaker(), What: fmt.Sprintf("nobody asked for the decision %s about %s of %s", a.Decision, which, a.Tool),
			Why: "what is decided about a call that is not made decides nothing", Next: "drop the entry, or mend what keeps the call from being made",
		}, fmt.Sprintf("approvals[%d]", i))
	}
}

// later refuses a call at first: the answer comes when it is over, and holds for
// the same call when it is made again.
func (p *person) later(c *tool.Call) tool.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := c.Tool + "\x00" + jsondoc.Hash(c.Args)
	if p.late[key] {
		return tool.Decision{Approved: true}
	}
	p.late[key] = true
	return tool.Decision{Reason: "nobody has answered in time whether this call may be made; it was not made"}
}

package harness

import (
	"context"
	"sync"

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
	late  map[string]bool
}

func newPerson(p *Params) *person {
	return &person{script: p.Scenario.Approvals, ask: p.Approve, asked: map[string]int{}, late: map[string]bool{}}
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
	var each *scenario.Approval
	for i := range p.script {
		switch a := &p.script[i]; {
		case a.Tool != name:
		case a.Call == p.asked[name]:
			return a
		case a.Call == 0:
			each = a
		}
	}
	return each
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

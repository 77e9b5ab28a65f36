// Package contract holds a run against the rules that every agent loop has to
// keep, whatever its task: W1 to W16.
//
// Each rule says which evidence it needs: the wire (what was sent to the model),
// the tool seam (which calls reached a tool), the ledger (what they did).
// Without its evidence a rule is "not observable", and is shown as that, never
// as held. A breach names the rule, the request and the block, and says what the
// provider would have answered.
package contract

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
)

// Rule is the number of a rule: W1.
type Rule string

// State is what came out of a rule.
type State string

// The states.
const (
	Held          State = "held"
	Breached      State = "breached"
	NotObservable State = "not observable" // the evidence is missing
	NotApplicable State = "not applicable" // nothing in the run or its terms that the rule is about
)

// Finding is a rule and what came out of it.
type Finding struct {
	Rule     Rule
	Title    string
	State    State
	Breaches []Breach
}

// Breach is one place where a rule did not hold.
type Breach struct {
	Rule    Rule
	Request int    // ordinal of the HTTP attempt, 0 for none
	Block   string // where in the request or answer: messages/2/1; "" for none
	What    string
	// Provider is what the real API would have answered; "" when it would not
	// have noticed.
	Provider string
	Part     failure.Part
}

func (b Breach) String() string {
	s := string(b.Rule) + ": "
	if b.Request > 0 {
		s += fmt.Sprintf("request %d", b.Request)
		if b.Block != "" {
			s += ", " + b.Block
		}
		s += ": "
	}
	s += b.What
	if b.Provider != "" {
		s += fmt.Sprintf("; the API would have answered: %s", b.Provider)
	}
	return s
}

// Evidence is what was seen of the run.
type Evidence struct {
	Models   []*journal.ModelAttempt
	Attempts []*journal.ToolAttempt
	Calls    []*journal.ToolCall
	Ended    *journal.Ended // nil: not known how the run ended
	Elapsed  time.Duration
	// ToolSeam says that every tool call passed the harness.
	ToolSeam bool
	// Ledger has the effects by tool; nil when none was kept.
	Ledger map[string]int
}

// rule is a rule's place in the table. check gets what the rule needs prepared.
type rule struct {
	id    Rule
	title string
	need  func(*run) State // Held: go on and check
	check func(*run)
	whole bool // it is about all runs of a task together
}

// Check applies all rules, in their order.
func Check(t Terms, e Evidence) []Finding {
	r := newRun(t, e)
	out := make([]Finding, len(rules))
	for i := range rules {
		out[i] = r.apply(&rules[i])
	}
	return out
}

// CheckRuns applies the rules to a task that was run several times: to each run by
// itself, and where a rule is about what the runs come to together (its effects,
// its ids), to all of them.
func CheckRuns(t Terms, all Evidence, runs []Evidence) []Finding {
	out := Check(t, all)
	for i := range rules {
		if !rules[i].whole {
			out[i] = worst(&rules[i], t, runs)
		}
	}
	return out
}

// worst is what came of a rule in the run where it came to the worst, with the
// breaches of all.
func worst(rule *rule, t Terms, runs []Evidence) Finding {
	order := []State{NotObservable, NotApplicable, Held, Breached}
	f := Finding{Rule: rule.id, Title: rule.title, State: NotObservable}
	for _, e := range runs {
		one := newRun(t, e).apply(rule)
		f.Breaches = append(f.Breaches, one.Breaches...)
		if slices.Index(order, one.State) > slices.Index(order, f.State) {
			f.State = one.State
		}
	}
	return f
}

func (r *run) apply(rule *rule) Finding {
	f := Finding{Rule: rule.id, Title: rule.title, State: rule.need(r)}
	if f.State == Held {
		r.rule, r.found = rule.id, nil
		rule.check(r)
		f.Breaches = r.found
	}
	if len(f.Breaches) > 0 {
		f.State = Breached
	}
	return f
}

// Breaches are the breaches of all findings by request.
func Breaches(findings []Finding) []Breach {
	var out []Breach
	for _, f := range findings {
		out = append(out, f.Breaches...)
	}
	slices.SortStableFunc(out, func(a, b Breach) int { return cmp.Compare(a.Request, b.Request) })
	return out
}

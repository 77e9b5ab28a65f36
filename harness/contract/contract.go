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

// Terms are what was agreed for the run. A zero limit limits nothing.
type Terms struct {
	Iterations    int
	Tokens        int64
	ToolCalls     int
	Time          time.Duration
	Repeats       int             // times that one call may come with the same arguments
	ModelAttempts int             // HTTP attempts of one model call
	RetryAfterCap time.Duration   // a longer wait is not to be obeyed: the call is given up; 0: no bound
	Blocked       map[string]bool // tools that the policy refuses
	Secrets       []string        // values that must not be shown to the model
	Compaction    bool            // the agent may rewrite its history
	// Effects are the expected effects by tool; nil expects nothing of them.
	Effects    map[string]int
	TaskID     string
	AttemptIDs []string
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
}

// Check applies all rules, in their order.
func Check(t Terms, e Evidence) []Finding {
	r := newRun(t, e)
	out := make([]Finding, 0, len(rules))
	for _, rule := range rules {
		f := Finding{Rule: rule.id, Title: rule.title, State: rule.need(r)}
		if f.State == Held {
			r.rule, r.found = rule.id, nil
			rule.check(r)
			f.Breaches = r.found
		}
		if len(f.Breaches) > 0 {
			f.State = Breached
		}
		out = append(out, f)
	}
	return out
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

var rules = []rule{
	{"W1", "every tool call is answered by exactly one result, in the next message", needWire, (*run).pairing},
	{"W2", "call ids are unique", needWire, (*run).uniqueIDs},
	{"W3", "results come first in their message", needWire, (*run).resultsFirst},
	{"W4", "no tool runs unless the turn is complete and asks for it", needSeam, (*run).asked},
	{"W5", "iterations, tokens, tool calls and time stay within the budget", needLimits, (*run).budget},
	{"W6", "effects are exactly the expected ones", needLedger, (*run).effects},
	{"W7", "each attempt ends in one of ok, rejected, failed, unknown", needSeam, (*run).outcomes},
	{"W8", "the model sees no secret and no internals", needWire, (*run).leaks},
	{"W9", "one task id, valid and distinct attempt ids", needIDs, (*run).ids},
	{"W10", "each injected fault fired", needFaults, func(*run) {}},
	{"W11", "the history only grows from request to request", needWire, (*run).appendOnly},
	{"W12", "retries stay within their bound, are due, and wait as asked", needRetries, (*run).retries},
	{"W13", "a blocked or unapproved call never reaches the tool", needSeam, (*run).blocked},
	{"W14", "the run does not end on a tool call, nor on a part of an answer", needEnd, (*run).openEnd},
	{"W15", "no call repeats too often with the same arguments", needRepeats, (*run).repeats},
	{"W16", "the answer honours tool_choice", needWire, (*run).choice},
}

// Rules are the numbers of all rules, in their order.
func Rules() []Rule {
	out := make([]Rule, len(rules))
	for i := range rules {
		out[i] = rules[i].id
	}
	return out
}

func needWire(r *run) State {
	if len(r.requests) == 0 {
		return NotObservable
	}
	return Held
}

// unless is what the wire's evidence comes to when a rule has nothing to compare.
func unless(nothing bool, r *run) State {
	if s := needWire(r); s != Held || !nothing {
		return s
	}
	return NotApplicable
}

func needLimits(r *run) State {
	t := &r.Terms
	return unless(t.Iterations <= 0 && t.Tokens <= 0 && t.ToolCalls <= 0 && t.Time <= 0, r)
}

func needRetries(r *run) State { return unless(r.Terms.ModelAttempts <= 0 && !r.retried(), r) }

func needRepeats(r *run) State { return unless(r.Terms.Repeats <= 0, r) }

func needSeam(r *run) State {
	if !r.ToolSeam {
		return NotObservable
	}
	if len(r.Calls) == 0 {
		return NotApplicable
	}
	return Held
}

func needLedger(r *run) State {
	switch {
	case r.Ledger == nil:
		return NotObservable
	case r.Terms.Effects == nil:
		return NotApplicable
	}
	return Held
}

func needIDs(r *run) State {
	if r.Terms.TaskID == "" {
		return NotObservable
	}
	return Held
}

func needFaults(*run) State { return NotApplicable }

func needEnd(r *run) State {
	switch {
	case r.Ended == nil || len(r.requests) == 0:
		return NotObservable
	case r.Ended.Class != failure.None:
		return NotApplicable
	}
	return Held
}

package contract

import "github.com/retake-harness/retake/harness/failure"

// rules are all of them, in their order. The table is never changed.
var rules = []rule{
	{"W1", "every tool call is answered by exactly one result, in the next message", needWire, (*run).pairing, false},
	{"W2", "call ids are unique", needWire, (*run).uniqueIDs, false},
	{"W3", "results come first in their message", needWire, (*run).resultsFirst, false},
	{"W4", "no tool runs unless the turn is complete and asks for it", needSeam, (*run).asked, false},
	{"W5", "iterations, tokens, tool calls and time stay within the budget", needLimits, (*run).budget, false},
	{"W6", "effects are exactly the expected ones", needLedger, (*run).effects, true},
	{"W7", "each attempt ends in one of ok, rejected, failed, unknown", needSeam, (*run).outcomes, false},
	{"W8", "the model sees no secret and no internals", needWire, (*run).leaks, false},
	{"W9", "one task id, valid and distinct attempt ids", needIDs, (*run).ids, true},
	{"W10", "each injected fault fired", needFaults, (*run).faults, true},
	{"W11", "the history only grows from request to request", needWire, (*run).appendOnly, false},
	{"W12", "retries stay within their bound, are due, and wait as asked", needRetries, (*run).retries, false},
	{"W13", "a blocked or unapproved call never reaches the tool", needSeam, (*run).blocked, false},
	{"W14", "the run does not end on a tool call, nor on a part of an answer", needEnd, (*run).openEnd, false},
	{"W15", "no call repeats too often with the same arguments", needRepeats, (*run).repeats, false},
	{"W16", "the answer honours tool_choice", needWire, (*run).choice, false},
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
	counts := t.Iterations > 0 || t.Tokens > 0 || t.ToolCalls > 0 || t.Parallel > 0
	return unless(!counts && t.ResultBytes <= 0 && t.Time <= 0, r)
}

// needRetries asks for a bound, or for something that was tried again.
func needRetries(r *run) State {
	bounded := r.Terms.ModelAttempts > 0 || len(r.Terms.ToolAttempts) > 0 && len(r.Attempts) > 0
	return unless(!bounded && !r.retried(), r)
}

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
	case r.Terms.Effects == nil && len(r.readsWithEffects()) == 0:
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

func needFaults(r *run) State {
	if len(r.Terms.Faults) == 0 {
		return NotApplicable
	}
	return Held
}

func needEnd(r *run) State {
	switch {
	case r.Ended == nil || len(r.requests) == 0:
		return NotObservable
	case r.Ended.Class != failure.None:
		return NotApplicable
	}
	return Held
}

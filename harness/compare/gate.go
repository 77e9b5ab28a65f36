package compare

import (
	"strings"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// gate is something that must never happen, however rarely.
type gate struct {
	ask  Ask
	rule contract.Rule // that reports it; "" for one with another evidence
	what string
}

// gates is a set of them, by their place in hardGates.
type gates uint16

// hardGates are all of them. The table is never changed.
var hardGates = []gate{
	{AskExtraEffect, "W6", "an effect more than there should be"},
	{AskLeak, "W8", "a secret or an internal that the model saw"},
	{AskUnmatchedCall, "W1", "a tool call without its one result"},
	{AskUnaskedRun, "W4", "a tool that ran though the turn did not ask for it, or was not whole"},
	{AskForbiddenCall, "W13", "a blocked or unapproved call that reached its tool"},
	{AskGolden, "", "a transcript that is not the golden one"},
	{AskFaultNotFired, "W10", "a fault that did not fire"},
}

func gateOf(ask Ask) (int, bool) {
	for i := range hardGates {
		if hardGates[i].ask == ask {
			return i, true
		}
	}
	return 0, false
}

// gatesOf are the gates that a run breached, and those of which it has evidence.
// An expected breach is none: it fails no run.
func gatesOf(e *report.Entry) (breached, seen gates) {
	for i := range hardGates {
		bit := gates(1) << i
		rule := string(hardGates[i].rule)
		if rule == "" {
			seen |= bit
			if failed(e, failure.Golden, "") {
				breached |= bit
			}
			continue
		}
		for k := range e.Contract {
			if e.Contract[k].Rule != rule {
				continue
			}
			if e.Contract[k].State != string(contract.NotObservable) {
				seen |= bit
			}
			if e.Contract[k].State == string(contract.Breached) && failed(e, failure.Contract, rule+":") {
				breached |= bit
			}
		}
	}
	return breached, seen
}

// failed tells whether a reason of the class, with the beginning, is among those
// of the entry.
func failed(e *report.Entry, class failure.Class, beginning string) bool {
	for i := range e.Reasons {
		if e.Reasons[i].Class == string(class) && strings.HasPrefix(e.Reasons[i].What, beginning) {
			return true
		}
	}
	return false
}

// breaches counts the runs of the new side that breach a gate which no run of the
// old side's breaches in this scenario, and those of which some does: going back
// does not mend these.
func (p *pair) breaches(i int) (fresh, both int) {
	if hardGates[i].ask == AskExtraEffect && p.passedBefore() {
		for k := range p.now {
			if p.more(&p.now[k]) {
				fresh++
			}
		}
		return fresh, 0
	}
	now := count(p.now, i)
	if count(p.old, i) > 0 {
		return 0, now
	}
	return now, 0
}

func count(runs []run, gate int) int {
	n := 0
	for k := range runs {
		if runs[k].breached&(gates(1)<<gate) != 0 {
			n++
		}
	}
	return n
}

// passedBefore tells whether the old side's effects can be the measure.
func (p *pair) passedBefore() bool {
	for k := range p.old {
		if p.old[k].pass {
			return true
		}
	}
	return false
}

// more tells whether the run had more effects of a tool than any run of the old
// side.
func (p *pair) more(r *run) bool {
	for _, e := range r.effects {
		most := 0
		for k := range p.old {
			for _, before := range p.old[k].effects {
				if before.Tool == e.Tool {
					most = max(most, before.Count)
				}
			}
		}
		if e.Count > most {
			return true
		}
	}
	return false
}

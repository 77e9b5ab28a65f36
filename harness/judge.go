package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// judge holds the run against everything that was agreed, in the order in which
// one thing explains the next: what ended the run, how the agent ended, the
// contract, the expectations, the recordings not asked for, the golden.
func (w *world) judge(ctx context.Context) {
	r := w.result
	if len(w.runs) < 2 {
		r.Findings = contract.Check(w.terms(), w.evidence())
	} else {
		r.Findings = contract.CheckRuns(w.terms(), w.evidence(), w.runs)
	}
	if w.err != nil {
		w.endedBy(w.err)
		return
	}
	diverged := w.end.Class == failure.Diverged
	var unchecked []string
	switch {
	case w.params.ContractOnly:
	case diverged:
		unchecked = w.untilDivergence()
	case w.outcome():
		w.expectations()
		w.expectJudged(ctx)
	}
	w.breaches()
	if w.injector == nil && w.end.Class == failure.None {
		w.unasked()
	}
	if !w.shortened() {
		w.unplayed()
	}
	if !w.params.ContractOnly {
		w.leftScript()
		w.golden()
		if diverged {
			w.divergence(unchecked)
		}
	}
	r.Verdict = verdict(r.Failures)
	if diverged && w.params.ContractOnly && r.Verdict == Pass {
		r.Verdict = Diverged
	}
}

// breaches files what the contract found, but for the rules that are to be
// breached: those that the scenario expects, or, where only the contract is
// judged, those that are there to report a fault that nobody can prevent. Of
// these it files the ones that held.
func (w *world) breaches() {
	want := w.toBeBreached()
	held := maps.Clone(want)
	for _, b := range contract.Breaches(w.result.Findings) {
		if _, expected := want[b.Rule]; expected {
			delete(held, b.Rule)
			continue
		}
		w.breach(b)
	}
	for _, rule := range slices.Sorted(maps.Keys(held)) {
		w.unreported(rule, want[rule])
	}
}

// toBeBreached are the rules that are to be breached, each with the fault that it
// is to report; "" for one that the scenario expects.
func (w *world) toBeBreached() map[contract.Rule]string {
	want := map[contract.Rule]string{}
	if !w.params.ContractOnly {
		for _, rule := range w.env.Scenario.Expect.Breaches {
			want[contract.Rule(rule)] = ""
		}
		return want
	}
	// What would have come after a divergence, or a further run of the task, may
	// make good what was missing.
	if w.end.Class == failure.Diverged || len(w.begins) > 0 {
		return want
	}
	for i := range w.result.Faults {
		f := &w.result.Faults[i]
		if entry, ok := fault.Lookup(f.Spec.Name); ok && entry.FoundBy != "" && f.Times > 0 {
			want[contract.Rule(entry.FoundBy)] = f.Spec.Name
		}
	}
	return want
}

// unreported fails the run for a rule that was to be breached and held.
func (w *world) unreported(rule contract.Rule, by string) {
	if by == "" {
		w.expected("the rule "+string(rule)+" ("+title(w.result.Findings, rule)+") was to be breached, and was not", "breaches")
		return
	}
	w.fail(Failure{
		Class: failure.Contract, Part: failure.PartHarness, What: fmt.Sprintf("%s struck, and the rule %s did not report it", by, rule),
		Why:  "no agent can prevent the fault; to find it is what the rule is for",
		Next: "say under expect: effects: what the scenario has to do",
	}, "expect.effects")
}

func verdict(failures []Failure) Verdict {
	v := Pass
	for _, f := range failures {
		switch f.Class {
		case failure.Diverged, failure.Unjudged:
			if v == Pass {
				v = Diverged
			}
			continue
		case failure.GoldenInvalid, failure.CassetteInvalid, failure.ScenarioInvalid:
			return Invalid
		case failure.World:
			return Broken
		case failure.Interrupted:
			return NotRun
		default:
		}
		v = Fail
	}
	return v
}

func (w *world) terms() contract.Terms {
	s := w.env.Scenario
	t := contract.Terms{
		Iterations: s.Limits.Iterations, Tokens: s.Limits.Tokens, ToolCalls: s.Limits.ToolCalls, Time: s.Limits.Time,
		Parallel: s.Limits.Parallel, ResultBytes: tool.DefaultMaxResult, Repeats: s.GiveUp.RepeatedCalls,
		ModelAttempts: w.env.Retry.Attempts, ToolAttempts: map[string]int{},
		Blocked: map[string]bool{}, Reads: map[string]bool{}, Unkeyed: map[string]bool{},
		Secrets: w.params.Secrets.Plain(), Effects: w.observed(s.Expect.Effects), Probed: w.result.Probed,
		// What a run had not come to when it ended is nothing that it did wrong.
		AtMost: w.err != nil || w.end.Class == failure.Diverged || w.params.ContractOnly && (w.end.Class != failure.None || w.otherAnswers()),
		TaskID: w.result.TaskID, AttemptIDs: w.result.AttemptIDs,
	}
	for _, g := range s.Guard {
		t.Blocked[g.Tool] = true
	}
	for i := range s.Tools {
		d := &s.Tools[i]
		t.ToolAttempts[d.Name] = max(d.Retry.Attempts, 1)
		t.Reads[d.Name], t.Unkeyed[d.Name] = !d.Writes(), d.Writes() && d.Key == nil
		t.ResultBytes = max(t.ResultBytes, d.Limit())
	}
	for i := range w.result.Faults {
		f := &w.result.Faults[i]
		t.Faults = append(t.Faults, contract.Injected{Name: f.Spec.String(), Times: f.Times, Why: f.Why})
	}
	return t
}

// otherAnswers tells whether a fault has had the model say something else than
// was recorded, so that it is not known what was left to do.
func (w *world) otherAnswers() bool {
	return slices.ContainsFunc(w.result.Faults, func(f fault.Fired) bool {
		entry, ok := fault.Lookup(f.Spec.Name)
		return ok && f.Times > 0 && entry.Side() == fault.SideModel && entry.Seen && entry.FoundBy == ""
	})
}

func (w *world) evidence() contract.Evidence {
	r := w.result
	return contract.Evidence{
		Models: r.Models, Calls: r.Calls, Attempts: r.Attempts, Ended: w.end,
		Elapsed: r.Latency, ToolSeam: w.toolSeam(), Ledger: r.Effects,
	}
}

// after says who is to act on a miss that a fault led to, which the model was not
// shown: the agent, unless a tool that ran for real has answered otherwise.
func (f *Failure) after(struck string, miss *cassette.Miss) {
	if f.Part == failure.PartTool && miss.Cause == cassette.CauseHistory {
		f.What = "after " + struck + ", the tool answers otherwise than when it was recorded: " + f.What
		f.Next = "have the tool answer a repeated call as it answered the first, by an idempotency key for instance"
		return
	}
	f.Part, f.What = failure.PartAgent, "after "+struck+", which the model was not shown, the agent asks for something else than without: "+f.What
	f.Next = "ask again for just the same, or end the run"
}

// endedBy files the error that ended the run. What would have been checked after
// it is not: it would only repeat the error in other words.
func (w *world) endedBy(err error) {
	r := w.result
	f := failureOf(r, err)
	if miss := new(cassette.Miss); errors.As(err, &miss) {
		w.toolsBefore()
		f.Part = w.missPart(miss)
		if struck := w.struckFaults(); struck != "" && !w.injector.Seen() && (miss.Bare || miss.Kind == cassette.UsedUp || miss.Cause == cassette.CauseHistory) {
			f.after(struck, miss)
		}
		if w.breachesBefore() {
			f.Part, f.Next = failure.PartAgent, "mend the agent first; the miss may only follow from the broken rule"
		}
	}
	r.Failures = append(r.Failures, f)
	switch failure.Of(err) {
	case failure.Interrupted:
		r.Verdict = NotRun
	case failure.CassetteInvalid, failure.ScenarioInvalid:
		r.Verdict = Invalid
	case failure.World, failure.Internal:
		r.Verdict = Broken
	default:
		r.Verdict = Fail
	}
}

// outcome holds how the agent ended against what the scenario expects, and tells
// whether it was that.
func (w *world) outcome() bool {
	want := w.env.Scenario.Expect.Outcome
	got := string(w.result.Outcome.Class)
	if got == "" {
		got = completed
	}
	if want == "" {
		want = completed
	}
	if got == want {
		return true
	}
	f := Failure{
		Class: w.result.Outcome.Class, Part: partOf(w.result.Outcome.Class),
		What: "the run ended as " + got + ", expected " + want,
		Why:  "how a run ends is the first thing its user notices",
	}
	if d := w.result.Outcome.Detail; d != "" {
		f.What += ": " + d
	}
	if f.Class == failure.None {
		f.Class, f.Part = failure.Expectation, failure.PartAgent
	}
	f.Next = "if this is what should happen, write under expect: outcome: " + got
	w.fail(f, "expect.outcome")
	return false
}

const completed = "completed"

func (w *world) breach(b contract.Breach) {
	w.result.Breaches = append(w.result.Breaches, b)
	w.fail(Failure{
		Class: failure.Contract, Part: b.Part, What: b.String(),
		Why:  "rule " + string(b.Rule) + ": " + title(w.result.Findings, b.Rule),
		Next: w.mend(b),
	}, "")
}

// mend says what to do about a breach.
func (w *world) mend(b contract.Breach) string {
	if b.Rule == "W10" {
		return "strike where the run comes by; retake sweep " + w.result.Name + " shows the places"
	}
	return "mend the " + string(b.Part) + "; the transcript shows the place"
}

func title(findings []contract.Finding, rule contract.Rule) string {
	for _, f := range findings {
		if f.Rule == rule {
			return f.Title
		}
	}
	return ""
}

// shortened tells that a fault may keep recordings from being asked for: the model
// has seen it, or the run has ended by it. A recording made under the fault is
// asked for to its end.
func (w *world) shortened() bool {
	if w.injector == nil {
		return false
	}
	if v := w.params.Variant; v != nil && v.OnDivergence == scenario.DivergeRecorded {
		return w.diverged() != nil
	}
	return w.injector.Seen() || w.result.Outcome.Class != failure.None
}

// unplayed fails the run for the recordings that nobody asked for, file by file.
// Where a fault has struck a tool call it takes the place of a recorded attempt.
func (w *world) unplayed() {
	if w.player != nil {
		w.leftOver(w.modelFile, w.player.Unplayed())
	}
	if w.tools != nil && !w.borrowed && !w.params.Live && (w.injector == nil || !w.injector.StruckTool()) {
		w.leftOver(w.toolFile, w.ownCalls(w.tools.Unplayed()))
	}
}

// ownCalls leaves out the calls that were recorded with another model: they are
// there for whoever makes them.
func (w *world) ownCalls(left []cassette.Unplayed) []cassette.Unplayed {
	return slices.DeleteFunc(left, func(u cassette.Unplayed) bool {
		notes := w.toolRecording.Interactions[u.Recording-1].Notes
		return notes != nil && notes.Model != "" && notes.Model != w.params.Model
	})
}

func (w *world) leftOver(file string, left []cassette.Unplayed) {
	if len(left) == 0 {
		return
	}
	what := make([]string, len(left))
	for i, u := range left {
		what[i] = fmt.Sprintf("#%d %s", u.Recording, u.What)
	}
	const most = 5
	if len(what) > most {
		what = append(what[:most], "…")
	}
	w.fail(Failure{
		Class: failure.CassetteUnplayed, Part: failure.PartAgent, Where: file, Line: left[0].Line,
		What: plural(len(left), "recording was", "recordings were") + " not asked for: " + strings.Join(what, "; "),
		Why:  "the agent does less than when this was recorded",
		Next: "if less is right, re-record with: retake record " + w.result.Name,
	}, "")
}

// fail adds a failure. Where it has no place, it is that of the part of the
// scenario.
func (w *world) fail(f Failure, part string) {
	if f.Where == "" {
		at := w.env.Scenario.PlaceUnder(w.params.Variant, part)
		f.Where, f.Line = at.String(), at.Line
	}
	w.result.Failures = append(w.result.Failures, f)
}

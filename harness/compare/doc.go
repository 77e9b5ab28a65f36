// Package compare holds two reports against each other and answers one question:
// keep the new one, or revert to the old one.
//
// It goes along the data:
//
//  1. Both reports are read entry by entry; of each entry only figures are kept.
//  2. Entries are paired by scenario, run under faults and model. The trials of a
//     scenario belong together; each further recording of it is a trial.
//  3. A pair that replays the same recordings on both sides is exact: it is held
//     against gates, and no statistics are made of it. The statistics are over the
//     scenarios of the other pairs.
//  4. What was disturbed by the infrastructure is counted apart, and never dropped.
//  5. The questions of the Rubric are answered in their order, each as held,
//     breached, open (too little data, with how much more would do) or unknown.
//  6. The answers give the verdict: a breach of a question that says revert gives
//     revert; else anything open or inconclusive gives inconclusive; else keep.
//
// The rubric is set before the runs. Its hash stands in the reports and on the
// page, so that a rubric which was changed afterwards shows.
package compare

import "github.com/retake-harness/retake/harness/report"

// Schema names the format of a comparison's JSON. Members are only added within
// one number.
const Schema = "retake.compare/1"

// Side is one of the two that are compared.
type Side struct {
	Report string // a report's folder or its report.json
	Model  string // "": the report's only model, or each of both reports' with itself
}

// Options configure a comparison. The zero Options are those of retake compare.
type Options struct {
	Rubric *Rubric // nil is Default
	// PairByName pairs scenarios that were changed between the reports. Without it
	// they are refused: what they ask for is not the same.
	PairByName bool
}

// Reports compares the old side with the new one. An error is of class
// scenario_invalid for what cannot be compared, and like report.Stream's.
func Reports(old, newer Side, o Options) (*Comparison, error) {
	if o.Rubric == nil {
		o.Rubric = Default()
	}
	a, b, err := readBoth(old, newer)
	if err != nil {
		return nil, err
	}
	p, err := pairUp(a, b, o.PairByName)
	if err != nil {
		return nil, err
	}
	c := newComparison(a, b, p, o.Rubric)
	c.transcripts(a, b, p)
	return c, nil
}

// number is report.Count for what is a length here.
func number(n int, noun string) string { return report.Count(n, noun) }

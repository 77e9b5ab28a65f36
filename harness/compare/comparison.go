package compare

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// Verdict is what came out of a comparison.
type Verdict string

// The verdicts.
const (
	Keep         Verdict = "keep"
	Revert       Verdict = "revert"
	Inconclusive Verdict = "inconclusive"
)

// Comparison is what came out of two reports, and its JSON.
type Comparison struct {
	Schema   string     `json:"schema"`
	Verdict  Verdict    `json:"verdict"`
	Reasons  []string   `json:"reasons"` // for the verdict, the gravest first
	Warnings []string   `json:"warnings"`
	Old      Subject    `json:"old"`
	New      Subject    `json:"new"`
	Rubric   RubricUse  `json:"rubric"`
	Data     Data       `json:"data"`
	Changed  []Change   `json:"changed"`
	Answers  []Answer   `json:"answers"`
	Missing  Missing    `json:"missing"`
	Figures  []Figure   `json:"figures"`
	Classes  []Class    `json:"classes"`
	Scenario []Scenario `json:"scenarios"` // that changed, the gravest first
	More     int        `json:"more_scenarios,omitzero"`
}

// Subject is one side.
type Subject struct {
	Report   string         `json:"report"` // as it was named
	ID       string         `json:"id"`
	Started  string         `json:"started"`
	Models   []string       `json:"models"`
	Live     bool           `json:"live,omitzero"`
	Runs     int            `json:"runs"`
	Passed   int            `json:"passed"`
	Excluded int            `json:"excluded"` // ended by the infrastructure
	By       map[string]int `json:"excluded_by,omitzero"`
	Rate     *float64       `json:"pass_rate"` // of the scenarios that are sampled; null: none is
	SE       *float64       `json:"pass_rate_se"`
	// PassK is the mean chance that k trials of a scenario all pass, by k from 1.
	PassK []float64 `json:"pass_hat_k,omitzero"`
}

// RubricUse says which questions were asked.
type RubricUse struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
	// Old and New say whether the rubric is the one that was in force when the report
	// was made: same, changed, or unknown.
	Old string `json:"old"`
	New string `json:"new"`
}

// Data is what the statistics rest on.
type Data struct {
	Pairs      int     `json:"pairs"`    // scenarios that both sides have run, under the same faults
	Exact      int     `json:"exact"`    // of these, replayed from the same recordings
	Sampled    int     `json:"sampled"`  // of these, others that can be used on both sides
	Clusters   int     `json:"clusters"` // scenarios among the sampled
	Copies     int     `json:"copies"`   // trials that replay a recording once more, and count for nothing
	Confidence float64 `json:"confidence"`
	Power      float64 `json:"power"`
	Seed       uint64  `json:"seed"`
}

// Change is something that differs between the sides.
type Change struct {
	What      string   `json:"what"` // model, prompt, tools, agent, cassette, scenario, …
	Old       string   `json:"old,omitzero"`
	New       string   `json:"new,omitzero"`
	Scenarios []string `json:"scenarios,omitzero"`
}

// State is what came of a question.
type State string

// The states.
const (
	Held     State = "held"
	Breached State = "breached"
	Open     State = "open"    // too little data
	Unknown  State = "unknown" // nothing that could tell
)

// Answer is the answer to one question.
type Answer struct {
	Question
	State State  `json:"state"`
	Text  string `json:"text"`
	// What the answer rests on; left out where nothing is estimated.
	Estimate   *float64 `json:"estimate,omitzero"` // a difference of rates, or a ratio
	Lo         *float64 `json:"lo,omitzero"`       // left out: not bounded
	Hi         *float64 `json:"hi,omitzero"`
	N          int      `json:"n,omitzero"`
	Clusters   int      `json:"clusters,omitzero"`
	P          *float64 `json:"p,omitzero"`          // of the breach, one-sided
	Adjusted   *float64 `json:"p_adjusted,omitzero"` // by Holm, of all but the primary question
	Difference *float64 `json:"p_difference,omitzero"`
	Detectable *float64 `json:"detectable,omitzero"` // the smallest difference, or ratio, that so much data would show
	Further    int      `json:"further,omitzero"`    // scenarios that would decide, were they like those seen
	Where      []string `json:"where,omitzero"`
}

// Missing names what only one side has run.
type Missing struct {
	Old []string `json:"only_old"`
	New []string `json:"only_new"`
}

// Figure is a quantity, added up over all runs of each side.
type Figure struct {
	Name       string   `json:"name"`
	Old        *float64 `json:"old"` // null: of no run known
	New        *float64 `json:"new"`
	OldUnknown int      `json:"old_unknown,omitzero"` // runs that are not in the sum
	NewUnknown int      `json:"new_unknown,omitzero"`
	Unit       string   `json:"unit"`
}

// Class counts the runs that did not pass, by the class of their first reason.
type Class struct {
	Class string `json:"class"`
	Old   int    `json:"old"`
	New   int    `json:"new"`
}

// Scenario is a scenario that changed.
type Scenario struct {
	Title      string   `json:"title"`
	Exact      bool     `json:"exact"`
	OldPassed  int      `json:"old_passed"`
	OldRuns    int      `json:"old_runs"`
	OldExclude int      `json:"old_excluded,omitzero"`
	NewPassed  int      `json:"new_passed"`
	NewRuns    int      `json:"new_runs"`
	NewExclude int      `json:"new_excluded,omitzero"`
	What       []string `json:"what"`
	// SideBySide is where the transcripts of one run of each side first differ.
	SideBySide *SideBySide `json:"side_by_side,omitzero"`
}

// SideBySide are the lines of two transcripts around their first difference,
// shortened. Line is the number of the first.
type SideBySide struct {
	Line int      `json:"line"`
	Same int      `json:"same"` // how many of the first lines are equal
	Old  []string `json:"old"`
	New  []string `json:"new"`
}

// JSON is the comparison as a document, with a final newline.
func (c *Comparison) JSON() ([]byte, error) {
	b, err := json.Marshal(c, json.Deterministic(true), json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, failure.Errorf(failure.Internal, "the comparison as JSON: %w", err)
	}
	return append(jsondoc.EscapeBidi(b), '\n'), nil
}

package harness

import (
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// Verdict is what came out of a scenario.
type Verdict string

// The verdicts. The exit code follows from them: fail 1, invalid 2, broken 3,
// diverged 4, not run 130.
const (
	Pass     Verdict = "pass"
	Fail     Verdict = "fail"     // something checked did not hold
	Invalid  Verdict = "invalid"  // the specification, cassette or golden cannot be used
	Broken   Verdict = "broken"   // the world could not be built
	Diverged Verdict = "diverged" // the recording ended before everything was checked, or a judge gave no answer
	NotRun   Verdict = "not_run"  // the run was interrupted before
)

// Failure is one thing that did not hold, and what to do about it.
type Failure struct {
	Class failure.Class
	Part  failure.Part
	What  string
	Where string // file, or file:line:column
	Line  int    // of Where, for annotations; 0 when there is none
	Diff  string // lines with - and +; "" for none
	Why   string // why it matters
	Next  string // what to do: a command, or a sentence
}

// Result is all that is known of one run of one scenario with one model.
type Result struct {
	Scenario *scenario.Scenario // nil when it could not be loaded
	Name     string
	Model    string
	API      wire.API
	Variant  string // the faults under which it was run; "" without
	Trial    int    // 1 to n; 0 for the first and only one
	Clock    clock.Mode
	Verdict  Verdict
	Failures []Failure
	Warnings []string

	Outcome    Outcome
	Transcript []byte
	Models     []*journal.ModelAttempt
	Calls      []*journal.ToolCall
	Attempts   []*journal.ToolAttempt
	Findings   []contract.Finding
	Breaches   []contract.Breach // those of the Findings that nobody expects
	Effects    map[string]int
	Probed     []string      // tools whose effects were counted in the world itself, by name
	Faults     []fault.Fired // what came of each fault of the variant
	Places     []fault.Place // where faults can strike, with Params.Survey
	Latency    time.Duration // on the run's clock
	Cost       *float64      // US dollars; nil when the model has no price
	ToolCost   *float64      // US dollars, apart from Cost; nil when a tool that was reached has no price
	Tokens     wire.Usage    // neutral, added up
	Judged     []Judged      // what judges said of the run; apart from all of the above
	Price      *Price        // that Cost is by; nil: none is known

	TaskID     string
	AttemptIDs []string
	Hashes     Hashes
	Real       time.Duration // real time; differs from run to run
	Accepted   bool          // the golden was written anew

	// Secrets must not be written with whatever else is here.
	Secrets *redact.Values
}

// Hashes identify what went into a run.
type Hashes struct {
	Scenario string // file and shared tools
	Prompt   string // system texts and turns
	Tools    string // declarations
	Cassette string // the model's and the tools' files
}

// Part is the one part that has to act: that of the first failure, "" without.
func (r *Result) Part() failure.Part {
	if len(r.Failures) == 0 {
		return ""
	}
	return r.Failures[0].Part
}

// Judged is what a judge said of a run.
type Judged struct {
	Question string
	Model    string // that judged
	About    scenario.About
	Answer   string // an allowed one; "" when it gave none
	Accepted bool
	Tokens   wire.Usage
	Cost     *float64 // US dollars; nil when the model has no price
}

// Price is what a model costs, in US dollars per million tokens. A nil figure is
// not known.
type Price struct {
	Input, Output, CacheRead, CacheWrite *float64
}

// Cost is the price of the usage; nil when a figure for tokens that were used is
// not known.
func (p *Price) Cost(u wire.Usage) *float64 {
	if p == nil {
		return nil
	}
	sum := 0.0
	for _, x := range []struct {
		n     *int64
		price *float64
	}{{u.Input, p.Input}, {u.Output, p.Output}, {u.CacheRead, p.CacheRead}, {u.CacheWrite, p.CacheWrite}} {
		switch {
		case x.n == nil || *x.n == 0:
		case x.price == nil:
			return nil
		default:
			sum += float64(*x.n) * *x.price / 1e6
		}
	}
	return &sum
}

// NotBuilt is the result of a scenario that could not be loaded.
func NotBuilt(name, model string, err error) *Result {
	r := &Result{Name: name, Model: model, Clock: clock.ModeVirtual}
	r.broken(err)
	return r
}

// Interrupted is the result of a scenario that nobody began.
func Interrupted(s *scenario.Scenario, name, model string) *Result {
	r := &Result{Scenario: s, Name: name, Model: model, Clock: clock.ModeVirtual}
	r.broken(failure.Errorf(failure.Interrupted, "not run: interrupted"))
	return r
}

// args are what makes retake run run just this.
func (r *Result) args() string {
	if r.Variant == "" {
		return r.Name
	}
	return r.Name + " --fault " + r.Variant
}

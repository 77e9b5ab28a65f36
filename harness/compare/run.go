package compare

import (
	"math"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// run is what is kept of an entry.
type run struct {
	trial    int
	verdict  string
	class    string // of the first reason, or that by which it is excluded
	what     string // of the first reason
	pass     bool
	excluded bool // by the infrastructure: neither the agent's success nor its failure
	replay   bool // the same recordings give the same run
	real     bool // on the real clock: its latency is never the same twice
	cassette string
	breached gates // of the hard gates
	seen     gates // those with evidence
	effects  []report.Effect
	figures  [figureCount]float64 // NaN: not known
	calls    []string             // tools, in their order
	place    *report.Place
}

// figure is a measured quantity of a run.
type figure int

// The figures, in the order in which they are shown.
const (
	cost figure = iota
	toolCost
	tokens
	inputTokens
	outputTokens
	latency
	modelCalls
	toolCalls
	figureCount
)

// mostWhat is how much is kept of a reason.
const mostWhat = 300

// names keeps one copy of each text that many entries share.
type names map[string]string

func (n names) one(s string) string {
	if s == "" {
		return ""
	}
	if kept, ok := n[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	n[s] = s
	return s
}

func runOf(e *report.Entry, n names) run {
	r := run{
		trial: e.Trial, verdict: n.one(e.Verdict), pass: e.Verdict == string(harness.Pass), cassette: n.one(e.Hashes.Cassette),
		replay: e.Hashes.Cassette != "", real: e.Clock == string(clock.ModeReal), figures: figuresOf(e), place: e.Transcript,
	}
	if len(e.Reasons) > 0 {
		r.class, r.what = n.one(e.Reasons[0].Class), strings.Clone(cut(e.Reasons[0].What, mostWhat))
	}
	if class, excluded := exclusion(e); excluded {
		r.excluded, r.class = true, n.one(class)
	}
	for i := range e.Effects {
		r.effects = append(r.effects, report.Effect{Tool: n.one(e.Effects[i].Tool), Count: e.Effects[i].Count})
	}
	for i := range e.Tools {
		r.calls = append(r.calls, n.one(e.Tools[i].Tool))
	}
	r.breached, r.seen = gatesOf(e)
	return r
}

// exclusion tells whether a run says nothing of the agent, and by which class. A
// run under faults is the agent's however it ends: the fault was there to be
// survived.
func exclusion(e *report.Entry) (class string, excluded bool) {
	switch harness.Verdict(e.Verdict) {
	case harness.Broken, harness.Invalid, harness.NotRun, harness.Diverged:
		if len(e.Reasons) > 0 {
			return e.Reasons[0].Class, true
		}
		return e.Verdict, true
	case harness.Fail:
		return e.Outcome.Class, e.Fault == "" && len(e.Faults) == 0 && infrastructure(failure.Class(e.Outcome.Class))
	default:
		return "", false
	}
}

// infrastructure tells whether a run that ended so was ended by the provider, by
// the way to it, or by a tool's server that was not there.
func infrastructure(c failure.Class) bool {
	switch c {
	case failure.Transport, failure.Timeout, failure.RateLimited, failure.Overloaded, failure.ServerError, failure.Unauthorized, failure.Protocol,
		failure.ToolUnavailable, failure.ToolTimeout, failure.World, failure.Interrupted, failure.Internal:
		return true
	default:
		return false
	}
}

func figuresOf(e *report.Entry) [figureCount]float64 {
	f := &e.Figures
	out := [figureCount]float64{
		cost: known(f.Cost), toolCost: known(f.ToolCost), tokens: float64(f.Tokens.Total), inputTokens: whole(f.Tokens.Input),
		outputTokens: whole(f.Tokens.Output), latency: float64(f.Latency), modelCalls: float64(f.ModelAttempts), toolCalls: float64(f.ToolCalls),
	}
	if f.Tokens.Input == nil && f.Tokens.Output == nil && f.Tokens.Total == 0 {
		out[tokens] = math.NaN()
	}
	return out
}

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func whole(v *int64) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

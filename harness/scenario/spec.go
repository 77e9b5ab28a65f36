package scenario

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

// Scenario is one loaded specification: valid, defaults filled in, placeholders
// replaced. It is read-only and may be shared.
type Scenario struct {
	Name string // path below scenarios/, without .yaml: travel/umbrella
	File string // as opened, for messages
	Hash string // sha256 of the file and of the tools file it draws on, hex

	Why      string
	Owner    string
	Labels   []string
	Rollback string            // how to go back
	Inputs   map[string]string // declared inputs, already replaced in the texts

	System []string // each a system text of its own
	// Opening are messages before the first turn: examples, a developer's
	// message, what an agent tells its model as if the user had said it.
	Opening []Message
	Turns   []Turn   // what the user says, in order; at least one
	Models  []string // model versions to run, in order

	// Agent is the program under test; nil is the reference loop, or who runs the
	// scenario brings an agent of their own.
	Agent *Agent

	API    wire.API // "" means the model's own, from the configuration
	Stream bool
	// MaxTokens is the limit of one answer; 0 sends none.
	MaxTokens int
	// Params are further top-level request fields, passed through as written.
	Params []wire.Field

	Tools []tool.Decl
	// Runs say where tools run, by their names. One that is not there runs from the
	// cassette.
	Runs map[string]Run
	// Servers are the MCP servers that the tools and the probes run on.
	Servers    []Server
	Principals []Principal
	// Probes count effects in the world itself, by the tool; of others the calls that
	// reach them are counted.
	Probes     []Probe
	ToolChoice wire.ToolChoice
	Guard      []Block
	// Approvals are what a person decides about calls of tools with Decl.Approval.
	Approvals []Approval

	Limits    Limits
	GiveUp    GiveUp
	OnPartial OnPartial
	Replay    Replay
	Expect    Expect

	// Seed is what chance is drawn from; default 1.
	Seed uint64
	// Expires is the age at which its recordings are stale; 0 is the configuration's.
	Expires time.Duration
	// Variants are runs of the scenario under faults, besides the one without.
	Variants []Variant

	// Warnings are doubts that stop nothing, each with its place.
	Warnings []string

	// unasked: some tools run on a server that has not been asked what it has;
	// pending: it alone knows which there are. again reads the scenario with what
	// servers have, and is nil without any.
	unasked bool
	pending bool
	again   func(found map[string][]tool.Decl) (*Scenario, error)

	recorded  onlyRecorded
	recording bool // what is recorded runs as well

	parts map[string]string // where the file declares tools, by their names
	// places finds the line of a part for messages and annotations.
	places yamlwalk.Places
}

// Place is where the file says a part, written like expect.calls[1]; of a part
// that it does not say, the nearest one around it.
func (s *Scenario) Place(part string) Place {
	p := s.places.Find(part)
	return Place{s.File, p.Line, p.Column}
}

// PlaceUnder is where the file says a part of what holds for a run under faults:
// what the variant takes over is said by the scenario. nil is the run without.
func (s *Scenario) PlaceUnder(v *Variant, part string) Place {
	if v == nil || v.Part == "" {
		return s.Place(part)
	}
	own := strings.TrimSuffix(v.Part+"."+part, ".")
	if strings.HasPrefix(part, "expect.") && !s.places.Has(own) && s.places.Has(part) {
		return s.Place(part)
	}
	return s.Place(own)
}

// Variant is the run under faults of the id; nil when there is none.
func (s *Scenario) Variant(id string) *Variant {
	for i := range s.Variants {
		if s.Variants[i].ID == id {
			return &s.Variants[i]
		}
	}
	return nil
}

// Place is a position in a file; line and column count from 1.
type Place struct {
	File         string
	Line, Column int
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Message is a text that somebody is said to have said.
type Message struct {
	Role wire.Role
	Text string
}

// Turn is one thing that the user says.
type Turn struct {
	User string
	As   string // the principal in whose name tools are called; "" for none
}

// Block refuses a tool by policy.
type Block struct {
	Tool   string
	Reason string
}

// Limits are the budgets of one run. Zero means the configuration's, and there
// zero means none, except Iterations (10) and Parallel (8).
type Limits struct {
	Iterations int // model turns
	Tokens     int64
	ToolCalls  int
	Time       time.Duration // on the run's clock
	Parallel   int           // tool calls at once
}

// GiveUp are the stop criteria of the loop besides the limits.
type GiveUp struct {
	RepeatedCalls int // the same call with the same arguments this often; default 3
	Pauses        int // continuations of a paused turn; default 5
	ToolErrors    int // tool errors in a run; 0: no limit
}

// OnPartial says what happens when one of several parallel calls fails.
type OnPartial string

// The ways on.
const (
	PartialReport OnPartial = "report" // default: the model is told, and goes on
	PartialStop   OnPartial = "stop"   // the run ends with class partial_failure
)

// Match is how a request finds its recording.
type Match string

// The modes of matching.
const (
	MatchNormalised Match = "normalised" // default: what the request means
	MatchStrict     Match = "strict"     // the body as JSON
	MatchSequence   Match = "sequence"   // the order alone
)

// Replay says how cassettes are used.
type Replay struct {
	Match  Match
	Ignore []string // JSON pointers into the request body, * for any element
	// Headers are names of request headers that count in matching; none by
	// default, since an SDK's headers change with its version.
	Headers []string
}

// Expect is what must hold at the end. A nil or zero field checks nothing.
type Expect struct {
	Outcome    string // "completed", or the failure class in which the run must end; default completed
	Stop       wire.Stop
	StopRaw    string // provider's word
	Iterations *Range
	ToolCalls  *Range
	Calls      *transcript.Match
	Answer     Answer
	Effects    map[string]int // tool → effects by the ledger
	Tokens     *int64         // at most
	Cost       *float64       // at most, US dollars
	Latency    *time.Duration // at most, on the run's clock
	Golden     bool           // default true

	Attempts *Range   // HTTP attempts at the model
	Told     []string // texts that the results shown to the model must contain
	Breaches []string // rules of the contract that must be breached (W6), and no others
	Judges   []Judge  // questions that models answer
}

// Variant is a run of the scenario under faults.
type Variant struct {
	ID     string       // names its golden transcript; distinct in the scenario
	Faults []fault.Spec // at least one, checked
	// OnDivergence says how the run goes on where a fault that the model sees has
	// ended the recording.
	OnDivergence Divergence
	// Accept is why a run that diverged passes although not all could be checked;
	// "" does not accept it.
	Accept string
	Script []Said // the model's turns after a divergence, with DivergeScript
	// Expect is what must hold of this run: what the variant says, and where it is
	// to complete what the scenario says besides.
	Expect Expect
	// Part is where the file says the variant, as Place takes it: faults[0]; "" for
	// one that it does not say.
	Part string
}

// Divergence is a way on where the recording ends.
type Divergence string

// The ways on.
const (
	DivergeStop     Divergence = "stop"     // default: what happened until there is checked
	DivergeScript   Divergence = "script"   // the model says what the variant's script says
	DivergeRecorded Divergence = "recorded" // the whole run is replayed from a cassette recorded under the fault
)

// Said is a turn of the model in a script.
type Said struct {
	When  When
	Text  string
	Calls []SaidCall
	Stop  string // the provider's word; "" is the one that fits
}

// SaidCall is a tool call of a scripted turn.
type SaidCall struct {
	Tool string
	Args jsontext.Value
}

// When says which request a scripted turn answers; a zero field allows any. The
// first turn that was not said yet and fits is taken.
type When struct {
	Code string // of a tool result of the last turn: its error's code, or ok
	Tool string // a tool that gave a result of the last turn; with Code the one with that code
	Call int    // the number of the model call in the run
}

// Range is Min ≤ n ≤ Max; a Max that the file does not say is [math.MaxInt].
type Range struct{ Min, Max int }

// Answer are checks of the final text.
type Answer struct {
	Equals   *string
	Contains []string
	Regexp   *regexp.Regexp
	Schema   jsontext.Value // the text must be JSON that fits; nil checks nothing
}

// Has tells whether n lies in the range.
func (r *Range) Has(n int) bool { return r.Min <= n && n <= r.Max }

// String spells the range: 3, or 2 to 4.
func (r *Range) String() string {
	switch {
	case r.Min == r.Max:
		return strconv.Itoa(r.Min)
	case r.Max == math.MaxInt:
		return "at least " + strconv.Itoa(r.Min)
	default:
		return fmt.Sprintf("%d to %d", r.Min, r.Max)
	}
}

package compare

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

// Rubric is a questionnaire: what is asked of two reports, in which order, and
// what each answer means. It is read-only.
type Rubric struct {
	File       string     `json:"-"`          // "" is the built-in one
	Confidence float64    `json:"confidence"` // of all intervals, two-sided
	Power      float64    `json:"power"`      // with which a difference shall be found
	Seed       uint64     `json:"seed"`       // of what is drawn
	Primary    string     `json:"primary"`    // the id of the question that decides by itself; Holm's correction is over the rest
	Questions  []Question `json:"questions"`
}

// Question is one question of a rubric.
type Question struct {
	ID  string `json:"id"`
	Ask Ask    `json:"ask"`
	// Threshold is what is still good: for a gate and for missing scenarios how many,
	// for excluded runs which share, for success the margin by which the pass rate may
	// be lower, for a figure the highest ratio of new to old.
	Threshold float64 `json:"threshold"`
	Breach    Meaning `json:"breach"`
	Reason    string  `json:"reason"` // why it is asked
}

// Ask is what a question is about.
type Ask string

// What can be asked: hard gates, what the comparison rests on, success, figures.
const (
	AskExtraEffect   Ask = "extra_effect"
	AskLeak          Ask = "leak"
	AskUnmatchedCall Ask = "unmatched_call"
	AskUnaskedRun    Ask = "unasked_run"
	AskForbiddenCall Ask = "forbidden_call"
	AskGolden        Ask = "golden"
	AskFaultNotFired Ask = "fault_not_fired"

	AskMissing  Ask = "missing_scenarios"
	AskExcluded Ask = "excluded_runs"

	AskSuccess Ask = "success"

	AskCost         Ask = "cost"
	AskToolCost     Ask = "tool_cost"
	AskTokens       Ask = "tokens"
	AskInputTokens  Ask = "input_tokens"
	AskOutputTokens Ask = "output_tokens"
	AskLatency      Ask = "latency"
	AskModelCalls   Ask = "model_calls"
	AskToolCalls    Ask = "tool_calls"
)

// asks are all of them.
var asks = []Ask{
	AskExtraEffect, AskLeak, AskUnmatchedCall, AskUnaskedRun, AskForbiddenCall, AskGolden, AskFaultNotFired, AskMissing, AskExcluded, AskSuccess,
	AskCost, AskToolCost, AskTokens, AskInputTokens, AskOutputTokens, AskLatency, AskModelCalls, AskToolCalls,
}

// figureAsks are the questions about figures, by their figure.
var figureAsks = [figureCount]Ask{AskCost, AskToolCost, AskTokens, AskInputTokens, AskOutputTokens, AskLatency, AskModelCalls, AskToolCalls}

func figureOf(a Ask) (figure, bool) {
	for i, ask := range figureAsks {
		if ask == a {
			return figure(i), true
		}
	}
	return 0, false
}

// Meaning is what a breach of a question means.
type Meaning string

// The meanings, the gravest first.
const (
	MeansRevert       Meaning = "revert"
	MeansInconclusive Meaning = "inconclusive"
	MeansWarn         Meaning = "warn"
)

//go:embed rubric.yaml
var builtin []byte

// Default is the built-in rubric, rubric.yaml of this package.
func Default() *Rubric {
	r, err := parseRubric("the built-in rubric", builtin)
	if err != nil {
		panic(err.Error()) // a test reads it
	}
	r.File = ""
	return r
}

// LoadRubric reads a rubric's file. An error is like scenario.Load's.
func LoadRubric(path string) (*Rubric, error) {
	name := filepath.ToSlash(path)
	text, err := file.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: there is no such rubric; write one (retake compare --print-rubric prints the built-in one), or name another", name)
	}
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: the rubric cannot be read: %w", name, yamlwalk.Cause(err))
	}
	return parseRubric(name, text)
}

// Hash identifies what the rubric asks: its questions in their order with all that
// decides, and not how the file is laid out.
func (r *Rubric) Hash() string {
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		panic(err.Error()) // numbers and texts alone
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Name is the file, or what the built-in one is called.
func (r *Rubric) Name() string {
	if r.File == "" {
		return "built-in"
	}
	return r.File
}

// DefaultFile is the file of the built-in rubric, to begin one's own with.
func DefaultFile() []byte { return append([]byte(nil), builtin...) }

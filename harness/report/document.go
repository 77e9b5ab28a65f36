// Package report writes what came out of a run: report.json, which is the
// contract with everything that reads reports, and Markdown, JUnit and a folder
// of transcripts beside it.
//
// report.json is canonical: the same scenarios give the same bytes, but for the
// one member run.volatile, which holds the run's id, the ids made from it, time
// stamps and real-time figures. Calls refer to ids by their ordinal in the
// scenario's entry there. Its JSON Schema is report.schema.json.
//
// A Writer takes results one by one, in their order, and keeps only a line of
// figures of each.
package report

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema names the format of report.json. Members are only added within one
// number.
const Schema = "retake.report/1"

// Document is report.json.
type Document struct {
	Schema    string  `json:"schema"`
	Scenarios []Entry `json:"scenarios"`
	Totals    Totals  `json:"totals"`
	Run       Run     `json:"run"`
}

// Entry is one scenario run with one model.
type Entry struct {
	Name     string   `json:"name"`
	Model    string   `json:"model"`
	Fault    string   `json:"fault,omitzero"` // the run under faults of this id; left out: the one without
	Trial    int      `json:"trial,omitzero"` // 1 to n; left out of the first and only one
	API      string   `json:"api"`
	File     string   `json:"file"`
	Verdict  string   `json:"verdict"`
	Part     string   `json:"part,omitzero"`  // the one part that has to act
	Owner    string   `json:"owner,omitzero"` // whom to ask
	Why      string   `json:"why,omitzero"`   // what the scenario is for
	Rollback string   `json:"rollback,omitzero"`
	Labels   []string `json:"labels,omitzero"`
	Clock    string   `json:"clock"`
	Reasons  []Reason `json:"reasons"`
	Warnings []string `json:"warnings,omitzero"`
	Outcome  Outcome  `json:"outcome"`
	Figures  Figures  `json:"figures"`
	Audit    Audit    `json:"token_audit"`
	Models   []Model  `json:"model_calls"`
	Tools    []Tool   `json:"tool_calls"`
	Contract []Rule   `json:"contract"`
	Effects  []Effect `json:"effects"`
	Faults   []Fault  `json:"faults,omitzero"` // that were injected, in the scenario's order
	Judges   []Judge  `json:"judges,omitzero"` // what judges said of the run; in none of the figures
	Hashes   Hashes   `json:"hashes"`
	// Transcript is where the transcript is, below the report's folder.
	Transcript *Place `json:"transcript,omitzero"`
}

// Reason is one thing that did not hold.
type Reason struct {
	Class string `json:"class"`
	Layer string `json:"layer,omitzero"` // validation, business, infrastructure, platform
	Part  string `json:"part"`
	What  string `json:"what"`
	Where string `json:"where,omitzero"`
	Line  int    `json:"line,omitzero"`
	Diff  string `json:"diff,omitzero"`
	Why   string `json:"why,omitzero"`
	Next  string `json:"next,omitzero"`
}

// Outcome is how the agent ended.
type Outcome struct {
	Class  string `json:"class"` // "completed", or a failure class
	Detail string `json:"detail,omitzero"`
	Stop   string `json:"stop,omitzero"`
	Answer string `json:"answer,omitzero"`
}

// Figures are the sums of one run, or of all.
type Figures struct {
	Iterations    int      `json:"iterations"`
	ModelAttempts int      `json:"model_attempts"`
	ToolCalls     int      `json:"tool_calls"`
	ToolAttempts  int      `json:"tool_attempts"`
	Tokens        Tokens   `json:"tokens"`
	Cost          *float64 `json:"cost_usd"`               // the model's; null: a model without a price
	ToolCost      *float64 `json:"tool_cost_usd,omitzero"` // besides; left out: a tool without a price was reached
	Latency       int64    `json:"latency_us"`             // on the run's clock
}

// Tokens are in the neutral accounting: input is what was neither read from nor
// written to the cache, output includes reasoning. null: never reported.
type Tokens struct {
	Input      *int64 `json:"input"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Output     *int64 `json:"output"`
	Reasoning  *int64 `json:"reasoning"`
	Total      int64  `json:"total"`
}

// Audit holds the tokens recomputed from the raw answers against what the agent
// says it used.
type Audit struct {
	Wire  int64  `json:"wire"`
	Agent *int64 `json:"agent"` // null: the agent does not count
	Agree *bool  `json:"agree"` // null: nothing to compare
}

// Model is one HTTP attempt at a model call.
type Model struct {
	Ordinal   int            `json:"ordinal"`
	AttemptID int            `json:"attempt_id"` // ordinal in run.volatile
	Attempt   int            `json:"attempt"`    // 1 for the first try of the call
	At        int64          `json:"at_us"`
	Latency   int64          `json:"latency_us"`
	Status    int            `json:"status"`
	Class     string         `json:"class,omitzero"`
	Error     string         `json:"error,omitzero"`
	Model     string         `json:"model,omitzero"` // as the answer reports it
	Stop      string         `json:"stop,omitzero"`
	RawStop   []string       `json:"raw_stop,omitzero"`
	Stream    bool           `json:"stream"`
	Calls     []string       `json:"calls,omitzero"`
	Tokens    *Tokens        `json:"tokens,omitzero"`
	Cost      *float64       `json:"cost_usd,omitzero"` // of the tokens; left out: not known
	RawUsage  jsontext.Value `json:"raw_usage,omitzero"`
	Problems  []string       `json:"problems,omitzero"`
}

// Tool is one tool call.
type Tool struct {
	Ordinal  int           `json:"ordinal"`
	Tool     string        `json:"tool"`
	ArgsHash string        `json:"args_hash"` // sha256 of the canonical arguments
	At       int64         `json:"at_us"`
	Latency  int64         `json:"latency_us"`
	Outcome  string        `json:"outcome"`
	Class    string        `json:"class,omitzero"`
	Write    bool          `json:"write"`
	Cost     *float64      `json:"cost_usd,omitzero"` // left out: the tool was reached and has no price
	Attempts []ToolAttempt `json:"attempts"`
}

// ToolAttempt is one try of a tool call.
type ToolAttempt struct {
	AttemptID int    `json:"attempt_id"` // ordinal in run.volatile
	Attempt   int    `json:"attempt"`
	Latency   int64  `json:"latency_us"`
	Outcome   string `json:"outcome"`
	Class     string `json:"class,omitzero"`
	Code      string `json:"code,omitzero"`
}

// Rule is one rule of the contract.
type Rule struct {
	Rule     string   `json:"rule"`
	State    string   `json:"state"`
	Breaches []string `json:"breaches,omitzero"`
}

// Effect counts a tool's effects by the ledger.
type Effect struct {
	Tool  string `json:"tool"`
	Count int    `json:"count"`
	By    string `json:"by,omitzero"` // probe: counted in the world itself; left out, by the calls that reached the tool
}

// Judge is what a model said that was asked about the run.
type Judge struct {
	Question string   `json:"question"`
	Model    string   `json:"model"`
	About    string   `json:"about"`  // what it was shown: answer, or transcript
	Answer   string   `json:"answer"` // "": it gave none that is allowed
	Accepted bool     `json:"accepted"`
	Tokens   Tokens   `json:"tokens"`
	Cost     *float64 `json:"cost_usd"` // null: a model without a price
}

// JudgeTotals are over what judges said.
type JudgeTotals struct {
	Answers  int      `json:"answers"`
	Accepted int      `json:"accepted"`
	None     int      `json:"none"` // answers that were not allowed
	Tokens   Tokens   `json:"tokens"`
	Cost     *float64 `json:"cost_usd"` // null: no judge has a price
	Unpriced int      `json:"unpriced"` // answers whose cost is not known, left out of the sum
}

// Fault is an injected fault and what came of it.
type Fault struct {
	Name  string `json:"name"`
	Spec  string `json:"spec"`             // as retake run --fault takes it
	Times int    `json:"times"`            // how often it struck
	At    string `json:"at,omitzero"`      // where first
	Why   string `json:"why_not,omitzero"` // why it did not strike where it was due
}

// Hashes identify what went into a run.
type Hashes struct {
	Scenario string `json:"scenario,omitzero"`
	Prompt   string `json:"prompt,omitzero"`
	Tools    string `json:"tools,omitzero"`
	Cassette string `json:"cassette,omitzero"`
}

// Totals are over all entries.
type Totals struct {
	Scenarios   int            `json:"scenarios"`
	Verdicts    map[string]int `json:"verdicts"`
	Figures     Figures        `json:"figures"`
	Unpriced    int            `json:"unpriced"` // runs whose cost is not known, left out of the sum
	ModelTimes  Percentiles    `json:"model_latency_us"`
	ToolTimes   Percentiles    `json:"tool_latency_us"`
	RunTimes    Percentiles    `json:"run_latency_us"`
	ErrorClass  map[string]int `json:"error_classes"` // of attempts at models and tools, and of reasons
	Responsible map[string]int `json:"parts"`
	// Stops count how the models' answers ended.
	Stops         map[string]int `json:"stop_reasons,omitzero"`
	UnpricedTools int            `json:"unpriced_tools,omitzero"` // runs whose tools' cost is not known, left out of the sum
	Models        []ModelTotals  `json:"models,omitzero"`         // by the models' names
	Judges        *JudgeTotals   `json:"judges,omitzero"`         // what judges cost besides; left out: none was asked
}

// ModelTotals are over all entries of one model.
type ModelTotals struct {
	Model         string         `json:"model"`
	Scenarios     int            `json:"scenarios"`
	Verdicts      map[string]int `json:"verdicts"`
	Figures       Figures        `json:"figures"`
	Unpriced      int            `json:"unpriced"`
	UnpricedTools int            `json:"unpriced_tools"`
	ModelTimes    Percentiles    `json:"model_latency_us"`
	ToolTimes     Percentiles    `json:"tool_latency_us"`
	RunTimes      Percentiles    `json:"run_latency_us"`
	ErrorClass    map[string]int `json:"error_classes"`
	Responsible   map[string]int `json:"parts"`
	Stops         map[string]int `json:"stop_reasons"`
	Judges        *JudgeTotals   `json:"judges,omitzero"` // of the model's runs; left out: none was asked
}

// Percentiles are nearest-rank figures in microseconds; null without a value.
type Percentiles struct {
	N   int    `json:"n"`
	P50 *int64 `json:"p50"`
	P90 *int64 `json:"p90"`
	P99 *int64 `json:"p99"`
	Max *int64 `json:"max"`
}

// Run says what was run with.
type Run struct {
	Tool     string   `json:"tool"` // retake and its version
	Go       string   `json:"go"`
	Seed     uint64   `json:"seed"`                  // that was asked for; 0: each scenario's own
	Rubric   string   `json:"rubric,omitzero"`       // hash of the questions that were in force; see package compare
	Prices   string   `json:"prices_as_of,omitzero"` // the oldest day of a price that was used
	Live     bool     `json:"live,omitzero"`         // the models answered themselves; nothing was replayed
	Trials   int      `json:"trials,omitzero"`       // that were asked for, where it was more than one
	Shard    *Shard   `json:"shard,omitzero"`        // what part of a run this is; left out: all of it
	Volatile Volatile `json:"volatile"`
}

// Shard says which part of a run a report is.
type Shard struct {
	Index int    `json:"index"` // from 1
	Of    int    `json:"of"`
	Plan  string `json:"plan"` // hash of the whole split: shards of one run have the same
}

// Volatile is what differs from run to run.
type Volatile struct {
	ID       string  `json:"id"`
	Started  string  `json:"started"` // RFC 3339
	Ended    string  `json:"ended"`
	Real     int64   `json:"real_us"`
	Stopped  bool    `json:"interrupted,omitzero"`
	Parallel int     `json:"parallel"`
	Entries  []Stamp `json:"scenarios"` // in the order of scenarios
}

// Stamp has a scenario's ids and its real time. An attempt_id of an entry is an
// ordinal, from 1, in AttemptIDs.
type Stamp struct {
	TaskID     string   `json:"task_id"`
	AttemptIDs []string `json:"attempt_ids"` // the models' attempts, then the tools'
	Real       int64    `json:"real_us"`
}

// appendJSON marshals v in the one way that reports are written.
func appendJSON(dst []byte, v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false),
		jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	return append(dst, b...), err
}

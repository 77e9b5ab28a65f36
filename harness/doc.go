// Package harness puts a scenario's world together, runs an agent in it and
// judges what happened. This comment is the manual for what a run is; the format
// of scenarios is in package scenario, running them from go test in package
// harnesstest, the command line in retake help.
//
// # A run
//
// Exec takes a scenario, a model and an agent, and gives a Result. In between
// lie two seams, and everything that retake does to a run is a wrapper at one of
// them:
//
//	model calls: agent ▶ tap ▶ faults ▶ cassette            (http.RoundTripper)
//	tool calls:  agent ▶ checks, guard, approval ▶ faults ▶ ledger ▶ executor or cassette
//
// The model's side is one HTTP attempt at a time, so that the retries of an SDK
// are seen as what they are. The tap is outermost: the journal holds what the
// agent saw. A cassette never dials and never answers with a similar recording;
// see package cassette. Tools answer from the tools' cassette, or run for real
// where Params.Executors has one, or where the scenario says so: Params.OpenTools
// starts servers for the one run, whose clock is the real one then.
//
// # Time
//
// A run has one clock (package clock), which its context carries. The reference
// loop runs on a virtual one: recorded latencies, back-offs and timeouts move a
// timeline and cost no time. An agent in Go that waits by itself, or by way of
// an SDK, runs inside a testing/synctest bubble, where package time is virtual.
// "Latency" in a replay is what was recorded and injected, on that clock.
//
// # Faults
//
// Params.Variant runs the scenario under faults of package fault, which strike
// between the tap and the recordings. Where the model sees one, its recording
// ends: the run stops there and is judged by what happened until then, or goes on
// by the variant's script, or replays a recording made under the fault. What
// could not be checked is named, and makes the run diverged, never a pass. A fault
// that never struck fails it. Package sweep makes such runs for every fault at
// every place.
//
// # Judging
//
// What a run is held against, in this order: what ended it (a miss, an error of
// the agent's own), the outcome and the expectations of the scenario, the
// contract W1 to W16 (package contract), the recordings that nobody asked for,
// the golden transcript. What ended a run is told alone: whatever follows would
// only repeat it. Each Failure names one responsible part (agent, model, tool,
// scenario, cassette, harness), what is wrong, where, why it matters and what to
// do. The first failure's part is the Result's.
//
// # Files
//
//	scenarios/NAME.yaml                     the specification
//	scenarios/retake.yaml                   models, prices, budgets, retries
//	cassettes/NAME/MODEL.yaml               recordings of the model
//	cassettes/NAME/tools.yaml               recordings of the tools
//	golden/NAME/MODEL.golden                the transcript that was reviewed
//	golden/NAME/MODEL/VARIANT.golden        the one of a run under faults
//	cassettes/NAME/MODEL/VARIANT.yaml       recordings made under faults
//	reports/RUN/                            report.json, report.md, junit.xml, transcripts/
//	reports/latest                          the newest run
//	reports/sweep/NAME/MODEL.{json,md}      the newest sweep
//
// In file names each byte of a model's name outside [A-Za-z0-9._-] is %XX.
package harness

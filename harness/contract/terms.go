package contract

import "time"

// Terms are what was agreed for the run. A zero limit limits nothing.
type Terms struct {
	Iterations  int
	Tokens      int64
	ToolCalls   int
	Parallel    int // tool calls at once
	ResultBytes int // of one result, as the model is shown it
	Time        time.Duration
	Repeats     int // times that one call may come with the same arguments

	ModelAttempts int             // HTTP attempts of one model call
	ToolAttempts  map[string]int  // attempts of one call, by tool; a tool that is not here has no bound
	Blocked       map[string]bool // tools that the policy refuses
	Secrets       []string        // values that must not be shown to the model
	Compaction    bool            // the agent may rewrite its history

	// Probed are the tools whose effects were counted in the world itself, not by the
	// calls that reached them.
	Probed []string
	// Effects are the expected effects by tool; nil expects nothing of them.
	Effects map[string]int
	// AtMost says that fewer effects than expected are no breach: the run was ended
	// before it had to have them.
	AtMost  bool
	Reads   map[string]bool // tools that are declared to read only
	Unkeyed map[string]bool // tools that write and have no idempotency key

	Faults []Injected // that were to strike

	TaskID     string
	AttemptIDs []string
}

// Injected is a fault that was to strike.
type Injected struct {
	Name  string // with its place: model.reset@call=2
	Times int    // how often it struck
	Why   string // why it did not, "" when it was never due
}

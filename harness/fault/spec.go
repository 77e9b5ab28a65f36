package fault

import (
	"time"
)

// Every is all of them, as an Address's Call or a Spec's Times.
const Every = -1

// Spec is one fault to inject: which, where, how often, with what.
type Spec struct {
	Name string
	At   Address
	// Times is how many attempts in a row it strikes (model calls for a lasting
	// fault): 0 is once (a lasting fault: Every).
	Times int
	// Chance, when not 0, strikes each place that the address allows with this
	// probability, by the seed; a Call of 0 allows all.
	Chance float64
	Params Params
}

// Address is a place of a run.
type Address struct {
	// Call is a model call's number in the run; with Tool the number of the call
	// among those of that tool, else among all tool calls. From 1; 0 is the first
	// place that fits.
	Call    int
	Attempt int    // of the call, from 1; 0 is the first
	Event   int    // of the streamed answer, from 1: those before it arrive; 0 is the fault's default
	Tool    string // "" is any
}

// Params are what a fault may be told. A zero value is the fault's default; which
// fit is said by the fault's Takes.
type Params struct {
	Delay      time.Duration // delay
	Status     int           // status: an HTTP status
	RetryAfter time.Duration // retry_after, in whole seconds
	Bytes      int           // bytes kept of the body, or the size of a result
	Count      int           // count of calls in a burst
	Text       string        // text that is injected
	Kind       string        // kind: a variant, by the fault's own words
	Effect     Effect        // effect: whether the tool has done its work before
}

// Effect says whether a fault strikes before or after the tool's effect.
type Effect string

// The two sides of an effect.
const (
	Before Effect = "before"
	After  Effect = "after"
)

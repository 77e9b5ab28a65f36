package transcript

import (
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// Mode is how a list of expected calls is held against the calls made.
type Mode string

// The modes for the list of calls.
const (
	Strict    Mode = "strict"    // these calls, in this order, no others
	Unordered Mode = "unordered" // these calls, in any order, no others
	Subset    Mode = "subset"    // the calls made are among these
	Superset  Mode = "superset"  // the calls made contain these
)

// ArgsMode is how expected arguments are held against a call's.
type ArgsMode string

// The modes for arguments.
const (
	ArgsExact    ArgsMode = "exact"
	ArgsSubset   ArgsMode = "subset"   // the call's arguments are among the expected
	ArgsSuperset ArgsMode = "superset" // the call's arguments contain the expected
	ArgsIgnore   ArgsMode = "ignore"
)

// Match is an expectation about the calls of a run.
type Match struct {
	Mode  Mode // "" is strict
	Calls []ExpectedCall
}

// ExpectedCall is one expected call.
type ExpectedCall struct {
	Tool string
	Mode ArgsMode // "" is exact when Args has entries, else ignore
	Args []ExpectedArg
}

// ExpectedArg is one expected argument: a matcher that is set, else Value.
type ExpectedArg struct {
	Name      string
	Value     jsontext.Value // equal as JSON
	Contains  *string
	Regexp    *regexp.Regexp
	Number    *float64 // within Tolerance
	Tolerance float64
	Date      *string // the same day, whatever the spelling: 2026-07-14, 14 July 2026, RFC 3339
}

package drill

import (
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// Spec says which tool is drilled, and what it promises. Tool and Args are
// needed; the rest has a useful zero value.
type Spec struct {
	Name string // of the drill, for the report; "" is the tool's
	Tool string
	Args jsontext.Value // a JSON object that the tool accepts, without the key
	// Other are arguments that it accepts too, and that mean something else; nil
	// derives them from Args and the schema.
	Other jsontext.Value
	// Bad are arguments that it refuses; none derives one that misses what the
	// schema requires. A rule that no schema can say shows more.
	Bad []jsontext.Value

	Key KeySpec
	// Tools are what is known of the target's tools: schemas, hints, effects. The
	// reads among them that need no arguments are drilled as well.
	Tools []tool.Decl
	// Volatile are the places of a result that may differ in a replay.
	Volatile []jsondoc.Pointer
	// Unmarked are the arguments, by name, that the fingerprint leaves out: another
	// value under the same key is the same operation.
	Unmarked []string

	Policies Policies
	Prepare  *Prepare // nil: the tool needs no draft
	Batch    *Batch   // nil: it does one thing
	// Another is another tool that takes keys, for I14.
	Another *Another
	Reads   []Call // calls that must not write
	Looks   []Look // how another principal might see what was made
}

// KeySpec says where the idempotency key is and what it may be.
type KeySpec struct {
	Field string         // the argument's name; "": the tool takes no key
	From  tool.KeySource // who makes it; "" is the host
	// MaxLength and Pattern are the declared format; 0 and nil declare none.
	MaxLength int
	Pattern   *regexp.Regexp
}

// Policies are what a tool declares where trusted systems differ. The zero value
// is the strict one.
type Policies struct {
	MissingKey   MissingKey
	OtherPayload OtherPayload
	InFlight     InFlight
	Errors       Errors
	// Expiry is how long a key is known; 0 declares nothing. Expired is what happens
	// after it.
	Expiry  time.Duration
	Expired Expired
	// Lock is how long a reservation holds that nobody finishes; 0 is a day. Stale
	// is what becomes of it then.
	Lock  time.Duration
	Stale Stale
	// InDoubt are the codes of errors that leave the outcome open, besides those that
	// say so by themselves.
	InDoubt []string
	// SharedByTools says that a key is taken for all tools once one has used it.
	SharedByTools bool
}

// MissingKey is what a write without a key comes to.
type MissingKey string

// OtherPayload is what the same key with other arguments comes to.
type OtherPayload string

// InFlight is what a duplicate comes to while the first call is at work.
type InFlight string

// Errors says whether an error is stored under its key.
type Errors string

// Expired is what a key comes to after its expiry.
type Expired string

// Stale is what becomes of a reservation that nobody finished.
type Stale string

// The policies. The zero value of each is said first.
const (
	MissingRefused MissingKey = ""
	MissingAllowed MissingKey = "allowed" // a hazard: each delivery is an effect

	OtherRefused  OtherPayload = ""
	OtherConflict OtherPayload = "conflict" // refused with a code that has CONFLICT in it
	OtherStored   OtherPayload = "stored"   // a hazard: the stored result answers another question

	InFlightAny      InFlight = ""         // the same result or a refusal
	InFlightSame     InFlight = "same"     // waits for the first and answers the same
	InFlightConflict InFlight = "conflict" // one is served, the others are refused, or served when it is over

	ErrorsNotCached Errors = ""
	ErrorsCached    Errors = "cached"

	ExpiredNew      Expired = "" // a new operation
	ExpiredRefused  Expired = "refused"
	ExpiredReplayed Expired = "replayed"

	StaleRecovered Stale = ""        // the operation is done, once
	StaleUnknown   Stale = "unknown" // the caller is told that it is in doubt
)

// Prepare is the first half of a write in two: it makes a draft, which the drilled
// tool commits.
type Prepare struct {
	Tool string
	Args jsontext.Value
	Key  string          // its own key's argument; "" for none
	From jsondoc.Pointer // where its result has the draft's id
	Into string          // the argument of the drilled tool that takes the id
	// Changed are arguments of the drilled tool that do not fit the draft; nil: it
	// has none but the id.
	Changed jsontext.Value
	Expiry  time.Duration // of a draft; 0 declares none
}

// Batch is one call that does several things.
type Batch struct {
	Args  jsontext.Value // without the key
	Items int            // how many effects it has when all is well
	// Bad is how many items always fail; 0 lets Fail break some.
	Bad  int
	Fail string // the broken dependency that lets items fail
}

// Call is a call of a tool.
type Call struct {
	Tool string
	Args jsontext.Value
}

// Another is another tool that takes keys.
type Another struct {
	Tool string
	Args jsontext.Value
	Key  string // its key's argument; "" is the drilled tool's
}

// Look is a reading tool through which what a write has made may be seen.
type Look struct {
	Tool string
	Args jsontext.Value
	From jsondoc.Pointer // where the write's result has the id of what it made
	Into string          // the argument of the reading tool that takes it; "": none, the id is looked for in the answer
}

func (s *Spec) name() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Tool
}

// decl is what is known of a tool; nil for nothing.
func (s *Spec) decl(name string) *tool.Decl {
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i]
		}
	}
	return nil
}

package cassette

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/jsondoc"
)

// MissKind says how a request missed.
type MissKind string

// The kinds of misses.
const (
	NoSuchRequest MissKind = "no such request" // nothing that was recorded asks the same
	UsedUp        MissKind = "used up"         // asked more often than it was recorded
)

// Cause names the part of a request that differs from the nearest recording.
type Cause string

// The causes, the one that explains most first.
const (
	CausePath       Cause = "path"       // method, path or query
	CauseModel      Cause = "model"      // the model's name
	CausePrompt     Cause = "prompt"     // system text or what the user first said
	CauseTools      Cause = "tools"      // declared tools or the tool choice
	CauseParameters Cause = "parameters" // any other field
	CauseHistory    Cause = "history"    // later messages: answers, tool results
	CauseHeaders    Cause = "headers"    // headers that count
	CauseArguments  Cause = "arguments"  // of a tool call
)

// Miss is a request without a recording.
type Miss struct {
	File   string // the cassette
	Kind   MissKind
	Noun   string // what was asked for: model request, call of get_weather
	Record string // scenario for the command that re-records
	// Command is the command that re-records where it is another one than retake
	// record.
	Command string

	Ordinal    int // of the request in this replay, from 1
	Used       int // recordings of this very request, all used; for UsedUp
	Recordings int // in the file

	// Bare says that nobody asked for more than this: nearest, cause and
	// differences were not looked for.
	Bare bool

	Nearest     int // number of the nearest recording, from 1; 0 for none
	NearestLine int // its line in the file; 0 when unknown
	Cause       Cause
	// Differences lead from the nearest recording (A) to the request (B). Their
	// pointers lead into the body as it is on the wire, after the ignore rules.
	Differences []jsondoc.Difference
	// Volatile are ignore rules for the differences that look like they change
	// at every run.
	Volatile []string
}

// shown bounds the differences in a message.
const shown = 3

// Error tells the whole miss in one line.
func (m *Miss) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: no recorded reply for %s #%d", m.File, m.Noun, m.Ordinal)
	if m.Bare {
		return b.String()
	}
	b.WriteString("; ")
	switch {
	case m.Kind == UsedUp:
		fmt.Fprintf(&b, "used %d of %d recordings of this request, the last is #%d", m.Used, m.Used, m.Nearest)
	case m.Nearest == 0:
		b.WriteString("the cassette has no recordings")
	default:
		fmt.Fprintf(&b, "nearest is #%d, differs", m.Nearest)
		m.differences(&b)
	}
	if len(m.Volatile) > 0 {
		fmt.Fprintf(&b, "; likely volatile, to leave out of matching: ignore: [%s]", strings.Join(m.Volatile, ", "))
	}
	fmt.Fprintf(&b, "; re-record with: %s", cmp.Or(m.Command, "retake record "+m.Record))
	return b.String()
}

func (m *Miss) differences(b *strings.Builder) {
	if m.Cause != "" {
		fmt.Fprintf(b, " in %s", m.Cause)
	}
	for i, d := range m.Differences {
		if i == shown {
			fmt.Fprintf(b, " and %d more", len(m.Differences)-shown)
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		switch d.Kind {
		case jsondoc.Added:
			fmt.Fprintf(b, " at %s (not recorded: %s)", d.Pointer, d.B)
		case jsondoc.Removed:
			fmt.Fprintf(b, " at %s (recorded only: %s)", d.Pointer, d.A)
		default:
			fmt.Fprintf(b, " at %s (recorded %s, asked %s)", d.Pointer, d.A, d.B)
		}
	}
}

// Unplayed is a recording that was not asked for.
type Unplayed struct {
	Recording int // its number in the file, from 1
	Line      int // where it begins; 0 when unknown
	What      string
}

func unplayed(f *File, x *index) []Unplayed {
	var out []Unplayed
	for _, i := range x.free() {
		out = append(out, Unplayed{Recording: i + 1, Line: f.Interactions[i].Line, What: describeRequest(x.questions[i])})
	}
	return out
}

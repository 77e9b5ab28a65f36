package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
)

// effects is W6.
func (r *run) effects() {
	for _, name := range r.readsWithEffects() {
		r.breach(Breach{What: fmt.Sprintf("%s is declared to read only, and had %s", name, effects(r.Ledger[name])), Part: failure.PartTool})
	}
	if r.Terms.Effects == nil {
		return
	}
	names := map[string]bool{}
	for n := range r.Ledger {
		names[n] = true
	}
	for n := range r.Terms.Effects {
		names[n] = true
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		got, want := r.Ledger[n], r.Terms.Effects[n]
		switch {
		case r.Terms.Reads[n] && got > 0: // told already
		case got > want:
			r.tooMany(n, got, want)
		case got < want && !r.Terms.AtMost:
			r.tooFew(n, got, want)
		}
	}
}

// readsWithEffects are the tools that say that they only read, and lie.
func (r *run) readsWithEffects() []string {
	var out []string
	for name, n := range r.Ledger {
		if n > 0 && r.Terms.Reads[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// tooMany blames the tool where one operation was delivered more than once and had
// no key by which the tool could have known it.
func (r *run) tooMany(tool string, got, want int) {
	b := Breach{What: r.expected(tool, got, want)}
	switch {
	case got <= r.operations(tool):
	case r.Terms.Unkeyed[tool]:
		b.What += "; without an idempotency key nothing can tell the tool that it has seen the call"
		b.Part = failure.PartTool
	case slices.Contains(r.Terms.Probed, tool):
		b.What += "; the tool has made more of the same call than one effect, though the call had a key: look at it with retake drill"
		b.Part = failure.PartTool
	}
	r.breach(b)
}

// operations are the distinct calls that reached the tool, by their arguments.
func (r *run) operations(tool string) int {
	distinct := map[string]bool{}
	for _, a := range r.Attempts {
		if a.Tool == tool && a.Reached {
			distinct[sameCall(a.Tool, a.Args, "")] = true
		}
	}
	return len(distinct)
}

// tooFew blames the model where it ended its task as if all were done, else the
// part that ended the run.
func (r *run) tooFew(tool string, got, want int) {
	b := Breach{What: r.expected(tool, got, want)}
	if r.Ended != nil {
		b.Part = failure.About(r.Ended.Class).Part
	}
	if r.stoppedBy(failure.None) {
		b.What += ", and the run ended as completed: its answer claims more than was done"
		b.Part = r.speaker()
	}
	r.breach(b)
}

// speaker is the part whose word the answer is: the model's, unless the agent says
// something else.
func (r *run) speaker() failure.Part {
	if n := len(r.turns); n > 0 && r.turns[n-1] == r.requests[len(r.requests)-1] &&
		(r.Ended.Answer == "" || strings.TrimSpace(r.Ended.Answer) == strings.TrimSpace(r.turns[n-1].Response.Text())) {
		return failure.PartModel
	}
	return failure.PartAgent
}

func (r *run) expected(tool string, got, want int) string {
	where := ""
	if slices.Contains(r.Terms.Probed, tool) {
		where = " in the world"
	}
	return fmt.Sprintf("%s: %s%s, expected %d", tool, effects(got), where, want)
}

func effects(n int) string { return counted(n, "effect") }

// faults is W10.
func (r *run) faults() {
	for _, f := range r.Terms.Faults {
		if f.Times > 0 {
			continue
		}
		why := f.Why
		if why == "" {
			why = "the run never came to its place"
		}
		r.breach(Breach{What: fmt.Sprintf("the fault %s did not strike: %s", f.Name, why), Part: failure.PartScenario})
	}
}

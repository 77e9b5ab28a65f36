package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

// Problem is something that is wrong with a Spec by itself; whether its place is
// there is another question.
type Problem struct {
	Key  string // fault, or the key of the spelling that it is about: call, delay, …
	What string // what is wrong, and what to do
}

func (p Problem) Error() string { return p.What }

// Names are the names of all faults, in the catalogue's order.
func Names() []string {
	out := make([]string, len(catalogue))
	for i, f := range catalogue {
		out[i] = f.Name
	}
	return out
}

// Unknown says of a name that it is no fault's, and which was probably meant.
func Unknown(name string) string {
	return fmt.Sprintf("unknown fault %q%s; see: retake faults", name, suggest.Hint(name, Names()))
}

// Check tells all that is wrong with the spec in one error of class
// scenario_invalid.
func (s Spec) Check() error {
	var bad []error
	for _, p := range s.Problems() {
		bad = append(bad, p)
	}
	return invalid(s.String(), bad)
}

// Problems are all that is wrong with the spec, in the order of its spelling.
func (s Spec) Problems() []Problem {
	f, ok := Lookup(s.Name)
	if !ok {
		return []Problem{{keyFault, Unknown(s.Name)}}
	}
	c := checker{spec: &s, fault: f}
	c.address()
	c.frequency()
	c.params()
	return c.found
}

// keyFault is the key of a problem with the fault's name.
const keyFault = "fault"

const (
	wantChance = "must be more than 0 and at most 1"
	wantEffect = "must be before or after"
)

func isChance(p float64) bool { return p > 0 && p <= 1 }

type checker struct {
	spec  *Spec
	fault *Fault
	found []Problem
}

func (c *checker) bad(key, format string, args ...any) {
	c.found = append(c.found, Problem{key, fmt.Sprintf(format, args...)})
}

func (c *checker) address() {
	at := &c.spec.At
	if at.Tool != "" && c.fault.Side() == SideModel {
		c.bad("tool", "%s strikes the model's answers, not a tool; drop tool", c.fault.Name)
	}
	for _, n := range [...]struct {
		key      string
		n, least int
	}{{"call", at.Call, Every}, {"attempt", at.Attempt, 0}, {"event", at.Event, 0}, {"times", c.spec.Times, Every}} {
		if n.n < n.least {
			c.bad(n.key, "%s must be a number from 1 on, is %d", n.key, n.n)
		}
	}
	if at.Event != 0 && c.fault.Inside == NotInside {
		c.bad("event", "%s strikes the %s as a whole, not inside a stream; drop event", c.fault.Name, c.struck())
	}
	if c.fault.Side() == SideHost && *at != (Address{}) {
		c.bad("call", "%s strikes the run as a whole; drop tool, call, attempt and event", c.fault.Name)
	}
}

func (c *checker) struck() string {
	switch c.fault.Side() {
	case SideModel:
		return "answer"
	case SideTool:
		return "tool call"
	default:
		return "run"
	}
}

func (c *checker) frequency() {
	s := c.spec
	switch {
	case s.Chance != 0 && !isChance(s.Chance):
		c.bad("chance", "chance %s, is %v", wantChance, s.Chance)
	case s.Chance != 0 && c.fault.Side() == SideHost:
		c.bad("chance", "%s strikes once a run, not by chance; drop chance", c.fault.Name)
	}
	if s.Times == Every && c.fault.Side() == SideHost {
		c.bad("times", "%s needs a number of times; a run that is repeated for ever has no end", c.fault.Name)
	}
}

func (c *checker) params() {
	p := &c.spec.Params
	for _, given := range [...]struct {
		name string
		said bool
	}{
		{"delay", p.Delay != 0},
		{"status", p.Status != 0},
		{"retry_after", p.RetryAfter != 0},
		{"bytes", p.Bytes != 0},
		{"count", p.Count != 0},
		{"text", p.Text != ""},
		{"kind", p.Kind != ""},
		{"effect", p.Effect != ""},
	} {
		switch {
		case !given.said:
		case !c.fault.takes(given.name):
			c.bad(given.name, "%s takes no %s; %s", c.fault.Name, given.name, c.fault.taken())
		default:
			c.value(given.name)
		}
	}
}

// value holds a parameter that fits against what it may be.
func (c *checker) value(name string) {
	p := &c.spec.Params
	switch {
	case name == "delay" && p.Delay < 0, name == "retry_after" && p.RetryAfter < 0:
		c.bad(name, "%s must not be negative", name)
	case name == "retry_after" && p.RetryAfter%time.Second != 0:
		c.bad(name, "retry_after is sent in whole seconds, is %v", p.RetryAfter)
	case name == "status" && (p.Status < http.StatusBadRequest || p.Status > lastStatus):
		c.bad(name, "status %d is no failure; say one from 400 to 599", p.Status)
	case name == "bytes" && p.Bytes < 0, name == "count" && p.Count < 0:
		c.bad(name, "%s must be a number from 1 on", name)
	case name == "kind" && len(c.fault.Kinds) > 0 && !slices.Contains(c.fault.Kinds, p.Kind):
		c.bad(name, "%s has no kind %q%s; it has %s", c.fault.Name, p.Kind, suggest.Hint(p.Kind, c.fault.Kinds), strings.Join(c.fault.Kinds, ", "))
	case name == "effect" && p.Effect != Before && p.Effect != After:
		c.bad(name, "effect %s, is %q", wantEffect, p.Effect)
	}
}

const lastStatus = 599

func (f *Fault) takes(name string) bool {
	return slices.ContainsFunc(f.Takes, func(p Param) bool { return p.Name == name })
}

// taken says which parameters fit.
func (f *Fault) taken() string {
	if len(f.Takes) == 0 {
		return "it takes no parameters"
	}
	names := make([]string, len(f.Takes))
	for i, p := range f.Takes {
		names[i] = p.Name
	}
	return "it takes " + strings.Join(names, ", ")
}

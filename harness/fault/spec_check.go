package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
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
		switch most := mostOf(n.key); {
		case n.n < n.least:
			c.bad(n.key, "%s must be a number from 1 on, is %d", n.key, n.n)
		case n.n > most:
			c.bad(n.key, "%s is at most %s, is %d", n.key, thousands(most), n.n)
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
	switch whole := c.fault.Side() == SideHost; {
	case whole && s.Times == Every:
		c.bad("times", "%s needs a number of times; a run that is repeated for ever has no end", c.fault.Name)
	case whole && s.Times > mostRuns && s.Times <= mostTimes:
		c.bad("times", "%s runs the task again at most %d times, is %d", c.fault.Name, mostRuns, s.Times)
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
	switch name {
	case "delay":
		c.duration(name, p.Delay)
	case "retry_after":
		c.duration(name, p.RetryAfter)
		if p.RetryAfter%time.Second != 0 {
			c.bad(name, "retry_after is sent in whole seconds, is %v", p.RetryAfter)
		}
	case "status":
		c.status(p.Status)
	case "bytes":
		c.size(name, p.Bytes)
	case "count":
		c.size(name, p.Count)
	case "kind":
		if len(c.fault.Kinds) > 0 && !slices.Contains(c.fault.Kinds, p.Kind) {
			c.bad(name, "%s has no kind %q%s; it has %s", c.fault.Name, p.Kind, suggest.Hint(p.Kind, c.fault.Kinds), strings.Join(c.fault.Kinds, ", "))
		}
	case "effect":
		if p.Effect != Before && p.Effect != After {
			c.bad(name, "effect %s, is %q", wantEffect, p.Effect)
		}
	}
}

func (c *checker) duration(name string, d time.Duration) {
	switch {
	case d < 0:
		c.bad(name, "%s must not be negative", name)
	case d > mostTime:
		c.bad(name, "%s is at most %s hours, is %s", name, thousands(int(mostTime/time.Hour)), shortDuration(d))
	}
}

func (c *checker) size(name string, n int) {
	switch most := mostOf(name); {
	case n < 0:
		c.bad(name, "%s must be a number from 1 on", name)
	case n > most:
		c.bad(name, "%s is at most %s, is %d", name, thousands(most), n)
	}
}

// status wants one after which a loop must not try again: the others have faults of
// their own, or are none that every loop has to treat alike.
func (c *checker) status(n int) {
	switch {
	case n < http.StatusBadRequest || n > lastStatus:
		c.bad("status", "status %d is no failure; say one from 400 to 499", n)
	case n == http.StatusTooManyRequests:
		c.bad("status", "status 429 may be tried again; it is the fault model.rate_limit, or model.rate_limit_bare")
	case n == http.StatusServiceUnavailable || n == statusOverloaded:
		c.bad("status", "status %d may be tried again; it is the fault model.overloaded", n)
	case n >= http.StatusInternalServerError:
		c.bad("status", "status %d may be tried again; a failure of the server is the fault model.server_error", n)
	case slices.Contains(passing, n):
		c.bad("status", "status %d may pass by itself, so a loop may try again; %s needs one after which it must not, such as 400, 401, 403, 404 or 413", n, c.fault.Name)
	}
}

// passing are the statuses from 400 to 499, beside 429, that SDKs try again.
var passing = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly}

const lastStatus = 599

// Ceilings: beyond them a fault breaks the machine that runs it, not the agent.
const (
	mostTimes = 1_000
	mostRuns  = 100 // of the whole task
	mostPlace = 1_000_000
	mostCalls = 1_000
	mostBytes = 64 << 20
	mostTime  = 10_000 * time.Hour
)

// mostOf is the largest number that a key may have.
func mostOf(key string) int {
	switch key {
	case "times":
		return mostTimes
	case "count":
		return mostCalls
	case "bytes":
		return mostBytes
	default:
		return mostPlace
	}
}

// thousands spells a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

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

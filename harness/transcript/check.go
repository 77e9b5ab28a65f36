package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
)

// Call is a call that was made.
type Call struct {
	Tool string
	Args jsontext.Value
}

// Check holds the calls made against the expectation and says, a line each, what
// does not fit; nil when all does.
func (m *Match) Check(made []Call) []string {
	switch m.Mode {
	case Unordered, Subset, Superset:
		return m.checkSet(made)
	default:
		return m.checkOrder(made)
	}
}

func (m *Match) checkOrder(made []Call) []string {
	var bad []string
	for i, want := range m.Calls {
		if i >= len(made) {
			bad = append(bad, fmt.Sprintf("call %d: want %s, the run ended before", i+1, want.Tool))
			continue
		}
		if why := want.differs(made[i]); why != "" {
			bad = append(bad, fmt.Sprintf("call %d: %s", i+1, why))
		}
	}
	for i := len(m.Calls); i < len(made); i++ {
		bad = append(bad, fmt.Sprintf("call %d: %s%s was not expected", i+1, made[i].Tool, made[i].Args))
	}
	return bad
}

// checkSet pairs expected and made calls so that as many as possible fit, and
// reports those left over that the mode does not allow.
func (m *Match) checkSet(made []Call) []string {
	pair := m.pair(made) // expected → made, -1 for none
	var bad []string
	used := make([]bool, len(made))
	for i, j := range pair {
		if j >= 0 {
			used[j] = true
			continue
		}
		if m.Mode != Subset {
			bad = append(bad, "missing: "+m.Calls[i].Tool+m.closest(i, made))
		}
	}
	for j, c := range made {
		if !used[j] && m.Mode != Superset {
			bad = append(bad, fmt.Sprintf("call %d: %s%s was not expected", j+1, c.Tool, c.Args))
		}
	}
	return bad
}

// pair is a maximum matching by augmenting paths: a greedy choice could give a
// call to a loose expectation and leave a strict one without.
func (m *Match) pair(made []Call) []int {
	pair := slices.Repeat([]int{-1}, len(m.Calls))
	owner := slices.Repeat([]int{-1}, len(made))
	var place func(i int, seen []bool) bool
	place = func(i int, seen []bool) bool {
		for j := range made {
			if seen[j] || m.Calls[i].differs(made[j]) != "" {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || place(owner[j], seen) {
				owner[j], pair[i] = i, j
				return true
			}
		}
		return false
	}
	for i := range m.Calls {
		place(i, make([]bool, len(made)))
	}
	return pair
}

// closest says how the first call of the same tool differs; one that would fit
// counts for another expected call.
func (m *Match) closest(i int, made []Call) string {
	for j, c := range made {
		if c.Tool != m.Calls[i].Tool {
			continue
		}
		if why := m.Calls[i].differs(c); why != "" {
			return fmt.Sprintf(" (call %d: %s)", j+1, why)
		}
		return fmt.Sprintf(" (call %d fits, and counts for another)", j+1)
	}
	return ""
}

// differs says why a call is not the expected one; "" when it is.
func (e *ExpectedCall) differs(c Call) string {
	if c.Tool != e.Tool {
		return fmt.Sprintf("want %s, got %s", e.Tool, c.Tool)
	}
	mode := e.Mode
	if mode == "" && len(e.Args) == 0 {
		mode = ArgsIgnore
	}
	if mode == ArgsIgnore {
		return ""
	}
	var args map[string]jsontext.Value
	if json.Unmarshal(c.Args, &args) != nil {
		return fmt.Sprintf("%s: the arguments are no JSON object: %s", c.Tool, c.Args)
	}
	for i := range e.Args {
		a := &e.Args[i]
		v, ok := args[a.Name]
		delete(args, a.Name)
		if !ok {
			if mode == ArgsSubset {
				continue
			}
			return fmt.Sprintf("%s: argument %q is missing", c.Tool, a.Name)
		}
		if why := a.differs(v); why != "" {
			return fmt.Sprintf("%s: argument %q: %s", c.Tool, a.Name, why)
		}
	}
	if len(args) > 0 && mode != ArgsSuperset {
		return fmt.Sprintf("%s: argument %q was not expected", c.Tool, slices.Sorted(keys(args))[0])
	}
	return ""
}

func keys(m map[string]jsontext.Value) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (a *ExpectedArg) differs(v jsontext.Value) string {
	text := string(v)
	if v.Kind() == '"' {
		_ = json.Unmarshal(v, &text) // v is valid JSON: it was decoded before
	}
	switch {
	case a.Contains != nil:
		if !strings.Contains(text, *a.Contains) {
			return fmt.Sprintf("want a text with %q, got %s", *a.Contains, v)
		}
	case a.Regexp != nil:
		if !a.Regexp.MatchString(text) {
			return fmt.Sprintf("want a match of %q, got %s", a.Regexp, v)
		}
	case a.Number != nil:
		n, err := strconv.ParseFloat(text, 64)
		if within := n >= *a.Number-a.Tolerance && n <= *a.Number+a.Tolerance; err != nil || !within { // NaN is not within
			return fmt.Sprintf("want %v ± %v, got %s", *a.Number, a.Tolerance, v)
		}
	case a.Date != nil:
		want, ok1 := day(*a.Date)
		got, ok2 := day(text)
		if !ok1 || !ok2 || want != got {
			return fmt.Sprintf("want the day %s, got %s", *a.Date, v)
		}
	case jsondoc.Hash(a.Value) != jsondoc.Hash(v):
		return fmt.Sprintf("want %s, got %s", a.Value, v)
	}
	return ""
}

// dayLayouts are the spellings of a date that are told to be the same day.
var dayLayouts = []string{
	time.DateOnly, time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006/01/02", "20060102",
	"2 January 2006", "January 2, 2006", "2 Jan 2006", "Jan 2, 2006", "Monday, 2 January 2006", "Monday, January 2, 2006",
	"02.01.2006",
}

func day(text string) (string, bool) {
	for _, l := range dayLayouts {
		if t, err := time.Parse(l, strings.TrimSpace(text)); err == nil {
			return t.Format(time.DateOnly), true
		}
	}
	return "", false
}

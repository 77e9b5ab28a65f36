package fault

import (
	"path"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
)

// IsPattern tells whether a word stands for any number of faults, as tool.* does.
func IsPattern(word string) bool { return strings.ContainsAny(word, `*?[\`) }

// Select finds faults by their names and by patterns (those of path.Match), each
// once, in the order of the words; without words all. A word that finds none is an
// error of class scenario_invalid.
func Select(words ...string) ([]*Fault, error) {
	if len(words) == 0 {
		return Catalogue(), nil
	}
	var out []*Fault
	for _, word := range words {
		found := false
		for _, f := range catalogue {
			if ok, err := path.Match(word, f.Name); err != nil || !ok {
				continue
			}
			found = true
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
		switch {
		case found:
		case IsPattern(word):
			return nil, failure.Errorf(failure.ScenarioInvalid, "the pattern %q fits no fault; see: retake faults", word)
		default:
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s", Unknown(word))
		}
	}
	return out, nil
}

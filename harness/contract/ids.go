package contract

import (
	"fmt"
	"regexp"

	"github.com/retake-harness/retake/harness/failure"
)

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ids is W9.
func (r *run) ids() {
	bad := func(what, id string) {
		r.breach(Breach{What: fmt.Sprintf("%s %q is not 1 to 64 letters, digits, - or _", what, id), Part: failure.PartHarness})
	}
	if !validID.MatchString(r.Terms.TaskID) {
		bad("task id", r.Terms.TaskID)
	}
	seen := map[string]bool{}
	for _, id := range r.Terms.AttemptIDs {
		if !validID.MatchString(id) {
			bad("attempt id", id)
		}
		if seen[id] {
			r.breach(Breach{What: fmt.Sprintf("attempt id %q is used twice", id), Part: failure.PartHarness})
		}
		seen[id] = true
	}
}

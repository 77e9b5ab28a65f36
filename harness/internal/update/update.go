// Package update reads from the environment whether goldens, and recordings that
// are made from a script, are to be written anew. The command line, go test and
// the suite of scenarios ask here, so that one value means one thing everywhere.
package update

import "strconv"

// variables are the names that are looked at: ours, and goldie's word for the
// same.
var variables = [...]string{"RETAKE_UPDATE", "GOLDIE_UPDATE"}

// Asked tells whether one of them is true: 1, t or true. Any other value is a
// no, as it is for goldie: nothing is written over because of a misspelling.
func Asked(getenv func(string) string) bool {
	for _, name := range variables {
		if yes, err := strconv.ParseBool(getenv(name)); err == nil && yes {
			return true
		}
	}
	return false
}

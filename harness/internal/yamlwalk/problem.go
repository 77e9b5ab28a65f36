package yamlwalk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
)

// Pos is a position in a file; line and column count from 1. The zero Pos is
// nowhere.
type Pos struct{ Line, Column int }

// Problem is one thing that is wrong with a file.
type Problem struct {
	File    string
	Pos     Pos
	Message string
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Pos.Line, p.Pos.Column, p.Message)
}

// Problems are all that is wrong with a file, in its order; never empty.
type Problems []Problem

// most is how many problems are written out.
const most = 10

func (ps Problems) Error() string {
	lines := make([]string, 0, most+1)
	for i, p := range ps {
		if i == most {
			lines = append(lines, fmt.Sprintf("%s: and %d more", ps[0].File, len(ps)-most))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// Failf notes a problem at a position; the zero Pos means the file's start.
func (f *File) Failf(at Pos, format string, args ...any) {
	if at == (Pos{}) {
		at = Pos{1, 1}
	}
	f.problems = append(f.problems, Problem{f.Name, at, fmt.Sprintf(format, args...)})
}

// Err is nil, or the Problems noted so far with class scenario_invalid.
func (f *File) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	ps := slices.Clone(f.problems)
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return failure.Wrap(failure.ScenarioInvalid, Problems(slices.Compact(ps)))
}

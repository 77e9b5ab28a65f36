package harnesstest

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/script"
)

// judges say what a script has the models say that are asked about a run, one
// question at a time.
type judges struct {
	models map[string]*script.Model
	made   []cassette.Interaction // in the order of the questions
}

func newJudges(at map[string]harness.Judge, turns map[string][]script.Turn) *judges {
	j := &judges{models: map[string]*script.Model{}}
	for name, judge := range at {
		m := &script.Model{Name: name, API: judge.API, Turns: turns[name]}
		j.models[name] = m
		judge.Transport = keeping{m, j}
		at[name] = judge
	}
	return j
}

// keeping notes what one of the judges said.
type keeping struct {
	*script.Model
	in *judges
}

// RoundTrip implements http.RoundTripper.
func (k keeping) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := k.Model.RoundTrip(req)
	if made := k.Interactions(); err == nil && len(made) > 0 {
		k.in.made = append(k.in.made, made[len(made)-1])
	}
	return resp, err
}

// left fails tb for turns that nobody asked for.
func (j *judges) left(tb testing.TB, name string) {
	tb.Helper()
	for _, m := range slices.Sorted(maps.Keys(j.models)) {
		if left := j.models[m].Left(); len(left) > 0 {
			tb.Errorf("%s: the judge %s was not asked for what it says in turn %v", name, m, left)
		}
	}
}

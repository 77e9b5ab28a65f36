package wire_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

func TestClassOfAnAttempt(t *testing.T) {
	problems := func(kinds ...wire.ProblemKind) *wire.Response {
		r := &wire.Response{}
		for _, k := range kinds {
			r.Problems = append(r.Problems, wire.Problem{Kind: k})
		}
		return r
	}
	whole := problems(wire.ProblemBadEvent, wire.ProblemRepeatedKey)
	whole.Complete = true
	for _, row := range []struct {
		why  string
		r    *wire.Response
		err  error
		want failure.Class
	}{
		{"an answer with its end", &wire.Response{Complete: true}, nil, failure.None},
		{"defects that hide nothing", whole, nil, failure.None},
		{"what is no answer", nil, failure.Errorf(failure.Protocol, "no"), failure.Protocol},
		{"the provider's error, which counts more than how it came", &wire.Response{Err: &wire.APIError{Status: 529}}, nil, failure.Overloaded},
		{"no end", problems(wire.ProblemNoTerminal), nil, failure.Truncated},
		{"an event that is no JSON, on the way to the end", problems(wire.ProblemBadEvent), nil, failure.Protocol},
		{"an event that is cut is the end of a cut stream", problems(wire.ProblemBadEvent, wire.ProblemNoTerminal), nil, failure.Truncated},
	} {
		if got := wire.ClassOf(row.r, row.err); got != row.want {
			t.Errorf("%s: class %q, want %q", row.why, got, row.want)
		}
	}
}

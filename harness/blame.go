package harness

import (
	"errors"
	"fmt"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

// partOf is the part that has to act on an outcome of that class.
func partOf(c failure.Class) failure.Part { return failure.About(c).Part }

// failureOf describes an error that ended a run or kept it from beginning.
func failureOf(r *Result, err error) Failure {
	f := Failure{Class: failure.Of(err), What: err.Error()}
	f.Part = partOf(f.Class)
	if r.Scenario != nil {
		f.Where = r.Scenario.File
	}
	var miss *cassette.Miss
	if invalid, ok := errors.AsType[*cassette.InvalidError](err); ok {
		f.Where, f.Line = invalid.Place(), invalid.Line
	}
	switch {
	case errors.As(err, &miss):
		return missFailure(r, miss, err)
	case isUnrecorded(err):
		f.Part, f.Why = failure.PartCassette, "a replay answers from recordings only; it never dials"
		f.Next = "record it with: retake record " + r.Name
		if errors.Is(err, errUnrecorded) {
			f.Next = fmt.Sprintf("record it with: retake record %s --fault %s; or make it of turns with harnesstest.Scripted and Recording{Variant: %q}, or say on_divergence: script, or {accept: reason}", r.Name, r.Variant, r.Variant)
		}
	default:
		f.Why, f.Next = wayOn(f.Class, r.args())
	}
	return f
}

// wayOn says why an error of the class matters, and what to do about it.
func wayOn(c failure.Class, scenario string) (why, next string) {
	switch c {
	case failure.Agent:
		return "the agent gave up with an error of its own", "mend the agent"
	case failure.Interrupted:
		return "somebody stopped the run", "run it again: retake run " + scenario
	case failure.CassetteInvalid:
		return "what cannot be read cannot be replayed", "restore the file, or re-record with: retake record " + scenario
	case failure.ScenarioInvalid:
		return "a specification that is not understood checks nothing", "correct the scenario, or the fault that was asked for, at the place that is named"
	case failure.World:
		return "the world around the run could not be built", "mend what is named, and run it again"
	case failure.Internal:
		return "this is a defect of retake, not of what it tests", "report it with the scenario and its cassettes"
	default:
		return "nothing after it could be checked", "mend the " + string(partOf(c)) + ", or expect this end under expect: outcome: " + string(c)
	}
}

// missFailure describes a miss; whom it is to be blamed on needs the whole run,
// see world.missPart.
func missFailure(r *Result, m *cassette.Miss, err error) Failure {
	f := Failure{
		Class: failure.CassetteMiss, Part: failure.PartAgent, What: err.Error(), Where: m.File, Line: m.NearestLine,
		Why:  "a recorded model cannot answer what it never saw",
		Next: "if the change is meant, re-record with: retake record " + r.Name,
	}
	return f
}

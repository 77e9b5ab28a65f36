package rerecord

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
)

// providers are ends that are the provider's or the network's doing: what was
// recorded then is no recording of the scenario.
var providers = []failure.Class{
	failure.RateLimited, failure.Overloaded, failure.ServerError, failure.Timeout, failure.Transport,
	failure.Unauthorized, failure.ClientError, failure.Protocol, failure.Truncated,
}

// ended tells whether the run came to an end that can be kept; if not, it says in t
// what stopped it.
func (r *recording) ended(ctx context.Context, t *Taken, res *harness.Result, g *gate, tools *tools) {
	again := "record again: retake record " + t.args()
	switch last := lastOf(res); {
	case ctx.Err() != nil:
		t.stop(Stopped, failure.Interrupted, "interrupted", again)
	case g.capped.Load():
		t.stop(Stopped, failure.Budget, "the session's cap is reached: "+r.session.Reached(), nextCap)
	case tools.missed() != nil:
		t.stop(Stopped, failure.CassetteMiss, tools.missed().Error(), tools.advice())
	case len(res.Failures) > 0 && stops(res.Failures[0].Class):
		f := res.Failures[0]
		t.stop(Stopped, f.Class, f.What, f.Next)
	case last == nil:
		t.stop(Stopped, failure.Agent, "the agent asked the model nothing"+detail(res), "mend the agent; does it use the base URL that it is given?")
	case slices.Contains(providers, last.class) && string(last.class) != t.expected():
		t.stop(Stopped, last.class, fmt.Sprintf("the provider failed: the last answer is %s: %s", last.class, last.says), again)
	}
}

// stops tells that a run which ended so shows nothing of the scenario.
func stops(c failure.Class) bool {
	switch c {
	case failure.World, failure.Internal, failure.ScenarioInvalid, failure.CassetteInvalid, failure.CassetteMiss, failure.Interrupted:
		return true
	default:
		return false
	}
}

// expected is the outcome that the scenario expects of the job's run.
func (j *Job) expected() string {
	return j.expect().Outcome
}

// expect is what the scenario expects of the job's run.
func (j *Job) expect() *scenario.Expect {
	if j.Variant != nil {
		return &j.Variant.Expect
	}
	return &j.Scenario.Expect
}

// args are what makes retake record record just this.
func (j *Job) args() string {
	out := j.Scenario.Name + " --model " + j.Model
	if j.Variant != nil {
		out += " --fault " + j.Variant.ID
	}
	return out
}

// answered is the last thing that the provider said.
type answered struct {
	class failure.Class
	says  string
}

func lastOf(res *harness.Result) *answered {
	if len(res.Models) == 0 {
		return nil
	}
	m := res.Models[len(res.Models)-1]
	a := &answered{class: m.Class, says: fmt.Sprintf("status %d", m.Status)}
	switch {
	case m.Err != nil:
		a.says = m.Err.Error()
	case m.Response != nil && m.Response.Err != nil:
		a.says = m.Response.Err.Error()
	}
	return a
}

// detail is how the agent ended.
func detail(res *harness.Result) string {
	if len(res.Failures) > 0 {
		return ": " + res.Failures[0].What
	}
	return ""
}

// leave ends a recording. What was paid for stays for the next session, and is told;
// where nothing was, nothing stays.
func (r *recording) leave(t *Taken, rec *cassette.Recorder, before bool) {
	_ = rec.Close() // where it matters, Finish has told
	path := cassette.PartialPath(t.Path)
	there, err := exists(path)
	switch {
	case err != nil || !there:
	case !before && t.Spent.Tokens == 0:
		_ = os.Remove(path) // refusals alone, which would be asked for again
	default:
		t.Warnings = append(t.Warnings, fmt.Sprintf("what was paid for is kept in %s; record again to go on from there", path))
	}
}

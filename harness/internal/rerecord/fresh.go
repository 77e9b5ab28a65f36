package rerecord

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/agent"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
)

// ownSDK is what the notes say of the client where the reference loop runs the
// scenario; "" where another agent does, whose client nobody knows here.
func ownSDK(s *suite.Suite, sc *scenario.Scenario, model, sdk string) string {
	p, err := s.Params(sc, model, suite.Options{})
	if err != nil {
		return ""
	}
	if _, ok := p.Agent.(agent.Loop); !ok {
		return ""
	}
	return sdk
}

// Fresh runs each job of the plan live and compares the model's course with the
// recorded one. Tools answer from their cassette. Nothing is written. A session at
// its cap runs no further ones, and says so of each.
func (p *Plan) Fresh(ctx context.Context, emit func(*Drifted)) live.Spent {
	session := live.NewSession(p.options.Cap, p.options.Next)
	session.Watch = p.options.Watch
	defer session.Close()
	for i := range p.Jobs {
		j := &p.Jobs[i]
		d := &Drifted{Scenario: j.Scenario.Name, Model: j.Model, Fault: j.Fault(), File: j.Path}
		if err := p.fresh(ctx, session, j, d); err != nil {
			d.Findings = append(d.Findings, Finding{Error, "run", err.Error()})
		}
		d.sort()
		emit(d)
	}
	return session.Spent()
}

func (p *Plan) fresh(ctx context.Context, session *live.Session, j *Job, d *Drifted) error {
	f, err := cassette.Open(j.Path)
	if err != nil {
		return err
	}
	was, err := CourseIn(f)
	if err != nil {
		return err
	}
	switch why := session.Reached(); {
	case ctx.Err() != nil:
		return failure.Errorf(failure.Interrupted, "not run: interrupted")
	case why != "":
		return failure.Errorf(failure.Budget, "not run: the session's cap is reached: %s", why)
	}
	params, err := p.suite.Params(j.Scenario, j.Model, suite.Options{Approve: p.options.Approve})
	if err != nil {
		return err
	}
	way, err := session.Transport(j.target)
	if err != nil {
		return err
	}
	unjudged := *j.Scenario
	unjudged.Expect.Golden = false
	params.Scenario, params.Variant, params.Transport, params.Clock, params.Secrets = &unjudged, j.Variant, way, clock.ModeReal, p.Secrets
	params.Recording = true // faults are as they were then
	res := harness.Exec(ctx, params)
	if last := lastOf(res); len(res.Models) > 0 && last.class != "" && string(last.class) != j.expected() {
		return failure.Errorf(last.class, "the provider failed: the last answer is %s: %s", last.class, last.says)
	}
	found := Compare(was, CourseOf(res))
	if len(res.Failures) > 0 && res.Failures[0].Class == failure.CassetteMiss {
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.What != "calls" && f.What != "arguments" }) // the rest only follows from it
	}
	d.Findings = append(d.Findings, found...)
	for i := range res.Failures {
		if res.Failures[i].Class == failure.CassetteUnplayed {
			continue // the tools' calls that were not made are told already
		}
		d.Findings = append(d.Findings, Finding{Error, "run", fmt.Sprintf("the fresh run does not do what is expected: %s", res.Failures[i].What)})
	}
	return nil
}

package rerecord

import (
	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
)

// Live runs the plan's scenarios against the live APIs without recording them. It
// is a suite.Live, and may be used by many goroutines.
type Live struct {
	plan    *Plan
	session *live.Session
}

// Live begins a session, which is the caller's to close.
func (p *Plan) Live() *Live {
	l := &Live{plan: p, session: live.NewSession(p.options.Cap, p.options.Next)}
	l.session.Watch = p.options.Watch
	return l
}

// Close ends the session.
func (l *Live) Close() { l.session.Close() }

// Spent is what the session has spent so far.
func (l *Live) Spent() live.Spent { return l.session.Spent() }

// Reached implements suite.Live.
func (l *Live) Reached() string {
	if why := l.session.Reached(); why != "" {
		return "the session's cap is reached: " + why
	}
	return ""
}

// Adapt implements suite.Live.
func (l *Live) Adapt(sc *scenario.Scenario, p *harness.Params) (func(*harness.Result), error) {
	job := l.plan.job(sc.Name, p.Model)
	if job == nil {
		return nil, failure.Errorf(failure.Internal, "%s: the run with %s was not planned", sc.File, p.Model)
	}
	way, err := l.session.Transport(job.target)
	if err != nil {
		return nil, err
	}
	gate := &gate{next: way}
	p.Transport, p.Live, p.Clock, p.Secrets = gate, true, clock.ModeReal, l.plan.Secrets
	judges, err := liveJudges(l.session, job.judges, p)
	if err != nil {
		return nil, err
	}
	judges.hand(p, judges)
	return func(r *harness.Result) {
		if gate.capped.Load() || judges.capped {
			suite.Capped(r, l.Reached())
		}
	}, nil
}

func (p *Plan) job(name, model string) *Job {
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.Scenario.Name == name && j.Model == model {
			return j
		}
	}
	return nil
}

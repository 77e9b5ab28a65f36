package rerecord

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// Judges are asked when the run that they judge is replayed, not while it is
// recorded: what they are shown then is what they will be shown from now on.

func (p *Plan) judgePath(sc *scenario.Scenario, model string, v *scenario.Variant) string {
	path := harness.JudgeCassette(p.suite.Dirs.Cassettes, sc.Name, model)
	if v != nil {
		path = harness.UnderVariant(path, v.ID)
	}
	return path
}

// aimJudges finds where the judges of the job's scenario are asked.
func (p *Plan) aimJudges(j *Job) error {
	if p.options.Unjudged {
		return nil
	}
	params, err := p.suite.Params(j.Scenario, j.Model, suite.Options{})
	if err != nil {
		return err
	}
	j.judges = map[string]live.Target{}
	for _, name := range j.Scenario.JudgeModels() {
		at, ok := params.Judges[name]
		if !ok {
			return failure.Errorf(failure.ScenarioInvalid, "%s: the judge %q: its API is not known; describe it in %s under models", j.Scenario.File, name, p.suite.Config.File)
		}
		if j.judges[name], err = p.targetOf(&harness.Params{Model: name, API: at.API, BaseURL: at.BaseURL, Price: at.Price}); err != nil {
			return err
		}
	}
	return nil
}

// judging asks the judges of one run live. It is used by one goroutine: a run asks
// its judges one after the other.
type judging struct {
	ways  map[string]*live.Transport
	retry harness.Retry
	lent  *cassette.Player // what the run without faults has asked; nil without

	asked  int   // live
	failed error // of the last question, when it was not answered
	capped bool

	path   string
	rec    *cassette.Recorder // nil where nothing is recorded
	before bool
}

func liveJudges(s *live.Session, targets map[string]live.Target, p *harness.Params) (*judging, error) {
	j := &judging{ways: map[string]*live.Transport{}, retry: p.Retry}
	for name := range targets {
		way, err := s.Transport(targets[name])
		if err != nil {
			return nil, err
		}
		j.ways[name] = way
	}
	return j, nil
}

// hand gives the run what asks its judges.
func (j *judging) hand(p *harness.Params, by http.RoundTripper) {
	for name := range j.ways {
		if judge, ok := p.Judges[name]; ok {
			judge.Transport = of{name, by}
			p.Judges[name] = judge
		}
	}
}

// of says by the context which judge is asked.
type of struct {
	judge string
	next  http.RoundTripper
}

type judgeKey struct{}

// RoundTrip implements http.RoundTripper.
func (o of) RoundTrip(req *http.Request) (*http.Response, error) {
	return o.next.RoundTrip(req.WithContext(context.WithValue(req.Context(), judgeKey{}, o.judge)))
}

// RoundTrip asks the judge that the context names, and again while the provider
// fails in a way that may pass.
func (j *judging) RoundTrip(req *http.Request) (*http.Response, error) {
	if j.lent != nil {
		if resp, err := j.lent.RoundTrip(req.Clone(req.Context())); err == nil {
			return resp, nil
		}
		if req.GetBody != nil {
			req.Body, _ = req.GetBody() // of bytes: it does not fail
		}
	}
	name, _ := req.Context().Value(judgeKey{}).(string)
	backoff := j.retry.Backoff
	for n := 1; ; n++ {
		j.asked++
		resp, class, wait, err := j.attempt(req, name)
		if class == failure.None || n >= max(j.retry.Attempts, 1) || !failure.About(class).Retryable || wait > j.retry.RetryAfterCap {
			return resp, err
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		if err := clock.Sleep(req.Context(), max(wait, backoff)); err != nil {
			return nil, err
		}
		backoff = min(backoff*2, j.retry.MaxBackoff)
	}
}

func (j *judging) attempt(req *http.Request, name string) (*http.Response, failure.Class, time.Duration, error) {
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		again.Body, _ = req.GetBody() // of bytes: it does not fail
	}
	resp, err := j.ways[name].RoundTrip(again)
	if err != nil {
		err = failure.Classify(err)
		j.failed, j.capped = err, errors.Is(err, live.ErrCap)
		return nil, failure.Of(err), 0, err
	}
	if resp.StatusCode < http.StatusBadRequest {
		j.failed = nil
		return resp, failure.None, 0, nil
	}
	class := wire.StatusClass(resp.StatusCode)
	j.failed = failure.Errorf(class, "the judge %s answers with status %d", name, resp.StatusCode)
	return resp, class, wire.RetryAfter(resp.Header), nil
}

// askJudges has the judges of the run asked and recorded; nil where it has none.
func (r *recording) askJudges(t *Taken, v *scenario.Variant, p *harness.Params) (*judging, error) {
	of := (&Job{Scenario: t.Scenario, Variant: v}).expect()
	if len(of.Judges) == 0 || len(t.judges) == 0 {
		return nil, nil //nolint:nilnil // nobody is asked, which end knows
	}
	j, err := liveJudges(r.session, t.judges, p)
	if err != nil {
		return nil, err
	}
	j.path = r.plan.judgePath(t.Scenario, t.Model, v)
	if v != nil {
		if j.lent, err = lend(r.plan.judgePath(t.Scenario, t.Model, nil), p); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o755); err != nil {
		return nil, failure.Errorf(failure.World, "the folder of the cassette: %w", err)
	}
	if j.before, err = exists(cassette.PartialPath(j.path)); err != nil {
		return nil, err
	}
	notes := r.notes(t)
	notes.SDK = r.plan.options.SDK
	j.rec, err = cassette.Record(j.path, cassette.Recording{Next: j, Notes: notes, Redact: p.Redact, Secrets: r.plan.Secrets})
	if err != nil {
		return nil, err
	}
	j.hand(p, j.rec)
	return j, nil
}

// lend opens what the judges said of the run without faults; nil where they said
// nothing.
func lend(path string, p *harness.Params) (*cassette.Player, error) {
	f, err := cassette.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is there to lend, which RoundTrip knows
	}
	if err != nil {
		return nil, err
	}
	return cassette.NewPlayer(f, cassette.Options{Redact: p.Redact, BareMisses: true})
}

// end writes what the judges said, unless one has not answered; of a run that the
// recording of another one answers it writes nothing.
func (j *judging) end(t *Taken, res *harness.Result) error {
	if j == nil {
		return nil
	}
	defer func() { _ = j.rec.Close() }() // where it matters, Finish has told
	spent := t.Spent.Tokens
	for _, way := range j.ways {
		t.Spent.Add(way.Spent())
	}
	spent = t.Spent.Tokens - spent
	t.Kept += j.rec.Kept()
	t.Warnings = append(t.Warnings, j.rec.Warnings()...)
	switch {
	case j.failed != nil && j.capped:
		return errors.Join(failure.Errorf(failure.Budget, "the judges are not asked: %w", j.failed), j.leave(spent))
	case j.failed != nil:
		return errors.Join(failure.Errorf(failure.Of(j.failed), "%w; ask again: retake record %s --judges", j.failed, t.args()), j.leave(spent))
	case len(res.Judged) == 0: // the run has not come to its judges
		return j.leave(spent)
	case j.asked == 0 && j.lent != nil && j.rec.Kept() == 0:
		return errors.Join(j.leave(spent), remove(j.path))
	}
	if err := j.rec.Finish(); err != nil {
		return err
	}
	t.Files = append(t.Files, j.path)
	return nil
}

// leave keeps what was paid for, for the next session; where nothing was, nothing.
func (j *judging) leave(spent int64) error {
	_ = j.rec.Close() // nothing of it is wanted now
	if j.before || spent > 0 {
		return nil
	}
	return remove(cassette.PartialPath(j.path))
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.Errorf(failure.World, "%w", err)
	}
	return nil
}

package rerecord

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/redact"
)

// Labelled records what a judge says of texts that people have labelled. What its
// cassette has already is not asked again.
type Labelled struct {
	Target  live.Target
	Secrets *redact.Values // that must not be written

	plan    *Plan
	path    string
	session *live.Session
	asking  *judging
	unlock  func()
}

// PrepareLabelled finds where the judge is asked. Nothing has been asked so far.
func PrepareLabelled(s *suite.Suite, model, path string, o Options) (*Labelled, error) {
	at, err := s.Judge(model)
	if err != nil {
		return nil, err
	}
	p := &Plan{suite: s, options: o}
	t, err := p.targetOf(&harness.Params{Model: model, API: at.API, BaseURL: at.BaseURL, Price: at.Price})
	if err != nil {
		return nil, err
	}
	p.Jobs = []Job{{target: t}}
	return &Labelled{Target: t, Secrets: p.secrets(), plan: p, path: path}, nil
}

// Begin opens the recording, which the caller closes, and gives what asks the
// judge.
func (l *Labelled) Begin() (http.RoundTripper, error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return nil, failure.Errorf(failure.World, "the folder of the cassette: %w", err)
	}
	unlock, err := file.Lock(filepath.Dir(l.path))
	if err != nil {
		if errors.Is(err, file.ErrLocked) {
			err = errors.New("somebody else records there; wait until the other retake has ended")
		}
		return nil, failure.Errorf(failure.World, "%s: %w", filepath.Dir(l.path), err)
	}
	l.unlock = unlock
	p := harness.Params{Retry: l.plan.suite.Retry(), Redact: l.plan.suite.Redaction()}
	l.session = live.NewSession(l.plan.options.Cap, l.plan.options.Next)
	l.session.Watch = l.plan.options.Watch
	if l.asking, err = liveJudges(l.session, map[string]live.Target{l.Target.Model: l.Target}, &p); err != nil {
		return nil, err
	}
	if l.asking.lent, err = lend(l.path, &p); err != nil {
		return nil, err
	}
	if l.asking.before, err = exists(cassette.PartialPath(l.path)); err != nil {
		return nil, err
	}
	notes := cassette.FileNotes{Model: l.Target.Model, SDK: l.plan.options.SDK}
	l.asking.rec, err = cassette.Record(l.path, cassette.Recording{Next: l.asking, Notes: notes, Redact: p.Redact, Secrets: l.Secrets})
	if err != nil {
		return nil, err
	}
	return of{l.Target.Model, l.asking.rec}, nil
}

// Finish writes the cassette.
func (l *Labelled) Finish() error { return l.asking.rec.Finish() }

// Close ends the recording. What was paid for and is not in the cassette stays for
// the next one.
func (l *Labelled) Close() error {
	if l.unlock != nil {
		defer l.unlock()
	}
	if l.session != nil {
		defer l.session.Close()
	}
	if l.asking == nil || l.asking.rec == nil {
		return nil
	}
	return l.asking.leave(l.session.Spent().Tokens)
}

// Spent is what was spent so far.
func (l *Labelled) Spent() live.Spent {
	if l.session == nil {
		return live.Spent{}
	}
	return l.session.Spent()
}

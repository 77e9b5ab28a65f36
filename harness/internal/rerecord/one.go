package rerecord

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// one makes one recording.
func (r *recording) one(ctx context.Context, t *Taken) {
	dir := filepath.Join(r.plan.suite.Dirs.Cassettes, filepath.FromSlash(t.Scenario.Name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.fail(failure.Errorf(failure.World, "the folder of the cassette: %w", err), "make the folder writable")
		return
	}
	unlock, err := file.Lock(dir)
	switch {
	case errors.Is(err, file.ErrLocked):
		t.stop(Stopped, failure.World, dir+": somebody else records this scenario", "wait until the other retake has ended")
		return
	case err != nil:
		t.fail(failure.Errorf(failure.World, "%s: %w", dir, err), "")
		return
	}
	defer unlock()
	if !t.judged {
		if err := r.take(ctx, t); err != nil {
			t.fail(err, "")
		}
	}
	if t.State == "" {
		r.replay(ctx, t)
	}
}

// take runs the scenario live and writes the cassettes, or says in t why it does
// not.
func (r *recording) take(ctx context.Context, t *Taken) error {
	params, err := r.params(t)
	if err != nil {
		return err
	}
	way, err := r.session.Transport(t.target)
	if err != nil {
		return err
	}
	gate := &gate{next: way}
	before, err := exists(cassette.PartialPath(t.Path))
	if err != nil {
		return err
	}
	rec, err := cassette.Record(t.Path, cassette.Recording{Next: gate, Notes: r.notes(t), Redact: params.Redact, Secrets: r.plan.Secrets, Replay: replayOf(&params)})
	if err != nil {
		return err
	}
	defer func() { r.leave(t, rec, before) }()
	tools := &tools{job: &t.Job, plan: r.plan, params: &params, notes: r.notes(t)}
	defer tools.close()
	params.Transport = rec
	params.OpenTools = tools.around(params.OpenTools)
	result := harness.Exec(ctx, params)
	t.Spent, t.Kept = way.Spent(), rec.Kept()
	r.ended(ctx, t, result, gate, tools)
	t.Warnings = append(t.Warnings, rec.Warnings()...)
	if t.State != "" {
		return nil
	}
	if err := tools.finish(t); err != nil {
		return err
	}
	if err := rec.Finish(); err != nil {
		return err
	}
	t.Files = append(t.Files, t.Path)
	return r.name(t)
}

// params are what the run takes: real time, the scenario as it is recorded, and
// nothing to compare with.
func (r *recording) params(t *Taken) (harness.Params, error) {
	s := r.plan.suite
	sc := t.Scenario.WhenRecording()
	p, err := s.Params(sc, t.Model, suite.Options{Approve: r.plan.options.Approve})
	if err != nil {
		return p, err
	}
	unjudged := *p.Scenario
	unjudged.Expect.Golden = false
	p.Scenario, p.Variant, p.Recording, p.Clock = &unjudged, t.Variant, true, clock.ModeReal
	p.Secrets = r.plan.Secrets
	return p, nil
}

func replayOf(p *harness.Params) cassette.Options {
	of := p.Scenario.Replay
	return cassette.Options{Match: cassette.Mode(of.Match), Ignore: of.Ignore, Headers: of.Headers, Record: p.Scenario.Name}
}

// notes say what the recording is made with.
func (r *recording) notes(t *Taken) cassette.FileNotes {
	h := harness.HashesOf(t.Scenario)
	return cassette.FileNotes{Model: t.Model, Hashes: cassette.Hashes{System: h.Prompt, Tools: h.Tools, Scenario: h.Scenario}}
}

// name writes down which client has asked, which is known from what it asked.
func (r *recording) name(t *Taken) error {
	f, err := cassette.Open(t.Path)
	if err != nil || len(f.Interactions) == 0 {
		return err
	}
	if f.Notes.SDK = clientOf(f.Interactions[0].Request.Header); f.Notes.SDK == "" {
		f.Notes.SDK = r.plan.options.SDK
	}
	return cassette.Save(t.Path, f)
}

// clientOf is what a request says of its client; "" where it says nothing.
func clientOf(h cassette.Header) string {
	return h.Get("User-Agent")
}

// gate passes requests on and remembers that the session's cap has stopped one.
type gate struct {
	next   http.RoundTripper
	capped atomic.Bool
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if errors.Is(err, live.ErrCap) {
		g.capped.Store(true)
	}
	return resp, err
}

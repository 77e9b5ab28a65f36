package rerecord

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/transcript"
)

// tools run the tools of a scenario that run while it is recorded alone. A call
// that their cassette has is answered from there, so that the recordings of other
// models stay true. Other calls really run, and are added: where the cassette has
// no call of the tool yet, or where that was asked for.
type tools struct {
	job    *Job
	plan   *Plan
	params *harness.Params
	notes  cassette.FileNotes

	real  map[string]tool.Executor
	kept  *cassette.ToolPlayer // of the tools' cassette
	added *cassette.ToolRecorder

	mu   sync.Mutex
	miss error // the first call that may not run
}

// around puts the recorder before the tools that run while recording alone.
func (x *tools) around(open func(context.Context, *scenario.Scenario) (*harness.Tools, error)) func(context.Context, *scenario.Scenario) (*harness.Tools, error) {
	if open == nil {
		return nil
	}
	return func(ctx context.Context, s *scenario.Scenario) (*harness.Tools, error) {
		t, err := open(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := x.begin(t); err != nil {
			if t.Close != nil {
				t.Close()
			}
			return nil, err
		}
		return t, nil
	}
}

// path is the tools' cassette; beside it lies what is added, until the run is over.
func (x *tools) path() string {
	p := harness.ToolCassette(x.plan.suite.Dirs.Cassettes, x.job.Scenario.Name)
	if x.job.Variant != nil {
		p = harness.UnderVariant(p, x.job.Variant.ID)
	}
	return p
}

func (x *tools) addedPath() string {
	dir, name := filepath.Split(x.path())
	return filepath.Join(dir, "."+harness.FileName(x.job.Model)+"."+name)
}

func (x *tools) begin(t *harness.Tools) error {
	x.real = map[string]tool.Executor{}
	for name, run := range t.Scenario.Runs {
		if run.Recording {
			x.real[name] = t.Executors[name]
			t.Executors[name] = x
		}
	}
	if len(x.real) == 0 {
		return nil
	}
	if err := x.merge(nil); err != nil { // of a session that ended before it could
		return err
	}
	own := cassette.ToolOptions{LeaveOut: hostKeys(t.Scenario.Tools), Record: x.job.Scenario.Name, Redact: x.params.Redact}
	f, err := cassette.Open(x.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if x.kept, err = cassette.NewToolPlayer(f, own); err != nil {
			return err
		}
	}
	x.added, err = cassette.RecordTools(x.addedPath(), cassette.ToolRecording{
		Next: tool.ExecutorFunc(x.run), Notes: x.notes, Redact: x.params.Redact, Secrets: x.plan.Secrets, Replay: own,
	})
	return err
}

func (x *tools) run(ctx context.Context, c tool.Call) (tool.Result, error) {
	return x.real[c.Tool].Execute(ctx, c)
}

// Execute implements tool.Executor.
func (x *tools) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	if x.kept == nil {
		return x.added.Execute(ctx, c)
	}
	res, err := x.kept.Execute(ctx, c)
	if failure.Of(err) != failure.CassetteMiss {
		return res, err
	}
	if x.plan.options.Tools || x.kept.Recorded(c.Tool) == 0 {
		return x.added.Execute(ctx, c)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.miss == nil {
		x.miss = failure.Errorf(failure.CassetteMiss, "%s: the model calls %s %s, which the tools' cassette does not have", x.path(), c.Tool, transcript.Safe(string(c.Args)))
	}
	return tool.Result{}, x.miss
}

// missed is the call that ended the run; nil without.
func (x *tools) missed() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.miss
}

func (x *tools) advice() string {
	return fmt.Sprintf("to run the tool for real and add the call: retake record %s --tools", x.job.args())
}

// finish adds what the tools have answered to their cassette.
func (x *tools) finish(t *Taken) error {
	if x.added == nil {
		return nil
	}
	t.Warnings = append(t.Warnings, x.added.Warnings()...)
	if err := x.added.Finish(); err != nil {
		return err
	}
	return x.merge(t)
}

// merge moves the calls of the file beside the tools' cassette into it.
func (x *tools) merge(t *Taken) error {
	more, err := cassette.Open(x.addedPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := cassette.Open(x.path())
	if errors.Is(err, fs.ErrNotExist) {
		notes := more.Notes
		notes.Model = "" // it answers every model
		all, err = &cassette.File{Name: x.path(), Version: 2, Notes: notes}, nil
	}
	if err != nil {
		return err
	}
	for _, in := range more.Interactions {
		notes := cassette.Notes{}
		if in.Notes != nil {
			notes = *in.Notes
		}
		notes.Model, notes.Source = x.job.Model, cassette.Recorded
		if notes.RecordedAt == "" {
			notes.RecordedAt = more.Notes.RecordedAt
		}
		in.Notes, in.ID = &notes, len(all.Interactions)
		all.Interactions = append(all.Interactions, in)
	}
	if err := cassette.Save(x.path(), all); err != nil {
		return err
	}
	if t != nil {
		t.Files = append(t.Files, x.path())
	}
	if err := os.Remove(x.addedPath()); err != nil {
		return failure.Errorf(failure.World, "%s: its calls are in %s, and it is not removed; remove it: %w", x.addedPath(), x.path(), err)
	}
	return nil
}

func (x *tools) close() {
	if x.added != nil {
		_ = x.added.Close() // where it matters, Finish has told
	}
}

// hostKeys are the arguments that the host fills in, which no recording is matched
// by.
func hostKeys(decls []tool.Decl) map[string][]string {
	out := map[string][]string{}
	for i := range decls {
		if k := decls[i].Key; k != nil && k.From == tool.KeyFromHost {
			out[decls[i].Name] = append(out[decls[i].Name], k.Field)
		}
	}
	return out
}

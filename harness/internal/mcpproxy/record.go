package mcpproxy

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// Recording says where calls are recorded.
type Recording struct {
	Path    string
	Secrets *redact.Values // a recording that would hold one of them is not written
}

// recorder keeps the calls that the server has answered.
type recorder struct {
	Recording

	mu     sync.Mutex
	calls  []cassette.Interaction
	failed error
}

// keep files a call, with its answer word for word.
func (r *recorder) keep(c tool.Call, result tool.Result, words jsontext.Value, took time.Duration) {
	in, err := cassette.ToolInteraction(c, result, took)
	in.Notes = &cassette.Notes{Unknown: words}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.failed == nil {
		r.failed = err
	}
	r.calls = append(r.calls, in)
}

// finish writes the cassette.
func (r *recorder) finish(notes jsontext.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return r.failed
	}
	f := &cassette.File{Name: r.Path, Version: 2, Interactions: r.calls, Notes: cassette.FileNotes{
		Source: cassette.Recorded, RecordedAt: clock.Wallclock().UTC().Format(time.RFC3339), Unknown: notes,
	}}
	text, err := cassette.Encode(nil, f)
	if err != nil {
		return failure.Errorf(failure.Internal, "%s: writing the recording: %w", r.Path, err)
	}
	if name, found := r.Secrets.Found(text); found {
		return failure.Errorf(failure.World, "%s: not written: a call or the list of tools holds the value of %s; keep it out of what the tools say", r.Path, name)
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		return failure.Errorf(failure.World, "%s: writing the recording: %w", r.Path, err)
	}
	return cassette.Save(r.Path, f)
}

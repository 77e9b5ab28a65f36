package cassette

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// ToolRecording says how a ToolRecorder records. Next is required.
type ToolRecording struct {
	Next    tool.Executor  // runs the tools
	Notes   FileNotes      // of the cassette; Source and RecordedAt are filled in
	Redact  Redaction      // of arguments and results; tools have no headers
	Secrets *redact.Values // values that must not be written: a call that has one is refused
	Replay  ToolOptions    // how a call that an interrupted session has kept is found again
	// Beside is asked once a call has run, with its context: members of an object to
	// keep beside what it came to, see Notes.Unknown; nil keeps none.
	Beside func(ctx context.Context) jsontext.Value
}

// ToolRecorder is a tool.Executor that runs another one and keeps the calls and
// their results as a tools' cassette. It works like Recorder, but for this: whatever
// a tool has answered is kept, errors too, since to call it again could have an
// effect again. Calls whose context has ended, and those that the executor itself
// fails, are not kept.
type ToolRecorder struct {
	next    tool.Executor
	beside  func(ctx context.Context) jsontext.Value
	rules   *rules
	session *session

	kept   *ToolPlayer // over what was kept; nil without any
	usable []Interaction
}

// RecordTools begins the recording of the tools' cassette at path; for errors see
// Record.
func RecordTools(path string, o ToolRecording) (*ToolRecorder, error) {
	return recordToolsOn(realDisk{}, path, o)
}

func recordToolsOn(d disk, path string, o ToolRecording) (*ToolRecorder, error) {
	rules, err := o.Redact.rules()
	if err != nil {
		return nil, err
	}
	o.Replay.Redact = o.Redact
	if _, err := NewToolPlayer(&File{Name: path, Version: 2}, o.Replay); err != nil {
		return nil, err
	}
	s, kept, err := openSession(d, path, o.Notes, o.Secrets, func(in *Interaction) {
		in.Request.Body, in.Response.Body = rules.document(in.Request.Body), rules.document(in.Response.Body)
	})
	if err != nil {
		return nil, err
	}
	r := &ToolRecorder{next: o.Next, beside: o.Beside, rules: rules, session: s, usable: kept}
	s.leftover = slices.Repeat([]bool{true}, len(kept))
	if len(kept) > 0 {
		if r.kept, err = NewToolPlayer(&File{Name: path, Version: 2, Interactions: kept}, o.Replay); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return r, nil
}

// Kept is as Recorder's.
func (r *ToolRecorder) Kept() int { kept, _ := r.session.counts(); return kept }

// Recorded is as Recorder's.
func (r *ToolRecorder) Recorded() int { _, filed := r.session.counts(); return filed }

// Warnings are as Recorder's.
func (r *ToolRecorder) Warnings() []string { return r.session.told() }

// Describe gives the cassette members of an object to keep beside the calls, see
// FileNotes.Unknown.
func (r *ToolRecorder) Describe(notes jsontext.Value) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.notes.Unknown = notes
}

// Finish is as Recorder's.
func (r *ToolRecorder) Finish() error { return r.session.finish() }

// Close is as Recorder's.
func (r *ToolRecorder) Close() error { return r.session.close() }

// Execute runs the tool, or answers with what an interrupted session has kept.
func (r *ToolRecorder) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	o, in, err := r.session.reuse(r.usable, func() int {
		if r.kept == nil {
			return -1
		}
		i, _ := r.kept.index.take(r.kept.question(&c))
		return i
	})
	if err != nil {
		return tool.Result{}, err
	}
	if in != nil {
		if wait := r.kept.opts.Wait; wait != nil {
			if err := wait(ctx, in.Response.Duration); err != nil {
				return tool.Result{}, err
			}
		}
		return toolResult(r.kept.file, in)
	}
	watch := clock.Stopwatch()
	result, err := r.next.Execute(ctx, c)
	if err != nil || ctx.Err() != nil {
		return result, err
	}
	var beside jsontext.Value
	if r.beside != nil {
		beside = r.beside(ctx)
	}
	r.keep(o, c, result, beside, watch)
	return result, nil
}

// keep files a call. One that cannot be filed is refused, and tells so at the end.
func (r *ToolRecorder) keep(o *slot, c tool.Call, result tool.Result, beside jsontext.Value, watch func() time.Duration) {
	in, err := ToolInteraction(c, result, watch())
	if err != nil {
		r.session.refuse(o, err)
		return
	}
	q, a := &in.Request, &in.Response
	q.Body, a.Body = r.rules.document(q.Body), r.rules.document(a.Body)
	q.ContentLength, a.ContentLength = int64(len(q.Body)), int64(len(a.Body))
	if beside != nil {
		in.Notes = &Notes{Unknown: r.rules.document(beside)}
	}
	r.session.file(o, in)
}

// question is what a call asks, without what recordings do not have. ToolInteraction
// files arguments in their canonical spelling: asked in the same, most calls are
// found by their bytes.
func (p *ToolPlayer) question(c *tool.Call) question {
	q := question{toolPlace(c.Tool), c.Args}
	if args, err := jsondoc.Canonical(nil, c.Args); err == nil {
		q.body = args
	}
	q.body = p.rules.document(q.body)
	return q
}

package mcpproxy

import (
	"os"
	"path/filepath"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// Recording says where calls are recorded.
type Recording struct {
	Path    string // of the cassette, which is written by Proxy.Finish
	Redact  cassette.Redaction
	Secrets *redact.Values // values that must not be written
}

// begin takes up the recording. Each call is on disk as soon as it has ended.
func (p *Proxy) begin(r Recording) (err error) {
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		return failure.Errorf(failure.World, "%s: recording: %w", r.Path, err)
	}
	p.record, err = cassette.RecordTools(r.Path, cassette.ToolRecording{
		Next: tool.ExecutorFunc(work), Beside: words, Redact: r.Redact, Secrets: r.Secrets,
	})
	return err
}

// Finish writes the recording, if one was to be made, with the server's list of
// tools and its answer to initialize. It is called when the clients are gone. An
// error is of class world; what was recorded is then kept beside the file.
func (p *Proxy) Finish() error {
	if p.record == nil {
		return nil
	}
	p.mu.Lock()
	notes := p.tools.notes()
	p.mu.Unlock()
	p.record.Describe(notes)
	for _, text := range p.record.Warnings() {
		p.opts.Warn(text)
	}
	if err := p.record.Finish(); err != nil {
		_ = p.record.Close() // the partial file stays
		return err
	}
	return nil
}

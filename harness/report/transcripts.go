package report

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/transcript"
)

// Place is where a run's transcript is: the line of its heading in a file below
// the report's folder.
type Place struct {
	File string `json:"file"` // with slashes
	Line int    `json:"line"` // from 1
	// At is the heading's first byte in the file; left out by an old report, and
	// zero for the first.
	At int64 `json:"at,omitzero"`
}

// transcripts collects the transcripts of a run: those of one folder of
// scenarios in one file, since ten thousand small files cost more than ten
// thousand runs. Each begins with a heading, which no line of a transcript can
// be taken for.
type transcripts struct {
	dir  string // the report's folder
	name string // of the open file, below dir
	file *os.File
	ends map[string]Place // by name: where the next one goes
	buf  []byte

	secrets *redact.Values
}

// heading begins the line above a transcript.
const heading = "=== "

// headingOf is the heading in the spelling that it also has when the names were
// read from report.json, which is all UTF-8.
func headingOf(e *Entry) string {
	text := heading + transcript.Safe(string([]rune(Title(e.Name, e.Fault)+" ["+e.Model+"]")))
	if e.Trial > 0 {
		text += fmt.Sprintf(", trial %d", e.Trial)
	}
	return text
}

func newTranscripts(dir string, secrets *redact.Values) *transcripts {
	return &transcripts{dir: dir, ends: map[string]Place{}, secrets: secrets}
}

// transcriptFile is the file for a scenario's transcripts: those of
// travel/umbrella are in transcripts/travel/all.txt.
func transcriptFile(scenario string) string {
	return path.Join("transcripts", path.Dir(scenario), "all.txt")
}

// add appends an entry's transcript and says where it is; nil for none.
func (t *transcripts) add(e *Entry, text []byte) (*Place, error) {
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // a run that could not begin has no transcript
	}
	if err := t.open(transcriptFile(e.Name)); err != nil {
		return nil, err
	}
	end := t.ends[t.name]
	at := &Place{File: t.name, Line: end.Line + 1, At: end.At}
	t.buf = fmt.Appendf(t.buf[:0], "%s\n%s\n", headingOf(e), text)
	text = t.secrets.Bytes(t.buf)
	end.Line += bytes.Count(text, []byte("\n"))
	end.At += int64(len(text))
	t.ends[t.name] = end
	_, err := t.file.Write(text)
	return at, err
}

// open makes name the open file. Results come by name, so files seldom change.
func (t *transcripts) open(name string) error {
	if t.name == name {
		return nil
	}
	if err := t.close(); err != nil {
		return err
	}
	full := filepath.Join(t.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(full, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	t.file, t.name = f, name
	return nil
}

func (t *transcripts) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file, t.name = nil, ""
	return err
}

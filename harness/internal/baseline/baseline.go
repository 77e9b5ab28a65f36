// Package baseline keeps the one report that a team has accepted: what the next
// comparison is held against, with who took it, when, and how to go back to it.
package baseline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/report"
)

// Name is the folder of the accepted report, below that of reports; unlike those
// of runs it is meant to be kept in git, and no run removes it.
const Name = "baseline"

// Schema names the format of a Note.
const Schema = "retake.baseline/1"

// noteFile is where the Note is, beside report.json.
const noteFile = "baseline.json"

// Note is what is known of an accepted report besides itself.
type Note struct {
	Schema   string `json:"schema"`
	Report   string `json:"report"`   // the run's id
	Accepted string `json:"accepted"` // RFC 3339
	By       string `json:"by"`
	Rollback string `json:"rollback"`      // how to go back to what the report is of
	Text     string `json:"note,omitzero"` // why it was accepted
}

// Params say what is accepted. Report, Reports, By and Rollback are required.
type Params struct {
	Report   string // the report's folder
	Reports  string // the folder of reports
	By       string
	Rollback string
	Text     string
	Now      time.Time
	Secrets  *redact.Values // none of them may be in it
}

// Accept copies a report, whole, to where comparisons look for the baseline. The
// one before stays as it is until the copy is complete. An error is of class
// scenario_invalid for a report that cannot be a measure, contract for one with a
// secret, and world for what cannot be read or written.
func Accept(p Params) (*Note, error) {
	if strings.TrimSpace(p.Rollback) == "" {
		return nil, failure.Errorf(failure.ScenarioInvalid, "--rollback: say how to go back to what is accepted, like --rollback \"set MODEL to claude-opus-4-8 and deploy\"; whoever reverts will have no time to find out")
	}
	doc, err := report.Stream(p.Report, func(*report.Entry) error { return nil })
	if err != nil {
		return nil, err
	}
	from, to, err := places(p)
	if err != nil {
		return nil, err
	}
	switch {
	case doc.Run.Volatile.Stopped:
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: the run was interrupted, so its report is no measure; run it to its end", p.Report)
	case doc.Run.Shard != nil:
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: this is a part of a run; join the parts first: retake merge", p.Report)
	}
	note := &Note{
		Schema: Schema, Report: doc.Run.Volatile.ID, Accepted: p.Now.UTC().Format(time.RFC3339), By: p.By, Rollback: p.Rollback, Text: p.Text,
	}
	temp := filepath.Join(p.Reports, "."+Name+".partial")
	defer func() { _ = os.RemoveAll(temp) }()
	if err := write(temp, from, note, p.Secrets); err != nil {
		return nil, err
	}
	if err := replace(temp, to); err != nil {
		return nil, unwritten(to, err)
	}
	return note, nil
}

// places are the folder that is copied, behind what links to it, and the one that
// it is copied to.
func places(p Params) (from, to string, err error) {
	from, err = filepath.EvalSymlinks(filepath.Dir(report.File(p.Report)))
	if err != nil {
		return "", "", failure.Errorf(failure.World, "%s: the report cannot be read: %w", p.Report, cause(err))
	}
	to = filepath.Join(p.Reports, Name)
	a, errA := os.Stat(from)
	b, errB := os.Stat(to)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return "", "", failure.Errorf(failure.ScenarioInvalid, "%s: this is the baseline already; name another report", p.Report)
	}
	return from, to, nil
}

// write makes the folder to of the report's files and the note.
func write(to, from string, note *Note, secrets *redact.Values) error {
	if err := os.RemoveAll(to); err != nil {
		return unwritten(to, err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return unwritten(to, err)
	}
	text, err := json.Marshal(note, jsontext.WithIndent("  "), jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return failure.Errorf(failure.Internal, "the note of the baseline: %w", err)
	}
	if err := put(filepath.Join(to, noteFile), append(text, '\n'), secrets); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return failure.Errorf(failure.World, "%s: the report cannot be read: %w", path, cause(err))
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return failure.Errorf(failure.World, "%s: %w", path, err)
		}
		switch {
		case below == noteFile: // of a baseline that was kept elsewhere
			return nil
		case d.IsDir():
			if err := os.MkdirAll(filepath.Join(to, below), 0o755); err != nil {
				return unwritten(to, err)
			}
			return nil
		case !d.Type().IsRegular():
			return failure.Errorf(failure.ScenarioInvalid, "%s: a report has files alone, and this is none; it is not copied", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return failure.Errorf(failure.World, "%s: the report cannot be read: %w", path, cause(err))
		}
		return put(filepath.Join(to, below), data, secrets)
	})
}

// put writes a file that has no secret.
func put(path string, data []byte, secrets *redact.Values) error {
	if name, found := secrets.Found(data); found {
		return failure.Errorf(failure.Contract, "%s: not accepted: the value of the secret %s is in it, and a baseline is kept in git; run again, or take it out of what was given", filepath.Base(path), name)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return unwritten(path, err)
	}
	return nil
}

// replace gives the new folder its name; the old one comes back when that fails.
func replace(temp, to string) error {
	old := filepath.Join(filepath.Dir(to), "."+Name+".old")
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(temp, to); err != nil {
		_ = os.Rename(old, to)
		return err
	}
	return os.RemoveAll(old)
}

// Read is the note of the baseline in the folder of reports. An error is of class
// world when there is none.
func Read(reports string) (*Note, error) {
	path := filepath.Join(reports, Name, noteFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Errorf(failure.World, "%s: there is no accepted report yet; accept one with: retake baseline accept --rollback HOW", filepath.Join(reports, Name))
	}
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: %w", path, cause(err))
	}
	var n Note
	if err := json.Unmarshal(text, &n, jsontext.AllowInvalidUTF8(true)); err != nil || n.Schema != Schema {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: this is no note of a baseline that this retake can read (%q); accept the report again", path, n.Schema)
	}
	return &n, nil
}

func unwritten(where string, err error) error {
	return failure.Errorf(failure.World, "%s: the baseline cannot be written: %w; name a writable folder with --reports DIR", where, cause(err))
}

// cause is the error without the path, which the message has already.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

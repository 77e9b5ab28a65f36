package report

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
)

// Open reads a report. path is its folder (reports/RUN, reports/latest), or its
// report.json. A report of an older retake opens too; what it does not say is
// zero. An error is of class world when nothing can be read there, and
// scenario_invalid when it is no report, a damaged one, or one of a newer format.
func Open(path string) (*Document, error) {
	var all []Entry
	doc, err := Stream(path, func(e *Entry) error {
		all = append(all, *e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	doc.Scenarios = all
	return doc, nil
}

// Stream reads a report like Open, but calls f with one entry after the other
// instead of keeping them: the Document that it returns has none. f may keep the
// entry. An error of f ends the reading and is returned as it is.
func Stream(path string, f func(*Entry) error) (*Document, error) {
	name := File(path)
	in, err := os.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = in.Close() }()
	if info, err := in.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, failure.Errorf(failure.World, "%s: no regular file, so no report", name)
	}
	r := reader{name: name, each: f, dec: jsontext.NewDecoder(bufio.NewReaderSize(in, 64<<10), jsontext.AllowInvalidUTF8(true))}
	if err := r.document(); err != nil {
		return nil, cmp.Or(r.failed, r.damaged(err))
	}
	return &r.doc, nil
}

// File is the report.json of a report that is named by its folder, or by itself.
func File(path string) string {
	if strings.HasSuffix(path, ".json") {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return path
		}
	}
	return filepath.Join(path, "report.json")
}

func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return failure.Errorf(failure.World, "%s: there is no report here; name a report's folder, such as reports/latest, or make one: retake run", name)
	}
	return failure.Errorf(failure.World, "%s: the report cannot be read: %w", name, cause(err))
}

// cause is the error without the path, which the message has already.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// reader reads one report.json.
type reader struct {
	name   string
	dec    *jsontext.Decoder
	each   func(*Entry) error
	doc    Document
	failed error // which is told as it is
}

func (r *reader) document() error {
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return err
	}
	for r.dec.PeekKind() == jsontext.KindString {
		member, err := r.dec.ReadToken()
		if err == nil {
			err = r.member(member.String())
		}
		if err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	if err := r.format(); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return cmp.Or(err, errors.New("something follows it"))
	}
	return nil
}

// member reads one member of the report; one that is not known is left out, as
// those of a younger retake are.
func (r *reader) member(name string) error {
	switch name {
	case "schema":
		if err := json.UnmarshalDecode(r.dec, &r.doc.Schema); err != nil {
			return err
		}
		return r.format()
	case "scenarios":
		return r.entries()
	case "totals":
		return json.UnmarshalDecode(r.dec, &r.doc.Totals)
	case "run":
		return json.UnmarshalDecode(r.dec, &r.doc.Run)
	default:
		return r.dec.SkipValue()
	}
}

func (r *reader) entries() error {
	if err := r.format(); err != nil {
		return err
	}
	if err := r.begin(jsontext.KindBeginArray); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndArray {
		e := new(Entry)
		if err := json.UnmarshalDecode(r.dec, e); err != nil {
			return err
		}
		if r.failed = r.each(e); r.failed != nil {
			return r.failed
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

func (r *reader) begin(kind jsontext.Kind) error {
	token, err := r.dec.ReadToken()
	if err == nil && token.Kind() != kind {
		err = errors.New("a part of it is of another kind")
	}
	return err
}

const schemaName, schemaNumber = "retake.report/", 1

// format refuses what this retake does not know how to read.
func (r *reader) format() error {
	number, ours := strings.CutPrefix(r.doc.Schema, schemaName)
	n, err := strconv.Atoi(number)
	switch {
	case !ours || err != nil || n < 1:
		r.failed = failure.Errorf(failure.ScenarioInvalid, "%s: this is no report of retake: it does not begin with \"schema\":%q", r.name, Schema)
	case n > schemaNumber:
		r.failed = failure.Errorf(failure.ScenarioInvalid, "%s: the report has the format %q, and this retake reads up to %q; read it with the retake that wrote it, or a newer one",
			r.name, r.doc.Schema, Schema)
	}
	return r.failed
}

func (r *reader) damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return failure.Errorf(failure.ScenarioInvalid, "%s: the report is damaged: it ends at byte %d, in the middle; take it from where it was written once more, or run again", r.name, r.dec.InputOffset())
	}
	text := err.Error()
	if bad, ok := errors.AsType[*json.SemanticError](err); ok {
		text = "a value of another kind at " + string(bad.JSONPointer)
	}
	return failure.Errorf(failure.ScenarioInvalid, "%s: the report is damaged at byte %d: %s", r.name, r.dec.InputOffset(), text)
}

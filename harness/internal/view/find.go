package view

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/report"
)

// Kind is what a report is of.
type Kind string

// The kinds.
const (
	RunReport   Kind = "run"
	SweepReport Kind = "sweep"
	DrillReport Kind = "drill"
)

// Report is a report on disk.
type Report struct {
	Path  string // the folder of a run's, the file of another
	Kind  Kind
	Named bool // by a person; else it was found in a folder
}

// Find says which reports the paths name: a run's folder or its report.json, the
// JSON of a sweep or a drill, or a folder of reports as retake fills it, of which
// the last so many runs are taken (0: all) and what has a name of its own. An
// error is of class world where nothing is there, and scenario_invalid where it
// is something else.
func Find(paths []string, last int) ([]Report, error) {
	var out []Report
	for _, path := range paths {
		found, err := find(path, last)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if !slices.ContainsFunc(out, func(o Report) bool { return o.Path == r.Path }) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func find(path string, last int) ([]Report, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, failure.Errorf(failure.World, "%s: there are no reports here: %w; make one: retake run, or name the folder: --reports DIR", path, yamlwalk.Cause(err))
	case !info.IsDir():
		kind, err := kindOf(path)
		return []Report{{Path: path, Kind: kind, Named: true}}, err
	case isFile(report.File(path)):
		return []Report{{Path: path, Kind: RunReport, Named: true}}, nil
	}
	runs, err := runsIn(path, last)
	if err != nil {
		return nil, err
	}
	return append(append(runs, filesIn(filepath.Join(path, "sweep"), SweepReport)...), filesIn(filepath.Join(path, "drill"), DrillReport)...), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// runName is the name that a run's folder gets; what has another one is kept by
// somebody, and is always shown.
var runName = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{8}$`)

func runsIn(dir string, last int) ([]Report, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: the reports cannot be read: %w", dir, yamlwalk.Cause(err))
	}
	var runs, others []Report
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "latest" || !isFile(report.File(path)) {
			continue
		}
		r := Report{Path: path, Kind: RunReport}
		if runName.MatchString(e.Name()) {
			runs = append(runs, r)
		} else {
			others = append(others, r)
		}
	}
	if last > 0 && len(runs) > last {
		runs = runs[len(runs)-last:] // ReadDir sorts, and the names begin with the time
	}
	return append(others, runs...), nil
}

// filesIn are the JSON files below a folder; there may be none.
func filesIn(dir string, kind Kind) []Report {
	var out []Report
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".json" && !strings.HasPrefix(d.Name(), ".") {
			out = append(out, Report{Path: path, Kind: kind})
		}
		return nil
	})
	return out
}

// kindOf tells what a file is by what it says of itself.
func kindOf(path string) (Kind, error) {
	if filepath.Base(path) == "report.json" {
		return RunReport, nil // it may be large, and its reader says what is wrong
	}
	text, err := file.Read(path)
	if err != nil {
		return "", failure.Errorf(failure.World, "%s: the report cannot be read: %w", path, yamlwalk.Cause(err))
	}
	switch schema, _, _ := strings.Cut(schemaOf(text), "/"); schema {
	case "retake.report":
		return RunReport, nil
	case "retake.sweep":
		return SweepReport, nil
	case "retake.drill":
		return DrillReport, nil
	}
	return "", failure.Errorf(failure.ScenarioInvalid, "%s: this is no report of a run, a sweep or a drill: it has no \"schema\" of retake's", path)
}

// schemaOf is the format that a document names; "" for none.
func schemaOf(text []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginObject {
		return ""
	}
	for dec.PeekKind() == jsontext.KindString {
		name, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		if name.String() != "schema" {
			if dec.SkipValue() != nil {
				return ""
			}
			continue
		}
		if value, err := dec.ReadToken(); err == nil && value.Kind() == jsontext.KindString {
			return value.String()
		}
		return ""
	}
	return ""
}

// read reads the document of a sweep or a drill.
func read[T any](path, schema string) (*T, error) {
	text, err := file.Read(path)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: the report cannot be read: %w", path, yamlwalk.Cause(err))
	}
	if has := schemaOf(text); has != schema {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: the report has the format %q, and this retake reads %q; make it again, or read it with the retake that wrote it", path, has, schema)
	}
	out := new(T)
	if err := json.Unmarshal(text, out, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: the report is damaged: %w; make it again", path, err)
	}
	return out, nil
}

// Package start lays out what a project begins with: cassettes made of other
// recorders' files (Import), a first scenario to look at (Init), and a scenario with
// its recordings made of what somebody recorded (From), which is run at once, so
// that the person knows where they stand.
package start

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/failure"
)

// Target says where imported cassettes go.
type Target struct {
	Cassettes string // the project's folder of cassettes
	Out       string // another folder; or a file ending in .yaml, which takes all; "" for Cassettes
	Name      string // the scenario; "" is made of each file's name
	Force     bool   // writes over cassettes that are there
}

// Written is a cassette that was written.
type Written struct {
	Path, Scenario, Model string
	Calls, Others         int
}

// Source is a file that was imported.
type Source struct {
	*foreign.Imported
	Path   string
	Format foreign.Format
}

// Import makes cassettes of files and writes them, a file for each scenario and
// model. All are read before the first is written. Of two files that are the halves
// of one exchange the request comes first.
func Import(files []string, o foreign.Options, t Target) ([]Source, []Written, error) {
	var sources []Source
	for i := 0; i < len(files); i++ {
		f, err := foreign.Open(files[i])
		if err != nil {
			return nil, nil, err
		}
		if f.Half == foreign.RequestOnly && i+1 < len(files) {
			answer, err := foreign.Open(files[i+1])
			if err != nil {
				return nil, nil, err
			}
			if f, err = foreign.Join(f, answer); err != nil {
				return nil, nil, err
			}
			i++
		}
		im, err := foreign.Import(f, o)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, Source{Imported: im, Path: f.Name, Format: f.Format})
	}
	outs := t.split(sources)
	for _, out := range outs {
		if err := t.free(out.path); err != nil {
			return nil, nil, err
		}
	}
	var written []Written
	for _, out := range outs {
		if err := cassette.Save(out.path, out.file); err != nil {
			return sources, written, err
		}
		written = append(written, Written{Path: out.path, Scenario: out.name, Model: out.model, Calls: out.calls, Others: len(out.file.Interactions) - out.calls})
	}
	return sources, written, nil
}

// out is a cassette to be written.
type out struct {
	path, name, model string
	file              *cassette.File
	calls             int
}

// split sorts interactions into cassettes, in the order of the files.
func (t *Target) split(sources []Source) []*out {
	var outs []*out
	for _, s := range sources {
		name := t.Name
		if name == "" {
			name = NameOf(s.Path)
		}
		model := ""
		if len(s.Calls) > 0 {
			model = s.Calls[0].Model // of what is asked before the first call
		}
		for i := range s.File.Interactions {
			call := slices.IndexFunc(s.Calls, func(c foreign.Call) bool { return c.Interaction == i })
			if call >= 0 {
				model = s.Calls[call].Model
			}
			o := t.at(&outs, name, model)
			o.take(s.File, i)
			if call >= 0 {
				o.calls++
			}
		}
	}
	return outs
}

// at is the cassette for a scenario's model.
func (t *Target) at(outs *[]*out, name, model string) *out {
	folder := t.Out
	if folder == "" {
		folder = t.Cassettes
	}
	if model == "" {
		model = "unknown"
	}
	path := harness.ModelCassette(folder, name, model)
	if strings.HasSuffix(t.Out, ".yaml") {
		path = t.Out
	}
	for _, o := range *outs {
		if o.path == path {
			return o
		}
	}
	o := &out{path: path, name: name, model: model}
	*outs = append(*outs, o)
	return o
}

// take adds an interaction, with the notes of its file where they differ.
func (o *out) take(f *cassette.File, i int) {
	in := f.Interactions[i]
	if o.file == nil {
		o.file = &cassette.File{Name: o.path, Version: 2, Notes: f.Notes}
	}
	notes := cassette.Notes{}
	if in.Notes != nil {
		notes = *in.Notes
	}
	if f.Notes.Model != o.file.Notes.Model && notes.Model == "" {
		notes.Model = f.Notes.Model
	}
	if f.Notes.SDK != o.file.Notes.SDK && notes.SDK == "" {
		notes.SDK = f.Notes.SDK
	}
	if f.Notes.RecordedAt != o.file.Notes.RecordedAt && notes.RecordedAt == "" {
		notes.RecordedAt = f.Notes.RecordedAt
	}
	in.Notes = &notes
	in.ID = len(o.file.Interactions)
	o.file.Interactions = append(o.file.Interactions, in)
}

// free refuses a path at which there is something.
func (t *Target) free(path string) error {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && t.Force:
		return nil
	case err != nil:
		return failure.Errorf(failure.World, "%s: looking whether it is there: %w", path, err)
	}
	return failure.Errorf(failure.CassetteInvalid, "%s is there already; write over it with --force, or elsewhere with --name or --out", path)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// NameOf makes a scenario's name of a file's path: its name without its endings, or,
// where that says nothing (Polly's recording.har), its folder's.
func NameOf(path string) string {
	path = filepath.ToSlash(path)
	for {
		base := path[strings.LastIndexByte(path, '/')+1:]
		name := base
		for _, end := range [...]string{".gz", ".yaml", ".yml", ".json", ".har", ".httprr", ".sse", ".txt"} {
			name = strings.TrimSuffix(name, end)
		}
		name = strings.Trim(notInNames.ReplaceAllString(name, "-"), "-.")
		if name != "" && name != "recording" && name != "tools" && name != "retake" {
			return name
		}
		i := strings.LastIndexByte(path, '/')
		if i <= 0 {
			return "imported"
		}
		path = path[:i]
	}
}

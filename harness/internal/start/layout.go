package start

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// Made is what was laid out, and how its first run ended.
type Made struct {
	Name     string // of the scenario
	Files    []File
	Warnings []string
	Result   *harness.Result
}

// File is a file of the layout.
type File struct {
	Path string
	Kept bool // it was there already, and was not touched
}

// Project says where to lay out. The zero value is the working directory.
type Project struct {
	Dirs   suite.Dirs
	Getenv func(string) string // for secrets; nil has none
}

func (p *Project) dirs() suite.Dirs { return suite.Filled(p.Dirs) }

func (p *Project) getenv(name string) string {
	if p.Getenv == nil {
		return ""
	}
	return p.Getenv(name)
}

// write makes a file, unless there is one.
func (m *Made) write(path string, text []byte) error {
	there, err := exists(path)
	if err == nil && !there {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = file.Replace(path, text)
		}
	}
	if err != nil {
		return failure.Errorf(failure.World, "%s: writing it: %w", path, err)
	}
	m.Files = append(m.Files, File{Path: path, Kept: there})
	return nil
}

// save writes a cassette, unless there is one.
func (m *Made) save(path string, f *cassette.File) error {
	there, err := exists(path)
	if err != nil {
		return failure.Errorf(failure.World, "%s: looking whether it is there: %w", path, err)
	}
	if !there {
		if err := cassette.Save(path, f); err != nil {
			return err
		}
	}
	m.Files = append(m.Files, File{Path: path, Kept: there})
	return nil
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

const attributes = `# Goldens and cassettes are compared byte by byte.
golden/** -text
cassettes/** -text
`

const ignored = `# What a run leaves behind.
reports/
# A recording in progress, and what was set aside of one.
*.partial
*.partial.*
`

// surroundings are the files for git.
func (m *Made) surroundings(d suite.Dirs) error {
	if err := m.write(filepath.Join(d.Root, ".gitattributes"), []byte(attributes)); err != nil {
		return err
	}
	if m.Files[len(m.Files)-1].Kept {
		text, err := file.Read(filepath.Join(d.Root, ".gitattributes"))
		if err == nil && (!strings.Contains(string(text), "golden/** -text") || !strings.Contains(string(text), "cassettes/** -text")) {
			m.Warnings = append(m.Warnings, "add to .gitattributes, since git must not change line ends in them: golden/** -text and cassettes/** -text")
		}
	}
	return m.write(filepath.Join(d.Root, ".gitignore"), []byte(ignored))
}

// checkName refuses what cannot be a scenario's name.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.HasSuffix(name, ".yaml") || notInNames.MatchString(strings.ReplaceAll(name, "/", "")) {
		return failure.Errorf(failure.ScenarioInvalid, "%q cannot be a scenario's name; use letters, digits and . _ -, with / between folders, as in travel/umbrella", name)
	}
	return nil
}

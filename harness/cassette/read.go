package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
)

// Open reads the cassette at path. A missing file is of class world, one that
// is no cassette of class cassette_invalid, with its place.
func Open(path string) (*File, error) {
	data, err := file.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.Errorf(failure.World, "%s: opening the cassette: %w; record it with: retake record %s", path, fs.ErrNotExist, scenarioName(path))
	case err != nil:
		return nil, failure.Errorf(failure.World, "%s: reading the cassette: %w", path, err)
	}
	return Read(data, path)
}

// Read reads a cassette from data; name stands in messages. The File keeps
// data: the caller must not change it afterwards.
func Read(data []byte, name string) (*File, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, invalid(name, 1, 1, "the file is empty, no cassette")
	}
	f, ok := readFast(data)
	if !ok {
		var err error
		if f, err = readYAML(data, name); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(data)
	f.Name, f.Hash = name, hex.EncodeToString(sum[:])
	if err := check(f); err != nil {
		return nil, err
	}
	return f, nil
}

// check holds both readers to the same rules about what an interaction needs.
func check(f *File) error {
	if len(f.Interactions) == 0 {
		f.Warnings = append(f.Warnings, Warning{Text: "the cassette has no interactions"})
	}
	f.doubt(0, f.Notes.Source, f.Notes.Unknown)
	for i := range f.Interactions {
		in := &f.Interactions[i]
		if err := checkAnswer(f.Name, i, in); err != nil {
			return err
		}
		if in.Notes != nil {
			f.doubt(in.Line, in.Notes.Source, in.Notes.Unknown)
		}
		var missing string
		switch {
		case in.Request.URL == "":
			missing = "request url"
		case in.Request.Method == "":
			missing = "request method"
		case in.Notes != nil && in.Notes.Transport != nil:
			if !in.Notes.Transport.known() {
				return invalid(f.Name, in.Line, 1, "interaction %d: unknown transport error %q", i+1, in.Notes.Transport.Kind)
			}
		case in.Response.Code == 0:
			missing = "response code"
		}
		if missing != "" {
			return invalid(f.Name, in.Line, 1, "interaction %d has no %s; the file may be cut off", i+1, missing)
		}
	}
	return nil
}

// InvalidError says where a file is no cassette, and why.
type InvalidError struct {
	File         string
	Line, Column int // from 1
	What         string
}

// Place is file:line:column.
func (e *InvalidError) Place() string { return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column) }

func (e *InvalidError) Error() string { return e.Place() + ": " + e.What }

// checkAnswer refuses figures that no exchange has.
func checkAnswer(name string, i int, in *Interaction) error {
	a := &in.Response
	switch {
	case a.Duration < 0:
		return invalid(name, in.Line, 1, "interaction %d: the response duration must not be negative, is %s", i+1, a.Duration)
	case a.Code != 0 && (a.Code < 100 || a.Code > 599):
		return invalid(name, in.Line, 1, "interaction %d: the response code must lie between 100 and 599, is %d", i+1, a.Code)
	}
	return nil
}

// doubt warns of what an x-retake member says and nobody reads: a misspelled
// name, or one of a later version.
func (f *File) doubt(line int, source Source, unknown jsontext.Value) {
	warn := func(format string, args ...any) {
		f.Warnings = append(f.Warnings, Warning{Line: line, Text: "x-retake: " + fmt.Sprintf(format, args...)})
	}
	if source != "" && source != Scripted && source != Recorded && source != Imported {
		warn("unknown source %q; known are scripted, recorded and imported", source)
	}
	if len(unknown) == 0 {
		return
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(unknown, &members) != nil {
		return
	}
	for _, name := range sortedKeys(members) {
		warn("unknown member %q, which is not read", name)
	}
}

func invalid(name string, line, column int, format string, args ...any) error {
	return failure.Wrap(failure.CassetteInvalid, &InvalidError{File: name, Line: max(line, 1), Column: max(column, 1), What: fmt.Sprintf(format, args...)})
}

// checkText refuses what cannot be YAML at all, before a parser puts it in its
// own words.
func checkText(data []byte, name string) error {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			line := 1 + bytes.Count(data[:i], []byte("\n"))
			return invalid(name, line, i-bytes.LastIndexByte(data[:i], '\n'), "byte 0x%02x: this is a binary file, no cassette", data[i])
		}
		i += size
	}
	return nil
}

// scenarioName is the scenario that a cassette's path belongs to:
// cassettes/<name>/<model>.yaml.
func scenarioName(path string) string {
	dir := filepath.ToSlash(filepath.Dir(path))
	if _, name, ok := strings.Cut("/"+dir+"/", "/cassettes/"); ok && strings.Trim(name, "/") != "" {
		return strings.Trim(name, "/")
	}
	return "NAME"
}

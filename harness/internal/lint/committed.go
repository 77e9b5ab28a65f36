package lint

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/redact"
)

var secretWritten = Rule{
	"secret/written", Error, "the value of a secret in a file of the project",
	"who has the repository has the key, in its history too",
	"renew the secret first; then take it out of the file", "L11",
}

// Written looks for the values of secrets in all files below the folders; links
// are not followed, a folder that is not there has none. An error is of class
// world.
func Written(secrets *redact.Values, dirs ...string) ([]Finding, error) {
	var out []Finding
	if secrets == nil {
		return nil, nil
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil || !d.Type().IsRegular():
				return err
			}
			text, err := file.Read(path)
			if err != nil {
				return err
			}
			if name, found := secrets.Found(text); found {
				at := Place{File: filepath.ToSlash(path), Line: lineOf(secrets, text), Column: 1}
				out = append(out, secretWritten.finding(at, name, "it has the value of the secret %s", name))
			}
			return nil
		})
		if err != nil {
			return nil, failure.Errorf(failure.World, "%s: looking for secrets: %w", filepath.ToSlash(dir), err)
		}
	}
	return out, nil
}

// lineOf is the first line of a text that has a secret; 1 where it goes over
// several.
func lineOf(secrets *redact.Values, text []byte) int {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if _, found := secrets.Found([]byte(line)); found {
			return n
		}
	}
	return 1
}

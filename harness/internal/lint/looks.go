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

// LooksLikeID is the rule that is found in recordings, goldens and reports, which
// may then have comments for the linter.
const LooksLikeID = "secret/looks-like"

var secretLooks = Rule{
	LooksLikeID, Error, "a text in a recording, a golden or a report that looks like a key or a token",
	"nobody declared it, so nothing keeps it out of what is committed: a tool's answer or a prompt has brought it in",
	"renew it if it is one, name its place under redact in retake.yaml and record again; if it is none, excuse it with a reason", "L11",
}

// LooksLike looks, in all files below the folders, for what looks like a key or a
// token; what it is named by in a suppression is the file's path from the folder on,
// cassettes/travel/m.yaml. Links are not followed, a folder that is not there has
// none. Values of secrets, which Written tells of, are left out. An error is of class
// world.
func LooksLike(secrets *redact.Values, dirs ...string) ([]Finding, error) {
	var out []Finding
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
			on, err := filepath.Rel(filepath.Dir(dir), path)
			out = append(out, looksIn(secrets, path, filepath.ToSlash(on), string(text))...)
			return err
		})
		if err != nil {
			return nil, failure.Errorf(failure.World, "%s: looking for what looks like a secret: %w", filepath.ToSlash(dir), err)
		}
	}
	return out, nil
}

// looksIn looks at each line of a file; the finding does not repeat what it found.
func looksIn(secrets *redact.Values, path, on, text string) []Finding {
	var out []Finding
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, what := range redact.Looks(line, false) {
			if _, known := secrets.Found([]byte(line)); known {
				continue
			}
			out = append(out, secretLooks.finding(Place{File: filepath.ToSlash(path), Line: n, Column: 1}, on, "it has %s", what))
		}
	}
	return out
}

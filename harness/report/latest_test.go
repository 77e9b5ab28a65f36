package report

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Where links are not allowed, latest is a copy, and a later one takes its place.
func TestLatestIsACopy(t *testing.T) {
	refused := func(string, string) error { return errors.New("a privilege is missing") }
	dir := t.TempDir()
	for _, step := range []struct {
		id      string
		symlink func(string, string) error
	}{{"one", refused}, {"two", refused}, {"three", os.Symlink}, {"four", refused}, {"five", os.Symlink}} {
		if err := os.MkdirAll(filepath.Join(dir, step.id, "transcripts"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, step.id, "transcripts", "a.txt"), []byte(step.id), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, step.id, "report.json"), []byte(`{"schema":"retake.report/1"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := pointLatest(dir, step.id, step.symlink); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "latest", "transcripts", "a.txt")); err != nil || string(got) != step.id {
			t.Errorf("latest is %q, %v, want %q", got, err, step.id)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".latest*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := pointLatest(dir, "missing", refused); err == nil {
		t.Error("a copy of nothing")
	}
	if got, err := os.ReadFile(filepath.Join(dir, "latest", "transcripts", "a.txt")); err != nil || string(got) != "five" {
		t.Errorf("a copy that failed took the last one away: %q, %v", got, err)
	}
}

package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/failure"
)

// What somebody else has named latest is not taken away, and the run's own
// folder stays.
func TestAForeignLatestStays(t *testing.T) {
	for _, tc := range []struct {
		why, file string // below reports/
		text      string
	}{
		{"a folder with notes", "latest/notes.txt", "mine"},
		{"a folder with another program's report", "latest/report.json", `{"tests":[]}`},
		{"an empty report", "latest/report.json", ""},
		{"a file", "latest", "mine"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(tc.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := New(Options{Dir: dir, ID: NewID(time.Unix(0, 0), 1)})
		if err != nil {
			t.Fatal(err)
		}
		run, err := w.Close(false)
		if failure.Of(err) != failure.World || !strings.Contains(err.Error(), "latest: this is no report of retake, and is not replaced; move it away") {
			t.Errorf("%s: %v", tc.why, err)
		}
		if _, err := os.Stat(filepath.Join(run, "report.json")); err != nil {
			t.Errorf("%s: the run's own report is gone: %v", tc.why, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc.text {
			t.Errorf("%s: became %q, %v", tc.why, got, err)
		}
	}
}

// Runs that were killed leave folders behind; those that may still be at work
// keep theirs.
func TestLitterIsRemovedAfterADay(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	old, young := NewID(now.Add(-25*time.Hour), 1), NewID(now.Add(-time.Hour), 2)
	for _, name := range []string{"." + old + ".partial", ".latest." + old, "." + young + ".partial", ".latest." + young, ".other.partial", ".latest.other"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "transcripts"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, err := New(Options{Dir: dir, ID: NewID(now, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"." + young + ".partial", ".latest." + young, ".latest.other", ".other.partial"}
	var got []string
	for _, l := range left {
		got = append(got, filepath.Base(l))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("left %q, want %q", got, want)
	}
}

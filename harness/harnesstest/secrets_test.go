package harnesstest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/script"
)

// What go test prints and what a script leaves is read by more people than know
// the secret.
func TestSecretsAreNeitherToldNorWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
		t.Fatal(err)
	}
	const value = "sk-very-secret-value"
	t.Setenv("MODEL_KEY", value)
	t.Setenv("RETAKE_UPDATE", "1")
	path := filepath.Join(dir, "cassettes", "hello", "m-1.yaml")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	said := told(t, func(tb testing.TB) {
		tb.Helper()
		harnesstest.Scripted(tb, harnesstest.Params{Dir: dir}, "hello", harnesstest.Recording{Turns: []script.Turn{{Text: "Hello, " + value}}})
	}).said()
	if want := path + ": not written: the recording has the value of the secret MODEL_KEY"; !strings.Contains(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("written over: %v", err)
	}

	t.Setenv("RETAKE_UPDATE", "")
	text := strings.ReplaceAll(string(before), "Hello!", value)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said = told(t, func(tb testing.TB) {
		tb.Helper()
		harnesstest.Run(tb, harnesstest.Params{Dir: dir, Scenarios: []string{"hello"}})
	}).said()
	if strings.Contains(said, value) || !strings.Contains(said, "[secret MODEL_KEY]") {
		t.Errorf("said %q", said)
	}
}

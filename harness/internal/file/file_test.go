package file_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/internal/file"
)

func TestReadIsLikeTheStandardLibrarys(t *testing.T) {
	dir := t.TempDir()
	for why, text := range map[string]string{
		"empty":                "",
		"short":                "a\n",
		"as long as the guess": strings.Repeat("x", 512),
		"longer":               strings.Repeat("y", 100_000),
	} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := file.Read(path)
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v; want %d", why, len(got), err, len(text))
		}
	}
	for _, path := range []string{filepath.Join(dir, "none"), dir} {
		_, want := os.ReadFile(path)
		_, got := file.Read(path)
		var p *fs.PathError
		if got == nil || got.Error() != want.Error() || !errors.As(got, &p) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// Files below /proc have no size, and more to say.
func TestReadWithoutSize(t *testing.T) {
	want, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no /proc here")
	}
	got, err := file.Read("/proc/cpuinfo")
	if err != nil || len(got) < len(want)/2 {
		t.Errorf("%d bytes, %v; want about %d", len(got), err, len(want))
	}
}

func TestReplaceLeavesTheOldFileOnFailure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"old", "new"} {
		if err := file.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, []byte("new")) {
		t.Errorf("%q, %v", got, err)
	}
	if err := file.Replace(filepath.Join(dir, "none", "f"), nil); err == nil {
		t.Error("a missing folder is no error")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

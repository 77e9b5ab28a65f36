package cassette_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

func TestSaveMakesFoldersAndLeavesNoTemporaryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cassettes", "a", "m.yaml")
	f := fileOf(recorded("/x", `{}`, "one"))
	for range 2 {
		if err := cassette.Save(path, f); err != nil {
			t.Fatal(err)
		}
	}
	read, err := cassette.Open(path)
	if err != nil || len(read.Interactions) != 1 {
		t.Fatalf("Open: %v, %v", read, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

func TestSaveWritesOverCassettesOnly(t *testing.T) {
	rows := []struct{ why, before string }{
		{"a text", "my notes\n"},
		{"an empty file", ""},
		{"binary", "\x00\x01"},
		{"a cassette that is cut off", small[:len(small)/2]},
		{"a version to come", "version: 9\ninteractions: []\n"},
		{"version 1, which is read only", strings.Replace(small, "version: 2", "version: 1", 1)},
	}
	for _, r := range rows {
		path := filepath.Join(t.TempDir(), "m.yaml")
		if err := os.WriteFile(path, []byte(r.before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cassette.Save(path, fileOf()); failure.Of(err) != failure.CassetteInvalid || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: Save: %v", r.why, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != r.before {
			t.Errorf("%s: the file is now %q, %v", r.why, after, err)
		}
	}
}

func TestSaveWhereItCannot(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cassette.Save(filepath.Join(dir, "file", "m.yaml"), fileOf()); failure.Of(err) != failure.World {
		t.Errorf("Save below a file: %v, want class world", err)
	}
	if _, err := cassette.Open(dir); failure.Of(err) != failure.World || errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of a folder: %v, want class world", err)
	}
}

func TestNotesAreKeptOnRewrite(t *testing.T) {
	before := strings.Replace(small, "version: 2\n", "version: 2\nx-retake:\n  source: scripted\n  later: {deep: [1, 2.50]}\n", 1)
	before = strings.Replace(before, "- id: 0\n", "- id: 0\n  x-retake:\n    model: m\n    complete: false\n    mood: good\n", 1)
	f, err := cassette.Read([]byte(before), "x")
	if err != nil {
		t.Fatal(err)
	}
	data, err := cassette.Encode(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cassette.Read(data, "x")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f, again, sameReading, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Hash" || p.Last().String() == ".Line" }, cmp.Ignore())); d != "" {
		t.Errorf("the file changes:\n%s", d)
	}
	if d := cmp.Diff(f.Interactions[0].Notes, again.Interactions[0].Notes); d != "" {
		t.Errorf("x-retake changes:\n%s", d)
	}
	for _, want := range []string{`"later": {"deep": [1, 2.50]}`, `"mood": "good"`, `"complete": false`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is lost:\n%s", want, data)
		}
	}
}

func TestUnknownTransportErrorIsRefused(t *testing.T) {
	in := strings.Replace(small, "- id: 0\n", "- id: 0\n  x-retake: {\"transport_error\": {\"kind\": \"melted\"}}\n", 1)
	if _, err := cassette.Read([]byte(in), "x"); failure.Of(err) != failure.CassetteInvalid || !strings.Contains(err.Error(), `"melted"`) {
		t.Errorf("Read: %v", err)
	}
}

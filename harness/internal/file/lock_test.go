package file_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/retake-harness/retake/harness/internal/file"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := file.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Lock(dir); !errors.Is(err, file.ErrLocked) {
		t.Errorf("the second holder: %v", err)
	}
	unlock()
	if unlock, err = file.Lock(dir); err != nil {
		t.Errorf("after it was given back: %v", err)
	} else {
		unlock()
	}
	if _, err := file.Lock(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

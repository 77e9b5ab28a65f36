//go:build unix

package file_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/internal/file"
)

// A pipe has no end until somebody writes to it, and a device may never have
// one.
func TestReadRefusesWhatIsNoRegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		done := make(chan error, 1)
		go func() {
			_, err := file.Read(path)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: hangs", path)
		}
	}
}

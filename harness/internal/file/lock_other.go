//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// lockName is the file that says that a folder is taken.
const lockName = ".retake.lock"

// Lock takes the folder, which must exist, for this holder alone; unlock gives it
// back. After a crash its file has to be removed by hand. Who comes second gets
// ErrLocked, in this process too.
func Lock(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	return func() { _ = os.Remove(path) }, nil
}

// Package file reads and writes whole files.
package file

import (
	"errors"
	"os"
	"path/filepath"
)

var errIrregular = errors.New("not a regular file")

// Replace puts data into the file at path by way of a temporary file in the same
// folder, which must exist, so that a reader sees the old content or the new
// one, never a part. The file's permissions are 0644. It does not wait for the
// disk: what it is used for can be made again.
func Replace(path string, data []byte) error {
	return ReplaceWith(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// ReplaceWith is Replace for what write writes.
func ReplaceWith(path string, write func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

package cassette

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// disk is the file system as this package writes to it; tests put faults in its
// place.
type disk interface {
	createTemp(dir, pattern string) (diskFile, error)
	openAppend(path string) (diskFile, error) // made where it is not there
	rename(from, to string) error
	remove(path string) error
}

// diskFile is an open file.
type diskFile interface {
	io.Writer
	Name() string
	Chmod(mode os.FileMode) error
	Truncate(size int64) error
	Sync() error
	Close() error
}

// realDisk is the file system itself.
type realDisk struct{}

func (realDisk) createTemp(dir, pattern string) (diskFile, error) {
	return os.CreateTemp(dir, pattern)
}

func (realDisk) openAppend(path string) (diskFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }
func (realDisk) remove(path string) error     { return os.Remove(path) }

// writeWhole writes a file whole or not at all: into a temporary file of the same
// folder, synced, then renamed. Missing folders are made. Whatever ends it early,
// a panic too, the temporary file is removed.
func writeWhole(d disk, path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := d.createTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	renamed := false
	defer func() {
		if !renamed {
			_ = d.remove(temp.Name())
		}
	}()
	if _, err := temp.Write(data); err != nil {
		return errors.Join(err, temp.Close())
	}
	if err := errors.Join(temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := d.rename(temp.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

// syncDir makes a rename last; file systems that cannot sync a folder are let be.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

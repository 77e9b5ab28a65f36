//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package file

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes the folder, which must exist, for this holder alone; unlock gives it
// back. Nothing is written, and the lock ends with the process. Who comes second
// gets ErrLocked, in this process too.
func Lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	_ = f.Close()
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, ErrLocked
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
		return func() {}, nil // a file system without locks
	}
	return nil, err
}

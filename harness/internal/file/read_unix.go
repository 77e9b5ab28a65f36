//go:build unix

package file

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// Read is os.ReadFile with the four system calls that it takes: a replay opens
// several small files, and os.File's business with the network poller costs more
// than reading them. Errors are *fs.PathError, as there. What is neither a file nor
// a link to one (a pipe, a device) is refused: it may never end.
func Read(path string) ([]byte, error) {
	fd, err := retry(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG, syscall.S_IFDIR: // reading a folder has an error of its own
	default:
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIrregular}
	}
	// One byte more than the file has: a read that does not fill it has met the end.
	buf := make([]byte, max(st.Size, 511)+1)
	n := 0
	for {
		m, err := retry(func() (int, error) { return syscall.Read(fd, buf[n:]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		n += m
		switch {
		case m == 0, int64(n) == st.Size:
			return buf[:n:n], nil
		case n == len(buf):
			buf = slices.Grow(buf, len(buf))
			buf = buf[:cap(buf)]
		}
	}
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

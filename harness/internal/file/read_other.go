//go:build !unix

package file

import (
	"io/fs"
	"os"
)

// Read is os.ReadFile, but for what is neither a file nor a link to one (a pipe,
// a device), which is refused: it may never end.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIrregular}
	}
	return os.ReadFile(path)
}

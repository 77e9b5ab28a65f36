//go:build !unix

package file

import "os"

// Read is os.ReadFile.
func Read(path string) ([]byte, error) { return os.ReadFile(path) }

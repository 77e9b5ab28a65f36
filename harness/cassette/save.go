package cassette

import (
	"errors"
	"io/fs"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
)

// Save writes f to path as a file of version 2, whole or not at all: into a
// temporary file of the same folder, synced, then renamed. Missing folders are
// made. A file at path that is no cassette is not written over, nor one of
// version 1 (class cassette_invalid); what the system refuses is of class world.
func Save(path string, f *File) error {
	if err := replaceable(path); err != nil {
		return err
	}
	data, err := Encode(nil, f)
	if err != nil {
		return err
	}
	if err := writeWhole(realDisk{}, path, data); err != nil {
		return failure.Errorf(failure.World, "%s: writing the cassette: %w", path, err)
	}
	return nil
}

func replaceable(path string) error {
	data, err := file.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return failure.Errorf(failure.World, "%s: reading what is to be written over: %w", path, err)
	}
	before, err := Read(data, path)
	if err != nil {
		return failure.Errorf(failure.CassetteInvalid, "%w; it is not written over, remove it first", err)
	}
	if before.Version != 2 {
		return failure.Errorf(failure.CassetteInvalid, "%s: the file is a cassette of version %d, which is read only; write to another file", path, before.Version)
	}
	return nil
}

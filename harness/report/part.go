package report

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// part is a file that grows by each result, so that none has to be kept. One whose
// name begins with a dot is a piece that is put into another at the end.
type part struct {
	dir, name string
	file      *os.File
	out       *bufio.Writer
}

func openPart(dir, name string) (*part, error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return &part{dir: dir, name: name, file: f, out: bufio.NewWriterSize(f, 32<<10)}, nil
}

func (p *part) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p *part) close() error {
	err := p.out.Flush()
	if e := p.file.Close(); err == nil {
		err = e
	}
	return err
}

// copyTo writes the whole piece into w, and takes it away.
func (p *part) copyTo(w io.Writer) error {
	if err := p.out.Flush(); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(w, p.file); err != nil {
		return err
	}
	if err := p.file.Close(); err != nil {
		return err
	}
	return os.Remove(filepath.Join(p.dir, p.name))
}

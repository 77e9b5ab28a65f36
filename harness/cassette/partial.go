package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
)

// A recording in progress is kept beside its cassette, in a file of this ending:
// each exchange is appended to it as it ends, so that one that was paid for
// outlives an interruption. The file is a row of records. Each is a comment line
// with the record's place in the order of requests, its length and its sum, and
// then a whole small cassette:
//
//	# retake partial 3 1482 0f3a…
//	---
//	version: 2
//	interactions:
//	    - …
//
// The first record, number 0, has the notes and no interaction. What a crash has
// left unfinished is told by its sum, and dropped.
const partialEnding = ".partial"

const partialMark = "# retake partial "

// PartialPath is where the recording in progress of a cassette is kept.
func PartialPath(path string) string { return path + partialEnding }

// partial is the open file.
type partial struct {
	path string
	disk disk

	mu   sync.Mutex
	file diskFile
	size int64 // of the whole records
	torn bool  // there may be something behind them
}

// record is one record of a partial file.
type record struct {
	number int
	in     Interaction
}

// keptRecords is what a partial file holds.
type keptRecords struct {
	notes   FileNotes
	records []record
	size    int64 // up to the end of the last whole record
	torn    bool  // something behind it, or between records, could not be read
}

// readPartial reads what an interrupted session has left; ok is false without any.
func readPartial(path string) (kept keptRecords, ok bool, err error) {
	data, err := file.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return kept, false, nil
	case err != nil:
		return kept, false, failure.Errorf(failure.World, "%s: reading what an interrupted recording has kept: %w", path, err)
	}
	return parsePartial(data, path), true, nil
}

// parsePartial takes all whole records of data. A damaged one costs only itself:
// no line inside a record can begin like the next one.
func parsePartial(data []byte, name string) keptRecords {
	var kept keptRecords
	for at := 0; at < len(data); {
		number, text, end := frame(data, at)
		if text == nil || !kept.take(number, text, name) {
			kept.torn = true
			next := bytes.Index(data[at:], []byte("\n"+partialMark))
			if next < 0 {
				break
			}
			at += next + 1
			continue
		}
		at, kept.size = end, int64(end)
	}
	return kept
}

// frame reads the record that begins at a place; text is nil where there is none,
// or not a whole one.
func frame(data []byte, at int) (number int, text []byte, end int) {
	line, rest, ok := bytes.Cut(data[at:], []byte("\n"))
	fields, marked := bytes.CutPrefix(line, []byte(partialMark))
	if !ok || !marked {
		return 0, nil, 0
	}
	part := bytes.Split(fields, []byte(" "))
	if len(part) != 3 {
		return 0, nil, 0
	}
	number, err1 := strconv.Atoi(string(part[0]))
	length, err2 := strconv.Atoi(string(part[1]))
	if err1 != nil || err2 != nil || number < 0 || length < 0 || length > len(rest) {
		return 0, nil, 0
	}
	text = rest[:length:length]
	if sum(text) != string(part[2]) {
		return 0, nil, 0
	}
	return number, text, at + len(line) + 1 + length
}

func (k *keptRecords) take(number int, text []byte, name string) bool {
	f, err := Read(text, name)
	if err != nil {
		return false
	}
	if number == 0 {
		k.notes = f.Notes
		return true
	}
	if len(f.Interactions) != 1 {
		return false
	}
	k.records = append(k.records, record{number, f.Interactions[0]})
	return true
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:8])
}

// appendRecord appends one record.
func appendRecord(dst []byte, number int, text []byte) []byte {
	dst = fmt.Appendf(dst, "%s%d %d %s\n", partialMark, number, len(text), sum(text))
	return append(dst, text...)
}

// openPartial opens the file to be appended to behind its whole records.
func openPartial(d disk, path string, size int64) (*partial, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, failure.Errorf(failure.World, "%s: making its folder: %w", path, err)
	}
	f, err := d.openAppend(path)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: opening the file that keeps the exchanges while recording: %w", path, err)
	}
	p := &partial{path: path, disk: d, file: f, size: size}
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(failure.Errorf(failure.World, "%s: cutting off what a crash has left unfinished: %w", path, err), f.Close())
	}
	return p, nil
}

// append writes a record and waits for the disk. What was not written whole, for an
// error or a panic, is taken back before the next one is.
func (p *partial) append(number int, text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return failure.Errorf(failure.Internal, "%s: it is closed", p.path)
	}
	if p.torn {
		if err := p.file.Truncate(p.size); err != nil {
			return failure.Errorf(failure.World, "%s: cutting off what was not written whole: %w", p.path, err)
		}
	}
	p.torn = true
	data := appendRecord(nil, number, text)
	_, err := p.file.Write(data)
	if err == nil {
		err = p.file.Sync()
	}
	if err != nil {
		return failure.Errorf(failure.World, "%s: keeping an exchange: %w", p.path, err)
	}
	p.size, p.torn = p.size+int64(len(data)), false
	return nil
}

func (p *partial) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// setAside gives a partial file another name, the first that is free, and tells it.
func setAside(d disk, path string) (string, error) {
	for n := 1; ; n++ {
		to := path + "." + strconv.Itoa(n)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := d.rename(path, to); err != nil {
			return "", failure.Errorf(failure.World, "%s: setting it aside as %s: %w", path, to, err)
		}
		return to, nil
	}
}

// Package foreign reads what other recorders wrote as cassettes: VCR.py, Ruby's
// VCR, httprr, HAR (of browsers and of Polly.JS), one request with its answer as
// JSON, and the bare body of an answer. Cassettes of go-vcr, of both versions, are
// read through package cassette, so that Open reads whatever can be read.
//
// The content says which format a file has; its name counts for nothing. A file may
// be packed with gzip.
//
//	YAML or JSON with http_interactions     Ruby's VCR
//	… with interactions, each with a uri    VCR.py (requests, aiohttp, httpx)
//	… with interactions, each with a url    go-vcr
//	… with log.entries                      HAR
//	JSON with request and response          one exchange
//	JSON or an event stream besides         the body of an answer, or of a request
//	"httprr trace v1"                       httprr
//
// Bodies come out in plain: an encoding (gzip, deflate, br), base64 and what else
// recorders wrap them in is undone, and the headers that spoke of it are dropped.
// What a file has and a cassette cannot say is left out with a warning, or, where it
// is the whole file, refused with a reason: a websocket's frames, audio, the
// expectations of a mock server.
//
// # Half an exchange
//
// The body of an answer says nothing about what was asked. Read gives it a request
// to a host that does not exist, without a body, and marks the file with
// [File.Half]: it can be shown, and replayed in order (a scenario's replay: {match:
// sequence}), never by what a request means. [Join] makes one exchange of two
// halves.
package foreign

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
)

// Format names the recorder, or the form, of a file.
type Format string

// The formats.
const (
	GoVCR    Format = "go-vcr"
	VCRpy    Format = "vcrpy"
	RubyVCR  Format = "ruby-vcr"
	HTTPRR   Format = "httprr"
	HAR      Format = "har"
	Exchange Format = "exchange" // one request with its answer, as JSON
	Answer   Format = "answer"   // the body of an answer alone
	Request  Format = "request"  // the body of a request alone
)

// Half says which half of an exchange a file is.
type Half int

// The halves. The zero value is a file with both.
const (
	Whole       Half = iota
	AnswerOnly       // its request is made up
	RequestOnly      // it has no answer: its one interaction has no status
)

// File is a file of another recorder's as a cassette of version 2 in memory. Name
// and Hash are of the file that was read.
type File struct {
	*cassette.File
	Format Format
	Half   Half
}

// maxFile bounds a file, packed or not, and what its bodies unpack to together.
const maxFile = 256 << 20

// Open reads the file at path. A missing file is of class world, one that cannot be
// read as traffic of class cassette_invalid, with its place.
func Open(path string) (*File, error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.Errorf(failure.World, "%s: there is no such file", path)
	case err != nil:
		return nil, failure.Errorf(failure.World, "%s: reading the recording: %w", path, err)
	case info.Size() > maxFile:
		return nil, tooLarge(path)
	}
	data, err := file.Read(path)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: reading the recording: %w", path, err)
	}
	return Read(data, path)
}

// Read reads a recording from data; name stands in messages. The File keeps data.
func Read(data []byte, name string) (*File, error) {
	sum := sha256.Sum256(data)
	text, err := unpacked(data, name)
	if err != nil {
		return nil, err
	}
	f, err := read(text, name)
	if err != nil {
		return nil, err
	}
	f.Name, f.Hash = name, hex.EncodeToString(sum[:])
	return f, nil
}

// unpacked undoes a gzip around a whole file.
func unpacked(data []byte, name string) ([]byte, error) {
	if !packed(data) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, invalid(name, 1, 1, "the file is no whole gzip: %v", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, invalid(name, 1, 1, "the file is no whole gzip: %v", err)
	case len(text) > maxFile:
		return nil, tooLarge(name)
	case packed(text):
		return nil, invalid(name, 1, 1, "the file is packed with gzip twice; unpack it once")
	}
	return text, nil
}

// packed tells a gzip by its first bytes.
func packed(b []byte) bool { return bytes.HasPrefix(b, []byte("\x1f\x8b\x08")) }

func tooLarge(name string) error {
	return invalid(name, 1, 1, "the file is larger than %d MB, which is the most that is read", maxFile>>20)
}

func invalid(name string, line, column int, format string, args ...any) error {
	return failure.Wrap(failure.CassetteInvalid, &cassette.InvalidError{
		File: name, Line: max(line, 1), Column: max(column, 1), What: fmt.Sprintf(format, args...),
	})
}

// Package body reads the bodies of requests that pass the harness.
package body

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Read returns the body of req, and closes it. A request without one has an empty
// body. The caller must not change it: the next layer may have the same bytes.
func Read(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	if k, ok := req.Body.(*known); ok {
		return k.text, nil
	}
	var into bytes.Buffer
	if n := req.ContentLength; n > 0 && n <= maxAnnounced {
		into.Grow(int(n) + bytes.MinRead) // with the room that ReadFrom asks for, so that it grows no more
	}
	_, err := into.ReadFrom(req.Body)
	return into.Bytes(), errors.Join(err, req.Body.Close())
}

// Of is a body whose bytes were read before: Read gives them back without a copy.
func Of(text []byte) io.ReadCloser { return &known{Reader: *bytes.NewReader(text), text: text} }

type known struct {
	bytes.Reader
	text []byte
}

func (*known) Close() error { return nil }

// maxAnnounced bounds what is allocated on the word of a header alone.
const maxAnnounced = 16 << 20

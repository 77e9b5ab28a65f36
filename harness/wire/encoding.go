package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"

	"github.com/retake-harness/retake/harness/failure"
)

// maxPlain bounds what a body may unfold to: a small one can be made to fill
// any memory.
const maxPlain = 64 << 20

// Plain is a body without its Content-Encoding: gzip, deflate and br are undone.
// A body that is text already, whatever the header says, comes back as it is: some
// recorders undo the encoding and keep the header. Errors are of class protocol;
// what could be read before one is given all the same.
func Plain(encoding string, body []byte) ([]byte, error) {
	encoding = strings.ToLower(strings.TrimSpace(encoding))
	if encoding == "" || encoding == "identity" || len(body) == 0 || isText(body) {
		return body, nil
	}
	var r io.Reader
	var err error
	switch encoding {
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		if r, err = zlib.NewReader(bytes.NewReader(body)); err != nil { // some servers leave the wrapping out
			r, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	case "br":
		r = brotli.NewReader(bytes.NewReader(body))
	default:
		return nil, failure.Errorf(failure.Protocol, "the body is compressed with %s, which retake does not read", encoding)
	}
	if err != nil {
		return nil, failure.Errorf(failure.Protocol, "the body is no %s, as its Content-Encoding says: %w", encoding, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxPlain+1))
	switch {
	case err != nil:
		return out, failure.Errorf(failure.Protocol, "the body is no whole %s, as its Content-Encoding says: %w", encoding, err)
	case len(out) > maxPlain:
		return nil, failure.Errorf(failure.Protocol, "the body unfolds to more than %d MB", maxPlain>>20)
	}
	return out, nil
}

func isText(body []byte) bool {
	return (body[0] >= ' ' || body[0] == '\n' || body[0] == '\r' || body[0] == '\t') && utf8.Valid(body)
}

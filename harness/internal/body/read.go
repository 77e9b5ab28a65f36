// Package body reads the bodies of requests that pass the harness.
package body

import (
	"bytes"
	"errors"
	"net/http"
)

// Read appends the body of req to into, and closes it. A request without one
// has an empty body.
func Read(into *bytes.Buffer, req *http.Request) error {
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	if n := req.ContentLength; n > 0 && n <= maxAnnounced {
		into.Grow(int(n) + bytes.MinRead) // with the room that ReadFrom asks for, so that it grows no more
	}
	_, err := into.ReadFrom(req.Body)
	return errors.Join(err, req.Body.Close())
}

// maxAnnounced bounds what is allocated on the word of a header alone.
const maxAnnounced = 16 << 20

package cassette

import (
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
)

// Plain is the body without its Content-Encoding; see [wire.Plain].
func (a *Response) Plain() ([]byte, error) {
	return wire.Plain(a.Header.Get("Content-Encoding"), a.Body)
}

// uncompressed gives an answer to a client that did not ask for an encoding, as
// net/http does: in plain, without the headers that speak of the encoding. The
// pace of the compressed bytes says nothing about the plain ones: they come at
// once, at the end. An answer that needs nothing of it is given as it is.
func uncompressed(req *http.Request, in *Interaction) (*Interaction, error) {
	a := &in.Response
	if a.Header.Get("Content-Encoding") == "" || req.Header.Get("Accept-Encoding") != "" {
		return in, nil
	}
	body, err := a.Plain()
	if err != nil && transportError(in.Notes) == nil {
		return nil, err
	}
	out := *in
	out.Response.Body, out.Response.Uncompressed, out.Response.ContentLength = body, true, -1
	out.Response.Header = nil
	for _, f := range a.Header {
		if name := http.CanonicalHeaderKey(f.Name); name != "Content-Encoding" && name != "Content-Length" {
			out.Response.Header = append(out.Response.Header, f)
		}
	}
	if in.Notes != nil && in.Notes.Chunks != nil {
		notes := *in.Notes
		notes.Chunks = nil
		out.Notes = &notes
	}
	return &out, nil
}

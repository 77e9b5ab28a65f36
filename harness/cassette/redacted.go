package cassette

import (
	"net/http"
	"net/url"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
)

// File is a copy of f as a recorder would have written it: without what is always
// left out, and without what r names. Where the value of a secret is left all the
// same, the error, of class cassette_invalid, says in which interaction and where.
func (r Redaction) File(f *File, secrets *redact.Values) (*File, error) {
	rules, err := r.rules()
	if err != nil {
		return nil, err
	}
	out := *f
	out.Interactions = make([]Interaction, len(f.Interactions))
	for i := range f.Interactions {
		in := rules.interaction(f.Interactions[i])
		if at := findSecret(secrets, &in); at != nil {
			return nil, invalid(f.Name, in.Line, 1, "interaction %d: %v, which must not be written; take it out of the file, or name its place under redact in %s", i+1, at, "retake.yaml")
		}
		out.Interactions[i] = in
	}
	text, err := Encode(nil, &out)
	if err != nil {
		return nil, err
	}
	if name, found := secrets.Found(text); found {
		return nil, failure.Errorf(failure.CassetteInvalid, "%s: the file has the value of the secret %s, which must not be written", f.Name, name)
	}
	return &out, nil
}

// interaction redacts an interaction; what it shares with in is not changed.
func (r *rules) interaction(in Interaction) Interaction {
	q, a := &in.Request, &in.Response
	q.Header, q.Trailer, q.Form = HeaderOf(r.header(q.Header.HTTP(), nil)), nil, nil
	q.RemoteAddr, q.RequestURI = "", ""
	if u, err := url.Parse(q.URL); err == nil {
		q.URL = r.url(u).String()
	}
	if plain(a) && in.Notes != nil { // the pace of packed bytes says nothing of plain ones
		notes := *in.Notes
		notes.Chunks = nil
		in.Notes = &notes
	}
	q.Body, _ = r.body(q.Header.Get("Content-Type"), q.Body)
	q.ContentLength = int64(len(q.Body))
	a.Header, a.Trailer = HeaderOf(r.header(a.Header.HTTP(), nil)), nil
	var moved []edit
	a.Body, moved = r.body(a.Header.Get("Content-Type"), a.Body)
	if moved != nil && a.ContentLength >= 0 {
		a.ContentLength = int64(len(a.Body))
	}
	if in.Notes != nil && in.Notes.Chunks != nil && moved != nil {
		notes := *in.Notes
		notes.Chunks = nil
		for _, c := range in.Notes.Chunks {
			c.Bytes = min(moveTo(c.Bytes, moved), len(a.Body))
			notes.Chunks = append(notes.Chunks, c)
		}
		in.Notes = &notes
	}
	return in
}

// plain undoes an answer's encoding, so that what it says can be read, and redacted;
// one that cannot be undone stays, and the answer is false.
func plain(a *Response) bool {
	if a.Header.Get("Content-Encoding") == "" {
		return false
	}
	body, err := a.Plain()
	if err != nil {
		return false
	}
	a.Body, a.ContentLength, a.Uncompressed = body, int64(len(body)), true
	var kept Header
	for _, f := range a.Header {
		if name := http.CanonicalHeaderKey(f.Name); name != "Content-Encoding" && name != "Content-Length" {
			kept = append(kept, f)
		}
	}
	a.Header = kept
	return true
}

package foreign

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/wire"
)

// reader collects a file's exchanges.
type reader struct {
	name  string
	file  *cassette.File
	plain int // bytes that bodies have unpacked to
}

func newReader(name string) *reader {
	return &reader{name: name, file: &cassette.File{Version: 2}}
}

// exchange is one request with its answer, as a format's reader finds it.
type exchange struct {
	line, column        int
	method, url         string
	sent, received      cassette.Header
	request, response   []byte
	code                int
	reason              string // the words behind the status, "" for the usual
	askedIn, answeredIn string // protocols such as HTTP/1.1
	took                time.Duration
	at                  string // when it was recorded, RFC 3339
	lost                bool   // the recorder kept no body, although there was one
}

func (r *reader) fail(n *node, format string, args ...any) error {
	line, column := 1, 1
	if n != nil {
		line, column = n.line, n.column
	}
	return invalid(r.name, line, column, format, args...)
}

func (r *reader) warn(line int, format string, args ...any) {
	r.file.Warnings = append(r.file.Warnings, cassette.Warning{Line: line, Text: fmt.Sprintf(format, args...)})
}

// done is the file that was read.
func (r *reader) done(f Format) (*File, error) {
	if len(r.file.Interactions) == 0 {
		r.warn(0, "the recording has no interactions")
	}
	return &File{File: r.file, Format: f}, nil
}

// add files an exchange; what no exchange can lack is refused.
func (r *reader) add(e *exchange) error {
	number := len(r.file.Interactions) + 1
	missing := ""
	switch {
	case e.url == "":
		missing = "address"
	case e.method == "":
		missing = "method"
	case e.code == 0:
		missing = "status"
	}
	if missing != "" {
		return invalid(r.name, e.line, e.column, "interaction %d has no %s; the file may be cut off", number, missing)
	}
	if e.code < 100 || e.code > 599 {
		return invalid(r.name, e.line, e.column, "interaction %d: the status must lie between 100 and 599, is %d", number, e.code)
	}
	u, ok := address(e.url)
	if !ok {
		r.warn(e.line, "a request to %q, which is no address of HTTP, is left out", beginning(e.url))
		return nil
	}
	if e.lost {
		r.warn(e.line, "interaction %d: the recorder kept no body of the answer", number)
	}
	in := cassette.Interaction{ID: number - 1, Line: e.line}
	var err error
	if in.Request, err = r.request(e, u); err != nil {
		return err
	}
	if in.Response, err = r.response(e, number); err != nil {
		return err
	}
	if e.at != "" {
		in.Notes = &cassette.Notes{RecordedAt: e.at}
	}
	r.file.Interactions = append(r.file.Interactions, in)
	return nil
}

func (r *reader) request(e *exchange, u *url.URL) (cassette.Request, error) {
	q := cassette.Request{Method: strings.ToUpper(e.method), URL: e.url, Host: u.Host}
	q.Proto, q.ProtoMajor, q.ProtoMinor = protocol(e.askedIn)
	body, undone, err := r.unwrap(e.sent, e.request)
	if err != nil {
		r.warn(e.line, "a request's body is kept as it is: %v", err)
	}
	q.Header, q.Body, q.ContentLength = lines(e.sent, undone), body, int64(len(body))
	return q, r.bounded(e)
}

func (r *reader) response(e *exchange, number int) (cassette.Response, error) {
	a := cassette.Response{Code: e.code, Duration: max(e.took, 0)}
	if e.reason == "" {
		e.reason = http.StatusText(e.code)
	}
	a.Status = strings.TrimSpace(strconv.Itoa(e.code) + " " + e.reason)
	a.Proto, a.ProtoMajor, a.ProtoMinor = protocol(e.answeredIn)
	body, undone, err := r.unwrap(e.received, e.response)
	if err != nil {
		r.warn(e.line, "interaction %d: the answer's body is kept as it is: %v", number, err)
	}
	a.Header, a.Body, a.ContentLength, a.Uncompressed = lines(e.received, undone), body, int64(len(body)), undone
	return a, r.bounded(e)
}

// unwrap undoes a body's encoding, whether a header tells of it or not; undone says
// that the body is in plain now and some header spoke of an encoding.
func (r *reader) unwrap(h cassette.Header, body []byte) (plain []byte, undone bool, err error) {
	encoding := h.Get("Content-Encoding")
	if encoding == "" && packed(body) {
		encoding = "gzip"
	}
	plain, err = wire.Plain(encoding, body)
	if err != nil {
		return body, false, err
	}
	if len(plain) > len(body) {
		r.plain += len(plain)
	}
	return plain, encoding != "", nil
}

func (r *reader) bounded(e *exchange) error {
	if r.plain > maxFile {
		return invalid(r.name, e.line, e.column, "the bodies unpack to more than %d MB, which is the most that is read", maxFile>>20)
	}
	return nil
}

// lines are header lines as an exchange in plain has them: those of one name
// together, without what HTTP/2 files there.
func lines(h cassette.Header, undone bool) cassette.Header {
	var out cassette.Header
	for _, f := range h {
		name := http.CanonicalHeaderKey(f.Name)
		switch {
		case strings.HasPrefix(name, ":"), name == "Transfer-Encoding", name == "":
			continue
		case undone && (name == "Content-Encoding" || name == "Content-Length"):
			continue
		}
		same := func(o cassette.Field) bool { return o.Name == name }
		if !slices.ContainsFunc(out, same) {
			out = append(out, cassette.Field{Name: name, Value: f.Value})
			continue
		}
		last := len(out)
		for !same(out[last-1]) {
			last--
		}
		out = slices.Insert(out, last, cassette.Field{Name: name, Value: f.Value})
	}
	return out
}

// protocol reads HTTP/1.1, HTTP/2, h2, http/2.0; what is unknown is 1.1.
func protocol(s string) (name string, major, minor int) {
	switch strings.ToLower(s) {
	case "h2", "http/2", "http/2.0", "2":
		return "HTTP/2.0", 2, 0
	case "h3", "http/3", "http/3.0":
		return "HTTP/3.0", 3, 0
	case "http/1.0":
		return "HTTP/1.0", 1, 0
	}
	return "HTTP/1.1", 1, 1
}

// headerOf reads a mapping of names to a value or a list of such.
func headerOf(n *node) cassette.Header {
	if n == nil {
		return nil
	}
	var out cassette.Header
	for _, m := range n.members {
		if m.value.kind != list {
			out = append(out, cassette.Field{Name: m.name, Value: m.value.word()})
			continue
		}
		for _, v := range m.value.items {
			out = append(out, cassette.Field{Name: m.name, Value: v.word()})
		}
	}
	return out
}

// timeOf reads a date in the ways in which recorders write one; "" for none.
func timeOf(s string) string {
	for _, layout := range [...]string{time.RFC3339Nano, http.TimeFormat, time.RFC1123Z, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// whole reads a number without fractions; 0 for all else.
func whole(n *node) int {
	v, err := strconv.Atoi(n.word())
	if err != nil {
		return 0
	}
	return v
}

// beginning is enough of a text to recognise it.
func beginning(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// isJSON tells a text that is to be taken for a JSON document.
func isJSON(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// recordedAt dates the newest interaction.
func (r *reader) recordedAt(at string) {
	in := &r.file.Interactions[len(r.file.Interactions)-1]
	if in.Notes == nil {
		in.Notes = &cassette.Notes{}
	}
	in.Notes.RecordedAt = at
}

// address reads a request's address; ok says that it is one of HTTP.
func address(text string) (u *url.URL, ok bool) {
	u, err := url.Parse(text)
	return u, err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

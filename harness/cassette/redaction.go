package cassette

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// Redaction is what is taken out of an exchange before it is written, besides what
// always is. A player is given the same, and applies it to what it is asked: so a
// request with the live value finds its recording, and a replay needs no secret.
//
// Always left out are the headers that are not known to be harmless (credentials,
// cookies, ids of an account among them), a key in a query (key, api_key,
// access_token) and the user of a URL.
type Redaction struct {
	// Headers are names of further headers, in any case of letters.
	Headers []string
	// JSON are pointers into the bodies of requests and answers, * for any member or
	// element. A text there becomes "[redacted]", a number 0, true false, an object
	// {} and a list []. In a stream each event is a document of its own: a text that
	// arrives in pieces is named by its piece (/delta/text), not by what the pieces
	// make. A pointer that finds nothing changes nothing, and what is no JSON is not
	// looked into. Of a document that breaks off behind a named value nothing is kept
	// from the torn value on.
	JSON []string
}

// redacted stands for a text that was taken out.
const redacted = "[redacted]"

// rules are a Redaction ready for use.
type rules struct {
	headers  []string // canonical names
	pointers []jsondoc.Pointer
}

func (r Redaction) rules() (*rules, error) {
	pointers, err := jsondoc.ParsePointers(r.JSON)
	if err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "redaction: %w", err)
	}
	out := &rules{pointers: pointers}
	for _, h := range r.Headers {
		out.headers = append(out.headers, http.CanonicalHeaderKey(h))
	}
	return out, nil
}

// replacement is the redacted form of a value.
func replacement(k jsontext.Kind) string {
	switch k {
	case '"':
		return `"` + redacted + `"`
	case '0':
		return "0"
	case '{':
		return "{}"
	case '[':
		return "[]"
	case 'n':
		return "null"
	default:
		return "false"
	}
}

// document redacts one JSON document; it is raw itself where nothing is named.
func (r *rules) document(raw []byte) []byte {
	if len(r.pointers) == 0 || !looksLikeJSON(raw) {
		return raw
	}
	out, found, _ := jsondoc.Replace(nil, raw, r.pointers, replacement)
	if found == 0 {
		return raw
	}
	return out
}

func looksLikeJSON(raw []byte) bool {
	text := strings.TrimLeft(string(raw[:min(len(raw), 64)]), " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// edit says that bytes of a body up to a place are now those up to another.
type edit struct{ before, after int }

// body redacts a body: one document, or the events of a stream. The edits tell how
// places have moved; nil where none has.
func (r *rules) body(contentType string, raw []byte) (out []byte, moved []edit) {
	switch {
	case len(r.pointers) == 0 || len(raw) == 0:
		return raw, nil
	case !sse.Is(contentType, raw):
		if out = r.document(raw); len(out) != len(raw) {
			moved = []edit{{len(raw), len(out)}}
		}
		return out, moved
	}
	out = make([]byte, 0, len(raw))
	start := 0
	ends := sse.Ends(raw)
	if len(ends) == 0 || ends[len(ends)-1] < len(raw) {
		ends = append(ends, len(raw))
	}
	for _, end := range ends {
		before := len(out)
		out = r.event(out, raw[start:end])
		if len(out)-before != end-start {
			moved = append(moved, edit{start, before}, edit{end, len(out)})
		}
		start = end
	}
	return out, moved
}

// event appends one event with its JSON redacted; the bytes are its own where
// nothing is named.
func (r *rules) event(dst, raw []byte) []byte {
	scan := sse.NewScanner(raw)
	e, ok := scan.Next()
	if !ok {
		return append(dst, raw...)
	}
	data := r.document(e.Data)
	if bytes.Equal(data, e.Data) {
		return append(dst, raw...)
	}
	written := false
	for line := range bytes.Lines(raw) {
		switch {
		case !bytes.HasPrefix(line, []byte("data")):
			dst = append(dst, line...)
		case !written:
			dst = append(append(dst, "data: "...), bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))...)
			if bytes.HasSuffix(line, []byte("\n")) {
				dst = append(dst, '\n')
			}
			written = true
		}
	}
	return dst
}

// moveTo is where a place of a body is after the edits.
func moveTo(at int, edits []edit) int {
	shift := 0
	for i, e := range edits {
		if at < e.before {
			if i%2 == 1 { // inside of an event that was changed
				return min(edits[i-1].after+at-edits[i-1].before, e.after)
			}
			break
		}
		shift = e.after - e.before
	}
	return at + shift
}

// question is what the body of a request asks: without its Content-Encoding, and
// redacted.
func (r *rules) question(encoding string, body []byte) []byte {
	if encoding != "" {
		if plain, err := wire.Plain(encoding, body); err == nil {
			body = plain
		}
	}
	out, _ := r.body("", body)
	return out
}

// again redacts what was kept by an interrupted session, which may have had other
// rules.
func (r *rules) again(in *Interaction, also []string) {
	q, a := &in.Request, &in.Response
	q.URL = r.address(q.URL)
	q.Header = HeaderOf(r.header(q.Header.HTTP(), also))
	a.Header = HeaderOf(r.header(a.Header.HTTP(), nil))
	q.Form = slices.DeleteFunc(q.Form, func(f Field) bool { return secretParameter(f.Name) })
	if body := r.question(q.Header.Get("Content-Encoding"), q.Body); !bytes.Equal(body, q.Body) {
		q.Body, q.ContentLength = body, int64(len(body))
		q.Header = slices.DeleteFunc(q.Header, func(f Field) bool { return f.Name == "Content-Encoding" })
	}
	if a.Header.Get("Content-Encoding") == "" {
		body, moved := r.body(a.Header.Get("Content-Type"), a.Body)
		a.Body = body
		in.Notes.move(moved, len(body))
	}
}

// move puts the pace of a body right after its edits.
func (n *Notes) move(moved []edit, size int) {
	if n == nil || len(moved) == 0 {
		return
	}
	for i := range n.Chunks {
		n.Chunks[i].Bytes = min(moveTo(n.Chunks[i].Bytes, moved), size)
	}
}

// url is the address without what gives access.
func (r *rules) url(u *url.URL) *url.URL {
	out := *u
	out.User = nil
	pairs := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return secretParameter(name)
	})
	out.RawQuery = strings.Join(pairs, "&")
	return &out
}

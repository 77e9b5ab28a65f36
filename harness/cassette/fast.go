package cassette

import (
	"bytes"
	"slices"
	"time"
)

// readFast reads the layout that go-vcr v3, v4 and Save write, and no other: at
// the first byte that it does not know for certain it gives up (false) and the
// file is the YAML parser's. What it does accept means the same to both;
// FuzzReadersAgree holds them together.
//
// It reads line by line: every mapping has one column, learned from its first
// key; a line at another column belongs to an outer mapping or to nobody.
func readFast(data []byte) (*File, bool) {
	if len(data) == 0 || data[len(data)-1] != '\n' || !plainText(data) {
		return nil, false
	}
	r := &fastReader{data: data, line: 1}
	if bytes.HasPrefix(data, []byte("---\n")) {
		r.pos, r.line = 4, 2
	}
	r.enter()
	f := r.file()
	return f, !r.failed && r.col == atEnd
}

type fastReader struct {
	data   []byte
	pos    int // start of the current line
	line   int // its number
	col    int // column of its first byte that is no space; atEnd behind the last line
	failed bool
	header []Field  // scratch
	names  [][]byte // scratch
}

// Columns that no line has.
const (
	atEnd   = -1 // behind the last line
	broken  = -2 // after a failure
	nowhere = -3 // of a mapping that cannot be read; no line ever matches it
)

// enter looks at the line at pos.
func (r *fastReader) enter() {
	p := r.pos
	for p < len(r.data) && r.data[p] == ' ' {
		p++
	}
	switch {
	case p < len(r.data) && r.data[p] != '\n':
		r.col = p - r.pos
	case p == r.pos && p == len(r.data):
		r.col = atEnd
	default:
		r.fail()
	}
}

// next moves to the line that begins at p.
func (r *fastReader) next(p int) {
	r.pos = p
	r.line++
	r.enter()
}

// fail makes every loop end: no mapping has its column.
func (r *fastReader) fail() {
	r.failed = true
	r.col = broken
}

// key reads the key at the current column and gives the position of its value;
// the value is a line end where it lies on the lines below.
func (r *fastReader) key() (name []byte, value int) {
	start := r.pos + r.col
	p := start
	for p < len(r.data) && keyByte(r.data[p]) {
		p++
	}
	name = r.data[start:p]
	if p == start || p+1 >= len(r.data) || r.data[p] != ':' || name[0] == '-' || isNull(name) {
		r.fail()
		return nil, 0
	}
	switch r.data[p+1] {
	case ' ':
		return name, p + 2
	case '\n':
		return name, p + 1
	}
	r.fail()
	return nil, 0
}

func keyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// inside goes to the lines below a key and gives their column, which lies
// deeper than the key's.
func (r *fastReader) inside(value, parent int) (column int) {
	if r.failed || r.data[value] != '\n' {
		r.fail()
		return nowhere
	}
	r.next(value + 1)
	if r.col <= parent {
		r.fail()
		return nowhere
	}
	return r.col
}

// once fails at a key that was seen before.
func (r *fastReader) once(seen *uint32, key uint) {
	if *seen&(1<<key) != 0 {
		r.fail()
	}
	*seen |= 1 << key
}

func (r *fastReader) file() *File {
	f := &File{}
	var seen uint32
	for r.col == 0 {
		name, v := r.key()
		switch string(name) {
		case "version":
			r.once(&seen, 0)
			f.Version = int(r.integer(v))
		case "interactions":
			r.once(&seen, 1)
			r.interactions(v, f)
		case "x-retake":
			r.once(&seen, 2)
			r.notes(v, &f.Notes)
		default:
			r.fail()
		}
	}
	if seen&3 != 3 || f.Version != 1 && f.Version != 2 {
		r.fail()
	}
	return f
}

// typicalInteraction is the size in bytes for which room is made at first.
const typicalInteraction = 4 << 10

func (r *fastReader) interactions(value int, f *File) {
	if r.emptyFlow(value, "[]") {
		return
	}
	if r.failed || r.data[value] != '\n' {
		r.fail()
		return
	}
	r.next(value + 1)
	f.Interactions = make([]Interaction, 0, 1+len(r.data)/typicalInteraction)
	dash := r.col
	for r.item(dash) {
		f.Interactions = append(f.Interactions, Interaction{Line: r.line})
		r.col = dash + 2
		r.interaction(&f.Interactions[len(f.Interactions)-1])
	}
	if len(f.Interactions) == 0 {
		r.fail()
	}
}

// item tells whether the current line is an element at the column dash.
func (r *fastReader) item(dash int) bool {
	if r.failed || r.col < 0 || r.col != dash {
		return false
	}
	p := r.pos + r.col
	return r.data[p] == '-' && r.data[p+1] == ' '
}

func (r *fastReader) interaction(in *Interaction) {
	column := r.col
	var seen uint32
	for r.col == column {
		name, v := r.key()
		switch string(name) {
		case "id":
			r.once(&seen, 0)
			in.ID = int(r.integer(v))
		case "request":
			r.once(&seen, 1)
			r.request(v, column, &in.Request)
		case "response":
			r.once(&seen, 2)
			r.response(v, column, &in.Response)
		case "x-retake":
			r.once(&seen, 3)
			in.Notes = new(Notes)
			r.notes(v, in.Notes)
		default:
			r.fail()
		}
	}
	if seen&6 != 6 {
		r.fail()
	}
}

func (r *fastReader) request(value, parent int, q *Request) {
	column := r.inside(value, parent)
	var seen uint32
	for r.col == column {
		name, v := r.key()
		r.once(&seen, memberBit(name))
		switch string(name) {
		case "proto":
			q.Proto = r.text(v, column)
		case "proto_major":
			q.ProtoMajor = int(r.integer(v))
		case "proto_minor":
			q.ProtoMinor = int(r.integer(v))
		case "content_length":
			q.ContentLength = r.integer(v)
		case "transfer_encoding":
			q.TransferEncoding = r.list(v, column)
		case "trailer":
			q.Trailer = r.fields(v, column)
		case "host":
			q.Host = r.text(v, column)
		case "remote_addr":
			q.RemoteAddr = r.text(v, column)
		case "request_uri":
			q.RequestURI = r.text(v, column)
		case "body":
			q.Body = r.scalar(v, column)
		case "form":
			q.Form = r.fields(v, column)
		case "headers":
			q.Header = r.fields(v, column)
		case "url":
			q.URL = r.text(v, column)
		case "method":
			q.Method = r.text(v, column)
		default:
			r.fail()
		}
	}
}

func (r *fastReader) response(value, parent int, a *Response) {
	column := r.inside(value, parent)
	var seen uint32
	for r.col == column {
		name, v := r.key()
		r.once(&seen, memberBit(name))
		switch string(name) {
		case "proto":
			a.Proto = r.text(v, column)
		case "proto_major":
			a.ProtoMajor = int(r.integer(v))
		case "proto_minor":
			a.ProtoMinor = int(r.integer(v))
		case "transfer_encoding":
			a.TransferEncoding = r.list(v, column)
		case "trailer":
			a.Trailer = r.fields(v, column)
		case "content_length":
			a.ContentLength = r.integer(v)
		case "uncompressed":
			a.Uncompressed = r.boolean(v)
		case "body":
			a.Body = r.scalar(v, column)
		case "headers":
			a.Header = r.fields(v, column)
		case "status":
			a.Status = r.text(v, column)
		case "code":
			a.Code = int(r.integer(v))
		case "duration":
			a.Duration = r.duration(v, column)
		default:
			r.fail()
		}
	}
}

// memberBit numbers the members of requests and responses.
func memberBit(name []byte) uint {
	for i, n := range [...]string{
		"body", "headers", "url", "method", "status", "code", "duration", "host", "content_length", "proto", "proto_major",
		"proto_minor", "form", "uncompressed", "transfer_encoding", "trailer", "remote_addr", "request_uri",
	} {
		if n == string(name) {
			return uint(i)
		}
	}
	return 31
}

// notes reads an x-retake member, which Save writes as one line of JSON.
func (r *fastReader) notes(value int, into any) {
	end := r.lineEnd(value)
	text := r.data[value:end]
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' || !jsonIsYAML(text) || decodeNotes(text, into) != nil {
		r.fail()
		return
	}
	r.next(end + 1)
}

// maxFields bounds the quadratic search for a name that occurs twice.
const maxFields = 128

// fields reads a mapping of names to lists of texts.
func (r *fastReader) fields(value, parent int) Header {
	if r.emptyFlow(value, "{}") {
		return nil
	}
	column := r.inside(value, parent)
	r.header = r.header[:0]
	r.names = r.names[:0]
	for r.col == column {
		name, v := r.key()
		if r.failed || len(r.names) == maxFields || containsName(r.names, name) {
			r.fail()
			return nil
		}
		r.names = append(r.names, name)
		if !r.emptyFlow(v, "[]") {
			r.values(v, column, text(name))
		}
	}
	return slices.Clone(r.header)
}

func containsName(names [][]byte, name []byte) bool {
	for _, n := range names {
		if bytes.Equal(n, name) {
			return true
		}
	}
	return false
}

// values reads the elements below a key; they may stand at the key's column.
func (r *fastReader) values(value, parent int, name string) {
	if r.failed || r.data[value] != '\n' {
		r.fail()
		return
	}
	r.next(value + 1)
	dash := r.col
	if dash < parent || !r.item(dash) {
		r.fail()
		return
	}
	for r.item(dash) {
		r.header = append(r.header, Field{name, r.text(r.pos+dash+2, dash)})
	}
}

func (r *fastReader) list(value, parent int) []string {
	r.header = r.header[:0]
	if r.emptyFlow(value, "[]") {
		return nil
	}
	r.values(value, parent, "")
	var out []string
	for _, f := range r.header {
		out = append(out, f.Value)
	}
	return out
}

// emptyFlow consumes the line when the value is exactly the empty collection.
func (r *fastReader) emptyFlow(value int, brackets string) bool {
	if r.failed || value+2 >= len(r.data) || string(r.data[value:value+2]) != brackets || r.data[value+2] != '\n' {
		return false
	}
	r.next(value + 3)
	return true
}

func (r *fastReader) integer(value int) int64 {
	end := r.lineEnd(value)
	n, ok := smallInteger(r.data[value:end])
	if !ok {
		r.fail()
		return 0
	}
	r.next(end + 1)
	return n
}

// smallInteger reads decimal digits without leading zeros, at most 18.
func smallInteger(text []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

func (r *fastReader) boolean(value int) bool {
	end := r.lineEnd(value)
	truth := string(r.data[value:end]) == "true"
	if !truth && string(r.data[value:end]) != "false" {
		r.fail()
		return false
	}
	r.next(end + 1)
	return truth
}

// duration reads Go's spelling; go-vcr of version 1 wrote "" for none.
func (r *fastReader) duration(value, parent int) time.Duration {
	written := r.text(value, parent)
	if r.failed || written == "" {
		return 0
	}
	d, err := time.ParseDuration(written)
	if err != nil || written[len(written)-1] != 's' {
		r.fail()
	}
	return d
}

// lineEnd is the position of the line feed that ends the line of p.
func (r *fastReader) lineEnd(p int) int {
	return p + bytes.IndexByte(r.data[p:], '\n')
}

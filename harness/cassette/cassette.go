// Package cassette reads, writes and replays recordings of HTTP traffic in the
// file format of go-vcr.
//
// A file is read into a File by Open: by a reader of its own for the layout
// that go-vcr and Save write, by a YAML parser for everything else. NewPlayer
// makes an http.RoundTripper that answers from a File and never dials;
// NewToolPlayer makes a tool.Executor of a tools' cassette. What go-vcr's
// format cannot say (where a recording comes from, transport errors, the pace
// of a stream) is kept in x-retake members, which go-vcr ignores.
//
// # The tools' cassette
//
// Tools have a cassette of their own, which can be written by hand: each call is
// a POST to the tool's name at a host that does not exist, with the arguments as
// its body. A status of 200 gives the result, one of 400 or more an error.
//
//	version: 2
//	interactions:
//	  - request:
//	      method: POST
//	      url: https://tools.retake.invalid/get_weather
//	      body: '{"city":"London"}'
//	    response:
//	      code: 200
//	      duration: 200ms
//	      body: '{"rain":true}'
//	  - request:
//	      method: POST
//	      url: https://tools.retake.invalid/get_weather
//	      body: '{"city":"Atlantis"}'
//	    response:
//	      code: 404
//	      body: '{"ok":false,"error":{"code":"NOT_FOUND","message":"no such city","retryable":false}}'
//
// Calls are found by tool and arguments, whatever their spelling as JSON.
//
// # Recording
//
// Record makes an http.RoundTripper that asks another one and keeps what was asked
// and answered; RecordTools does so for tools. What an exchange has that must not be
// written is taken out first (see Redaction), and one that still has the value of a
// known secret, in any spelling, is refused. Each exchange is on disk as soon as it
// has ended, beside the cassette, and is taken up by the next recording where this
// one is interrupted; the cassette itself is written at the end, whole or not at
// all.
//
// # Misses
//
// A request without a recording is never answered by a similar one. It is a
// *Miss, which names the nearest recording, the first differences and their
// cause.
package cassette

import (
	"net/http"
	"net/textproto"
	"time"
)

// File is a cassette in memory. Players and readers may share it as long as
// nobody changes it. Bodies and texts of a file that was read may alias the
// memory of that file.
type File struct {
	Name         string // path as opened, for messages
	Hash         string // SHA-256 of the file's bytes, hex; "" when it was not read from one
	Version      int    // of the format: 1 or 2
	Notes        FileNotes
	Interactions []Interaction
	Warnings     []Warning // what is odd but readable
}

// Warning is a doubt about a file that stops nothing.
type Warning struct {
	Line int // counts from 1; 0 where it concerns the whole file
	Text string
}

// Interaction is one request with its answer.
type Interaction struct {
	ID       int
	Line     int // where it begins in the file, from 1; 0 when it was not read from one
	Request  Request
	Response Response
	Notes    *Notes // nil without an x-retake member
}

// Request is a recorded request.
type Request struct {
	Method string
	URL    string
	Host   string
	Header Header
	Body   []byte
	Form   Header // go-vcr's parsed form values

	Proto                  string
	ProtoMajor, ProtoMinor int
	ContentLength          int64
	TransferEncoding       []string
	Trailer                Header
	RemoteAddr             string
	RequestURI             string
}

// Response is a recorded answer.
type Response struct {
	Code     int
	Status   string // with the code: "200 OK"
	Header   Header
	Body     []byte
	Duration time.Duration // of the whole exchange; 0 when unknown

	Proto                  string
	ProtoMajor, ProtoMinor int
	ContentLength          int64 // -1 when the server did not say
	TransferEncoding       []string
	Trailer                Header
	Uncompressed           bool
}

// Field is one header line.
type Field struct{ Name, Value string }

// Header are header lines in the order of the file. Lines of one name lie
// together. A name without a value has no line.
type Header []Field

// Get is the first value of a name, in any case of letters; "" for none.
func (h Header) Get(name string) string {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	for _, f := range h {
		if f.Name == name || f.Name == canonical || textproto.CanonicalMIMEHeaderKey(f.Name) == canonical {
			return f.Value
		}
	}
	return ""
}

// HTTP makes a http.Header that shares nothing changeable with h.
func (h Header) HTTP() http.Header {
	out := make(http.Header, len(h))
	values := make([]string, len(h))
	for i, f := range h {
		name := textproto.CanonicalMIMEHeaderKey(f.Name)
		values[i] = f.Value
		if before, ok := out[name]; ok {
			out[name] = append(before, f.Value)
		} else {
			out[name] = values[i : i+1 : i+1]
		}
	}
	return out
}

// HeaderOf takes the lines of h, sorted by name.
func HeaderOf(h http.Header) Header {
	var out Header
	for _, name := range sortedKeys(h) {
		for _, v := range h[name] {
			out = append(out, Field{name, v})
		}
	}
	return out
}

package foreign

import (
	"bytes"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/cassette"
)

// httprrMagic is the first line of a trace.
const httprrMagic = "httprr trace v1\n"

// readHTTPRR reads a trace: for each exchange a line with two lengths, then a
// request and a response of such lengths as they go over the wire.
func readHTTPRR(text []byte, name string) (*File, error) {
	r := newReader(name)
	for at := len(httprrMagic); at < len(text); {
		line, column := position(text, at)
		head, rest, ok := bytes.Cut(text[at:], []byte("\n"))
		asked, answered, fits := lengths(string(head))
		if !ok || !fits {
			return nil, invalid(name, line, column, "exchange %d must begin with two lengths, not with %q; the file may be damaged", len(r.file.Interactions)+1, beginning(string(head)))
		}
		if asked > len(rest) || answered > len(rest)-asked {
			return nil, invalid(name, line, column, "exchange %d is to have %d and %d bytes, of which %d are left; the file may be cut off", len(r.file.Interactions)+1, asked, answered, len(rest))
		}
		e := &exchange{line: line, column: column}
		e.asked(rest[:asked])
		e.answered(rest[asked : asked+answered])
		if err := r.add(e); err != nil {
			return nil, err
		}
		at += len(head) + 1 + asked + answered
	}
	return r.done(HTTPRR)
}

func lengths(line string) (asked, answered int, ok bool) {
	one, two, ok := strings.Cut(strings.TrimSuffix(line, "\r"), " ")
	asked, err1 := strconv.Atoi(one)
	answered, err2 := strconv.Atoi(two)
	return asked, answered, ok && err1 == nil && err2 == nil && asked >= 0 && answered >= 0
}

// asked reads a request as a proxy gets it: with the whole address in its first
// line. The body is what follows, whatever Content-Length says: scrubbers change
// bodies.
func (e *exchange) asked(message []byte) {
	first, header, body := takeApart(message)
	method, rest, _ := strings.Cut(first, " ")
	address, proto, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(address, "/") {
		address = "https://" + header.Get("Host") + address
	}
	e.method, e.url, e.askedIn, e.sent, e.request = method, address, proto, header, body
}

func (e *exchange) answered(message []byte) {
	first, header, body := takeApart(message)
	proto, rest, _ := strings.Cut(first, " ")
	code, reason, _ := strings.Cut(rest, " ")
	e.code, _ = strconv.Atoi(code) // one that is none is refused as missing
	e.answeredIn, e.reason, e.received, e.response = proto, reason, header, body
}

// takeApart cuts a message into its first line, its header and its body.
func takeApart(message []byte) (first string, h cassette.Header, body []byte) {
	line := func() string {
		l, rest, _ := bytes.Cut(message, []byte("\n"))
		message = rest
		return string(bytes.TrimSuffix(l, []byte("\r")))
	}
	first = line()
	for len(message) > 0 {
		l := line()
		if l == "" {
			break
		}
		name, value, _ := strings.Cut(l, ":")
		h = append(h, cassette.Field{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if strings.EqualFold(h.Get("Transfer-Encoding"), "chunked") {
		if plain, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(message))); err == nil {
			return first, h, plain
		}
	}
	return first, h, message
}

// Package sse reads and writes the text/event-stream format over whole bodies,
// as cassettes hold them: https://html.spec.whatwg.org/multipage/server-sent-events.html
//
// It differs from a browser in one point: an event that the end of the body
// cuts off before its blank line is delivered, marked as unterminated, because
// a harness has to see what arrived.
package sse

import "bytes"

// Event is one event. Its slices point into the body where they can: the
// caller must not change them.
type Event struct {
	// Name is the value of the event's "event:" line, nil without one; a switch
	// over string(e.Name) does not allocate.
	Name []byte
	// Data are the values of its "data:" lines, joined by line feeds.
	Data []byte
	// Unterminated says that the body ended before the event's blank line.
	Unterminated bool
}

// Scanner steps through the events of one body. The zero value has none.
type Scanner struct {
	body []byte
	pos  int
	lf   int // where the next line feed at or after pos is; len(body) for none
}

// bom is the byte order mark that may precede a stream.
var bom = []byte("\xef\xbb\xbf")

// NewScanner makes a Scanner over body, which it neither copies nor changes.
func NewScanner(body []byte) Scanner {
	return Scanner{body: bytes.TrimPrefix(body, bom), lf: -1}
}

// Next is the next event that has data; false at the end. Comments, ids, retry
// times and events without data are skipped.
func (s *Scanner) Next() (Event, bool) {
	var e Event
	seen := false
	for s.pos < len(s.body) {
		line := s.line()
		if len(line) == 0 {
			if seen {
				return e, true
			}
			e = Event{}
			continue
		}
		switch field, value := split(line); string(field) {
		case "event":
			e.Name = value
		case "data":
			e.Data = join(e.Data, value, seen)
			seen = true
		}
	}
	e.Unterminated = true
	return e, seen
}

// line takes one line off the body; it ends with CRLF, LF, CR or the body.
func (s *Scanner) line() []byte {
	if s.lf < s.pos {
		s.lf = len(s.body)
		if i := bytes.IndexByte(s.body[s.pos:], '\n'); i >= 0 {
			s.lf = s.pos + i
		}
	}
	start, end := s.pos, s.lf
	next := end + 1
	if i := bytes.IndexByte(s.body[start:end], '\r'); i >= 0 {
		end = start + i
		if end+1 != s.lf { // a CR by itself
			next = end + 1
		}
	}
	s.pos = min(next, len(s.body))
	return s.body[start:end:end]
}

// split parts a line at its colon; one space after it is no part of the value.
// A comment has an empty field.
func split(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte{':'})
	return field, bytes.TrimPrefix(value, []byte{' '})
}

// join adds a data line; the first is not copied.
func join(data, value []byte, more bool) []byte {
	if !more {
		return value
	}
	// The first line's slice has no spare capacity, so append copies it.
	return append(append(data, '\n'), value...)
}

// Append writes one event with its blank line, lines ended by LF; an empty name
// writes no event line. Line breaks within data become data lines.
func Append(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for {
		i := bytes.IndexAny(data, "\r\n")
		if i < 0 {
			break
		}
		dst = appendData(dst, data[:i])
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
	return append(appendData(dst, data), '\n')
}

func appendData(dst, line []byte) []byte {
	dst = append(dst, "data: "...)
	dst = append(dst, line...)
	return append(dst, '\n')
}

// Is tells whether a body is an event stream: by its content type, else by how
// it begins (recordings lose headers).
func Is(contentType string, body []byte) bool {
	const want = "text/event-stream"
	if len(contentType) >= len(want) && bytes.EqualFold([]byte(contentType[:len(want)]), []byte(want)) {
		return true
	}
	body = bytes.TrimLeft(bytes.TrimPrefix(body, bom), "\r\n")
	for _, start := range [...]string{"data:", "event:", ":", "id:", "retry:"} {
		if len(body) >= len(start) && string(body[:len(start)]) == start {
			return true
		}
	}
	return false
}

// Ends are the offsets at which the events of body end, their blank line
// included; the last may end with the body.
func Ends(body []byte) []int {
	skipped := len(body) - len(bytes.TrimPrefix(body, bom))
	s := NewScanner(body)
	var out []int
	for {
		if _, ok := s.Next(); !ok {
			return out
		}
		out = append(out, skipped+s.pos)
	}
}

package mcptool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/failure"
)

// lines reads a server's standard output, a message a line, and breaks the
// session at the first line that is none.
type lines struct {
	src     *bufio.Reader
	session *Session
	rest    []byte
}

func newLines(src io.Reader, s *Session) *lines {
	return &lines{src: bufio.NewReaderSize(src, 64<<10), session: s}
}

const shown = 200 // bytes of a line that is no message

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next is the next line with a message, with its end.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.src.ReadSlice('\n')
		if len(line)+len(part) > l.session.server.MaxMessage {
			return nil, l.breaks("the server wrote a line of more than %d bytes to its standard output", l.session.server.MaxMessage)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(bytes.TrimSpace(line)) == 0:
			return nil, err
		case err != nil:
			return nil, l.breaks("the server's standard output ended inside a line, %q", line[:min(len(line), shown)])
		}
		if message := bytes.TrimSpace(line); len(message) == 0 {
			line = line[:0]
			continue
		} else if !isMessage(message) {
			return nil, l.breaks("the server wrote what is no JSON message to its standard output, %q; a log belongs on standard error", message[:min(len(message), shown)])
		}
		if l.session.listing.Load() {
			l.session.heard.message(line)
		}
		return line, nil
	}
}

func (l *lines) breaks(format string, args ...any) error {
	err := failure.Errorf(failure.ToolUnavailable, format, args...)
	l.session.breaks(err)
	return err
}

func isMessage(line []byte) bool {
	return (line[0] == '{' || line[0] == '[') && jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// Close leaves the pipe to the process, which ends it.
func (l *lines) Close() error { return nil }

// listen hears what a server in this process says of its tools. Only transports
// that are known to bear it are put behind a layer.
func (s *Session) listen(t mcp.Transport) mcp.Transport {
	switch t.(type) {
	case *mcp.InMemoryTransport, *mcp.IOTransport:
		return &listener{t, s}
	}
	return t
}

type listener struct {
	mcp.Transport
	session *Session
}

func (l *listener) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := l.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &heardConn{c, l.session}, nil
}

type heardConn struct {
	mcp.Connection
	session *Session
}

func (c *heardConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil && c.session.listing.Load() {
		c.session.heard.result(r.Result)
	}
	return m, err
}

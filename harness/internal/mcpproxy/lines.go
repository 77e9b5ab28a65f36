package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/retake-harness/retake/harness/failure"
)

// mostMessage is how many bytes one message may have.
const mostMessage = 16 << 20

// Lines is a connection over a pair of pipes, a message a line. A line that is no
// message is given to stray, and the next one is read: whoever writes it does not
// end the connection.
type Lines struct {
	dst   io.Writer
	stray func(l *Lines, line []byte, why error)
	close func()

	in     chan jsonrpc.Message
	done   chan struct{}
	once   sync.Once
	ended  error // why in was closed
	writes sync.Mutex
}

// newLines begins to read src. closing, which may be nil, ends what reads and
// writes; stray is called in the reader's turn.
func newLines(src io.Reader, dst io.Writer, stray func(l *Lines, line []byte, why error), closing func()) *Lines {
	l := &Lines{dst: dst, stray: stray, close: closing, in: make(chan jsonrpc.Message), done: make(chan struct{})}
	go l.read(bufio.NewReaderSize(src, 64<<10))
	return l
}

// Stdio is the connection to a client that has started this program. A line that is
// no message is answered, as the protocol wants it.
func Stdio(stdin io.Reader, stdout io.Writer) *Lines {
	return newLines(stdin, stdout, func(l *Lines, _ []byte, why error) {
		_ = l.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, jsonrpc.CodeParseError, why.Error()))
	}, nil)
}

// read hands on the messages until the source ends.
func (l *Lines) read(src *bufio.Reader) {
	defer close(l.in)
	for {
		line, err := nextLine(src)
		if text := bytes.TrimSpace(line); len(text) > 0 && !errors.Is(err, errLong) {
			l.hand(text)
		}
		switch {
		case errors.Is(err, errLong):
			l.strayed(line, err)
		case err != nil:
			if !errors.Is(err, io.EOF) {
				l.ended = err
			}
			return
		}
	}
}

// hand gives the messages of a line to the reader; several are a list.
func (l *Lines) hand(text []byte) {
	all := [][]byte{text}
	if text[0] == '[' {
		all = members(text)
	}
	if len(all) == 0 {
		l.strayed(text, errNoMessage)
	}
	for _, one := range all {
		m, err := decode(one)
		if err != nil {
			l.strayed(one, err)
			continue
		}
		select {
		case l.in <- m:
		case <-l.done:
			return
		}
	}
}

func (l *Lines) strayed(line []byte, why error) {
	l.stray(l, line, why)
}

var (
	errLong      = failure.Errorf(failure.Protocol, "a line of more than %d bytes", mostMessage)
	errNoMessage = failure.Errorf(failure.Protocol, "no JSON-RPC message")
)

// nextLine is the next line, whole or, with errLong, its beginning.
func nextLine(src *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := src.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > mostMessage {
			line, long = line[:shown], true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && err == nil:
			return line, errLong
		default:
			return line, err
		}
	}
}

// decode reads a message. The parser is given nothing that is no JSON, in which it
// would be left to guess.
func decode(text []byte) (jsonrpc.Message, error) {
	if v := jsontext.Value(text); text[0] != '{' || !v.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		return nil, errNoMessage
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, errNoMessage
	}
	return m, nil
}

// members are the elements of a JSON list; none when it is broken.
func members(text []byte) [][]byte {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	var out [][]byte
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return nil
		}
		out = append(out, v.Clone())
	}
	return out
}

// Read implements mcp.Connection. At the end of the source it gives io.EOF.
func (l *Lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-l.in:
		if ok {
			return m, nil
		}
		if l.ended != nil {
			return nil, l.ended
		}
		return nil, io.EOF
	case <-l.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (l *Lines) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return failure.Errorf(failure.Protocol, "writing a message: %w", err)
	}
	return l.writeLine(text)
}

func (l *Lines) writeLine(text []byte) error {
	l.writes.Lock()
	defer l.writes.Unlock()
	_, err := l.dst.Write(append(text, '\n'))
	return err
}

// Close implements mcp.Connection.
func (l *Lines) Close() error {
	l.once.Do(func() {
		close(l.done)
		if l.close != nil {
			l.close()
		}
	})
	return nil
}

// SessionID implements mcp.Connection.
func (l *Lines) SessionID() string { return "" }

// Package mcptool runs tool calls at an MCP server: a program that is talked to
// over its standard input and output, an address that speaks streamable HTTP, or
// a server in the same process.
//
// A Session is one connection to one server. It belongs to one run: a server may
// keep state for a session, and what one run leaves there must not be found by the
// next. A program runs in a process group of its own; when the session is closed,
// or the context that it was made with ends, nothing of the group is left.
//
// What a server answers becomes a tool.Result: structured content where there is
// some, else its text. isError makes it an error; a text in the form
// {"ok":false,"error":{…}} is taken over, any other is the message of a TOOL_ERROR.
// A server that dies, hangs or writes what is no JSON gives an error that says so
// in its detail, with the last of the server's standard error.
package mcptool

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// Server says how a server is reached: one of Command, URL and Transport.
type Server struct {
	Name string // for messages

	Command []string // a program and its arguments, without a shell
	Env     []tool.Setting
	Dir     string // where the program runs; "" is the working directory

	URL     string // of streamable HTTP
	Headers []tool.Setting

	Transport mcp.Transport // to a server in this process

	// Listen gets each line that a program writes to its standard error; nil: nobody
	// listens.
	Listen func(line string)

	// Timeout is for connecting, and for each call; 0 is 30 s.
	Timeout time.Duration
	// MaxMessage is how many bytes one message of the server may have; 0 is 16 MiB.
	MaxMessage int
}

const (
	defaultTimeout    = 30 * time.Second
	defaultMaxMessage = 16 << 20
	// grace is how long a server has to end by itself, and then to end when asked.
	grace = 2 * time.Second
)

// ErrUnauthorized says that a server does not accept the credentials that it was
// sent, or wants some.
var ErrUnauthorized = errors.New("the server does not accept the host's credentials")

const codeUnauthorized = "UNAUTHORIZED"

// Session is a connection to a server. It may be used by many goroutines.
type Session struct {
	server  Server
	session *mcp.ClientSession
	proc    *process.Process // nil unless the server is a program
	life    context.CancelFunc
	idle    func() // lets go of connections
	hidden  *redact.Values
	heard   heard
	listing atomic.Bool
	meeting sync.Mutex
	met     atomic.Bool // its tools have been listed, or cannot be

	mu     sync.Mutex
	broken error // what made the connection useless
	closed sync.Once
}

// Connect starts the server, or connects to it, and agrees on a version. getenv
// gives what the settings take from the environment, and to a program PATH and
// HOME. An error is of class world, or of scenario_invalid where the server is not
// described.
func Connect(ctx context.Context, server Server, getenv func(string) string) (*Session, error) {
	if server.Timeout == 0 {
		server.Timeout = defaultTimeout
	}
	if server.MaxMessage == 0 {
		server.MaxMessage = defaultMaxMessage
	}
	life, end := context.WithCancel(ctx)
	s := &Session{server: server, life: end, idle: func() {}}
	transport, err := s.transport(life, getenv)
	if err != nil {
		end()
		return nil, s.errorf(failure.Of(err), "%w", err)
	}
	limited, cancel := clock.WithTimeout(life, server.Timeout)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "retake", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	n := &note{}
	s.session, err = client.Connect(context.WithValue(limited, noteKey{}, n), transport, nil)
	if err != nil {
		why := s.why(limited, n, err)
		s.Close()
		if why.Code == codeUnauthorized {
			return nil, s.errorf(failure.World, "connecting: %w: %s", ErrUnauthorized, s.hidden.Text(why.Detail))
		}
		return nil, s.errorf(failure.World, "connecting: %s", s.hidden.Text(why.Detail))
	}
	return s, nil
}

func (s *Session) errorf(c failure.Class, format string, args ...any) error {
	return failure.Errorf(c, "MCP server %q: "+format, append([]any{s.server.Name}, args...)...)
}

// transport makes the way to the server, which lives as long as ctx.
func (s *Session) transport(ctx context.Context, getenv func(string) string) (mcp.Transport, error) {
	switch {
	case s.server.Transport != nil:
		return s.listen(s.server.Transport), nil
	case s.server.URL != "":
		return s.overHTTP(ctx, getenv)
	case len(s.server.Command) > 0:
		return s.overPipes(ctx, getenv)
	}
	return nil, failure.Errorf(failure.ScenarioInvalid, "nothing says how it is reached; give its command or its url")
}

func (s *Session) overHTTP(ctx context.Context, getenv func(string) string) (mcp.Transport, error) {
	headers, hidden, err := tool.Resolve(s.server.Headers, getenv)
	if err != nil {
		return nil, failure.Errorf(failure.Of(err), "header %w", err)
	}
	s.hidden = hidden
	base := &http.Transport{}
	s.idle = base.CloseIdleConnections
	return &mcp.StreamableClientTransport{
		Endpoint: s.server.URL, MaxEventSize: s.server.MaxMessage,
		// Nothing that a server says by itself is waited for.
		DisableStandaloneSSE: true,
		// A stream that the server has ended, and can be asked for the rest of, is asked
		// for it: by a GET, which calls nothing. A call is never sent again.
		MaxRetries: 1,
		HTTPClient: &http.Client{
			Transport:     &roundTripper{base: base, life: ctx, headers: headers, session: s},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func (s *Session) overPipes(ctx context.Context, getenv func(string) string) (mcp.Transport, error) {
	env, hidden, err := process.Environment(s.server.Env, getenv)
	if err != nil {
		return nil, err
	}
	s.hidden = hidden
	s.proc, err = process.Start(ctx, process.Command{Args: s.server.Command, Env: env, Dir: s.server.Dir, Listen: s.server.Listen})
	if err != nil {
		return nil, err
	}
	return &mcp.IOTransport{
		Reader: newLines(s.proc.Stdout, s), Writer: s.proc.Stdin,
		MaxLineLength: s.server.MaxMessage + 1, // what is longer has been told in our own words
	}, nil
}

// Close ends the session and, of a program, the process group. When it returns,
// nothing of that is left. It may be called more than once.
func (s *Session) Close() {
	s.closed.Do(func() {
		if s.proc != nil && s.lost() != nil {
			s.proc.Kill() // there is nothing left to say to it
		}
		s.hangUp()
		if s.proc != nil {
			s.proc.Close(grace)
		}
		s.life()
		s.idle()
	})
}

// hangUp closes the connection in good form, unless the server keeps it waiting.
func (s *Session) hangUp() {
	if s.session == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.session.Close() // that the server is gone is no news
	}()
	limited, cancel := clock.WithTimeout(context.Background(), grace)
	defer cancel()
	select {
	case <-done:
	case <-limited.Done():
	}
}

// Kill ends the program and its process group at once, without a word; of a server
// that is none, the connection alone.
func (s *Session) Kill() {
	if s.proc != nil {
		s.proc.Kill()
	}
	s.Close()
}

// Pid is the number of the program and of its process group; 0 where the server
// is none.
func (s *Session) Pid() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.Pid()
}

// breaks notes what makes the connection useless; the first reason counts.
func (s *Session) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
}

// lost says why the connection is useless; nil while it is not known to be.
func (s *Session) lost() error {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	if s.proc == nil {
		return broken
	}
	how := s.proc.How()
	switch {
	case broken != nil:
		return withStderr(broken, s.proc)
	case how != "":
		return withStderr(failure.Errorf(failure.ToolUnavailable, "the server has ended: %s", how), s.proc)
	}
	return nil
}

func withStderr(err error, p *process.Process) error {
	if text := p.Stderr(); text != "" {
		return failure.Errorf(failure.Of(err), "%w; standard error: %s", err, text)
	}
	return err
}

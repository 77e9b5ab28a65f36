package world

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// Start says how a server is started, besides its description.
type Start struct {
	Scratch string         // the folder that ${scratch} stands for
	Env     []tool.Setting // for its programs, besides their own
	// Listen gets each line that its programs write to their standard error; nil:
	// nobody listens.
	Listen func(line string)
}

// Server is an MCP server that has been started, or is reached where it runs. It
// may be used by many goroutines.
type Server struct {
	life    context.Context //nolint:containedctx // of its programs and sessions, which a call's must not end
	spec    scenario.Server
	options Options
	start   Start
	built   string           // what ${build} stands for
	own     *Shared          // where nobody else keeps what it is built into
	proc    *process.Process // of a program that is reached by its address

	mu       sync.Mutex
	sessions map[string]*mcptool.Session // by the principal
	closed   bool
}

const (
	startTime = 30 * time.Second // for a program to be reached, where the server says nothing
	pollEvery = 5 * time.Millisecond
	mostPorts = 3 // how often another port is tried
	grace     = 2 * time.Second
)

// StartServer starts the server's program where it is reached by its address; one
// that speaks over its standard input is started by its first session. It lives
// until Close or Kill, or until ctx ends.
func StartServer(ctx context.Context, s scenario.Server, o Options, st Start) (*Server, error) {
	server := &Server{life: ctx, spec: s, options: o, start: st, sessions: map[string]*mcptool.Session{}}
	if o.Shared == nil && len(s.Build) > 0 {
		server.own = NewShared()
		o.Shared = server.own
	}
	if err := server.prepare(ctx, &o); err != nil {
		server.Close()
		return nil, failure.Errorf(failure.Of(err), "MCP server %q: %w", s.Name, err)
	}
	return server, nil
}

// prepare builds the program, and starts it where it is reached by its address.
func (s *Server) prepare(ctx context.Context, o *Options) (err error) {
	if s.built, err = o.Shared.build(ctx, &s.spec, o); err != nil || len(s.spec.Command) == 0 || s.spec.URL == "" {
		return err
	}
	for range mostPorts {
		if err = s.launch(ctx); !errors.Is(err, errEnded) || !strings.Contains(s.spec.URL, "${"+scenario.Port+"}") {
			break // somebody else may have been quicker to take the port
		}
	}
	return err
}

var errEnded = errors.New("the program ended before it could be reached")

// launch starts the program and waits until its address can be reached.
func (s *Server) launch(ctx context.Context) error {
	port, err := freePort(ctx)
	if err != nil {
		return failure.Errorf(failure.World, "finding a free port: %w", err)
	}
	values := map[string]string{scenario.Scratch: s.start.Scratch, scenario.Port: port, scenario.Build: s.built}
	original := s.spec
	original.URL = scenario.Fill(s.spec.URL, values)
	env, _, err := process.Environment(append(Filled(s.spec.Env, values), Filled(s.start.Env, values)...), s.options.Getenv)
	if err != nil {
		return err
	}
	proc, err := process.Start(ctx, process.Command{Args: Fill(s.spec.Command, values), Env: env, Dir: s.options.Dir, Listen: s.start.Listen})
	if err != nil {
		return err
	}
	if err := s.reached(ctx, proc, original.URL); err != nil {
		proc.Kill()
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, proc.Stdout) }() // until it ends
	s.proc, s.spec = proc, original
	return nil
}

func (s *Server) reached(ctx context.Context, proc *process.Process, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return failure.Errorf(failure.ScenarioInvalid, "its address: %w", err)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	limited, cancel := clock.WithTimeout(ctx, max(s.spec.Timeout, startTime))
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(limited, "tcp", host)
		if err == nil {
			return conn.Close()
		}
		if how := proc.How(); how != "" {
			return failure.Errorf(failure.World, "%w: %s%s", errEnded, how, stderr(proc))
		}
		if clock.Sleep(limited, pollEvery) != nil {
			return failure.Errorf(failure.World, "the program cannot be reached at %s: %w%s", host, err, stderr(proc))
		}
	}
}

func stderr(p *process.Process) string {
	if text := p.Stderr(); text != "" {
		return "; standard error: " + text
	}
	return ""
}

func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// Session is the connection in the principal's name, nil for nobody's; it is made
// at the first call. Of a server that speaks over its standard input each
// principal has a program of its own. An error that comes of the principal's
// credentials is mcptool.ErrUnauthorized.
func (s *Server) Session(p *scenario.Principal) (*mcptool.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := ""
	if p != nil {
		name = p.Name
	}
	if have := s.sessions[name]; have != nil {
		return have, nil
	}
	if s.closed {
		return nil, failure.Errorf(failure.World, "MCP server %q: is closed", s.spec.Name)
	}
	session, err := mcptool.Connect(s.life, s.as(p), s.options.Getenv)
	if err != nil {
		return nil, err
	}
	s.sessions[name] = session
	return session, nil
}

// Address is where the server is reached; "" for one that speaks over its standard
// input.
func (s *Server) Address() string { return s.spec.URL }

// as describes the server as the principal reaches it.
func (s *Server) as(p *scenario.Principal) mcptool.Server {
	values := map[string]string{scenario.Scratch: s.start.Scratch, scenario.Build: s.built}
	m := mcptool.Server{Name: s.spec.Name, Dir: s.options.Dir, Timeout: s.spec.Timeout, Listen: s.start.Listen}
	if p == nil {
		p = &scenario.Principal{}
	}
	if s.spec.URL != "" {
		m.URL, m.Headers = s.spec.URL, slices.Concat(s.spec.Headers, p.Headers)
		return m
	}
	m.Command = Fill(s.spec.Command, values)
	m.Env = slices.Concat(Filled(s.spec.Env, values), Filled(p.Env, values), Filled(s.start.Env, values))
	return m
}

// Pid is the number of the program that is reached by its address; 0 without one.
func (s *Server) Pid() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.Pid()
}

// Kill ends the server's programs at once, without a word.
func (s *Server) Kill() {
	if s.proc != nil {
		s.proc.Kill()
	}
	s.end((*mcptool.Session).Kill)
}

// Close ends the connections and the programs. It may be called more than once.
func (s *Server) Close() { s.end((*mcptool.Session).Close) }

func (s *Server) end(session func(*mcptool.Session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, open := range s.sessions {
		session(open)
	}
	clear(s.sessions)
	if s.proc != nil {
		s.proc.Terminate(grace)
	}
	if s.own != nil {
		s.own.Close()
	}
}

// Fill replaces ${name} in each text.
func Fill(texts []string, values map[string]string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = scenario.Fill(t, values)
	}
	return out
}

// InScratch is JSON whose texts may name the run's own folder: ${scratch}.
func InScratch(v jsontext.Value, scratch string) jsontext.Value {
	quoted, err := jsontext.AppendQuote(nil, scratch)
	if err != nil {
		return v // no folder of ours
	}
	return jsontext.Value(strings.ReplaceAll(string(v), "${"+scenario.Scratch+"}", string(quoted[1:len(quoted)-1])))
}

// Filled replaces ${name} in the value of each setting.
func Filled(settings []tool.Setting, values map[string]string) []tool.Setting {
	out := slices.Clone(settings)
	for i := range out {
		out[i].Value = scenario.Fill(out[i].Value, values)
	}
	return out
}

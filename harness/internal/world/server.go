package world

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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
	sessions map[string]*session // by the principal
	closed   bool
}

// session is a connection that has been made, or is being made.
type session struct {
	cancel context.CancelFunc
	ready  chan struct{}    // closed when the two below are known
	open   *mcptool.Session // nil where it could not be made
	err    error
}

const grace = 2 * time.Second

// StartServer starts the server's program where it is reached by its address; one
// that speaks over its standard input is started by its first session. It lives
// until Close or Kill, or until ctx ends.
func StartServer(ctx context.Context, s scenario.Server, o Options, st Start) (*Server, error) {
	server := &Server{life: ctx, spec: s, options: o, start: st, sessions: map[string]*session{}}
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

// Session is the connection in the principal's name, nil for nobody's; it is made
// at the first call. Of a server that speaks over its standard input each
// principal has a program of its own. An error that comes of the principal's
// credentials is mcptool.ErrUnauthorized.
func (s *Server) Session(p *scenario.Principal) (*mcptool.Session, error) {
	name := ""
	if p != nil {
		name = p.Name
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, failure.Errorf(failure.World, "MCP server %q: is closed", s.spec.Name)
	}
	c := s.sessions[name]
	if c == nil {
		life, cancel := context.WithCancel(s.life)
		c = &session{cancel: cancel, ready: make(chan struct{})}
		s.sessions[name] = c
		go s.connect(life, c, name, p)
	}
	s.mu.Unlock()
	<-c.ready
	return c.open, c.err
}

// connect makes the session; one that could not be made is forgotten, so that the
// next who wants it tries again.
func (s *Server) connect(life context.Context, c *session, name string, p *scenario.Principal) {
	defer close(c.ready)
	if c.err = s.runs(); c.err == nil {
		c.open, c.err = mcptool.Connect(life, s.as(p), s.options.Getenv)
	}
	if c.err != nil {
		c.cancel()
		s.mu.Lock()
		delete(s.sessions, name)
		s.mu.Unlock()
	}
}

// runs tells of a program that has ended: whoever answers at its address now is
// somebody else.
func (s *Server) runs() error {
	if s.proc == nil || s.proc.How() == "" {
		return nil
	}
	return failure.Errorf(failure.World, "MCP server %q: the program has ended: %s%s", s.spec.Name, s.proc.How(), stderr(s.proc))
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

// end waits for no session that is still being made: it is given up.
func (s *Server) end(how func(*mcptool.Session)) {
	s.mu.Lock()
	s.closed = true
	sessions := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, c := range sessions {
		select {
		case <-c.ready:
		default:
			c.cancel()
			<-c.ready
		}
		if c.open != nil {
			how(c.open)
		}
		c.cancel()
	}
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

// Package gateway lets agents in any language take part: a server on loopback
// that speaks the providers' APIs, in front of the http.RoundTripper that a run
// gives its agent, and a runner of programs that are told its address.
//
//	program ▶ HTTP on loopback ▶ gateway ▶ Env.HTTP ▶ tap ▶ faults ▶ cassette
//
// The gateway lies outside of the tap, so that a program's run has the same
// transcript, contract, faults and report as that of an agent in Go. It changes
// nothing of what is asked but the address and the key: the answer of a recording
// comes with its status, its headers and its body, event by event as it arrives.
//
// # Addresses
//
// A path below /anthropic, /openai/v1 or /gemini is that API's, so that SDKs of
// several providers can be served at once; a path without is known by its end, as
// /v1/messages. Where a base URL of an SDK has the version in it and another's has
// not, both are understood. What is asked upstream is the address that a recording
// has.
//
// # What goes wrong
//
// An error that is retake's (a miss, a cap on what may be spent) is answered with
// status 400 in the provider's form, and a header that tells SDKs not to try again.
// What went wrong on the way is done to the client: a reset connection is reset, a
// cut body ends in the middle, a time-out is a connection that stays silent as long
// as a run waits for real, and then breaks. A connection cannot be refused once it
// is there: it is reset before a byte was answered, which SDKs take for the same.
//
// # Who may ask
//
// Whoever asks could spend money while something is recorded. The server listens
// on loopback only, wants Host to say so (a name that somebody else's DNS points
// here does not) and refuses what a web page sends. At another address it wants a
// token, in the place of the key. A program gets harness.PlaceholderKey and never a key
// that opens anything: the real one is put in on the way out, and what a program
// sends as a key is dropped.
package gateway

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// Options say what a Server serves. Next is required.
type Options struct {
	Next http.RoundTripper // answers; it is given the addresses upstream
	// BaseURL is an API's address upstream, as harness.Env.BaseURL has it; "", or
	// nil, is the provider's own.
	BaseURL func(wire.API) string
	// Tools are served at /mcp; nil: none.
	Tools *tool.Box
	// Listen is the address to listen at; "" is a free port of loopback. Any other
	// than loopback's needs a Token.
	Listen string
	// Token is what clients have to send as their key; "" lets any key in.
	Token string
	// Runaway is called when a client was stopped because it asked for just the same
	// without end; nil: nobody cares.
	Runaway func()
}

// Server is a gateway that serves. It may be used by many goroutines.
type Server struct {
	options Options
	bases   map[wire.API]string
	address string
	server  *http.Server
	tools   http.Handler // nil without tools
	stop    context.CancelFunc
	served  chan struct{} // closed when nothing is accepted any more
	asked   atomic.Int64
	buffers sync.Pool // of *chunk

	mu      sync.Mutex
	closed  bool           // nothing is answered any more
	working sync.WaitGroup // requests that are being answered
}

const (
	headerTime = time.Minute     // in which a client has to say what it wants
	idleTime   = 2 * time.Minute // after which a connection without a request is closed
	grace      = 2 * time.Second // for answers that are under way at the end
)

// Start begins to serve. The server lives until Close; requests have the clock of
// ctx, and end with it. An error is of class world, or of scenario_invalid where an
// address other than loopback's comes without a token.
func Start(ctx context.Context, o Options) (*Server, error) {
	if err := CheckListen(o.Listen, o.Token); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(o.Listen, "127.0.0.1:0"))
	if err != nil {
		return nil, failure.Errorf(failure.World, "the gateway: %w", err)
	}
	life, stop := context.WithCancel(ctx)
	s := &Server{options: o, bases: bases(o.BaseURL), address: l.Addr().String(), stop: stop, served: make(chan struct{})}
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		BaseContext: func(net.Listener) context.Context { return life },
		Protocols:   new(http.Protocols),
	}
	s.tools = toolServer(life, o.Tools)
	s.server.Protocols.SetHTTP1(true)
	s.server.Protocols.SetUnencryptedHTTP2(true)
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // always an error: that it was closed
	}()
	return s, nil
}

// URL is the server's address, without a path.
func (s *Server) URL() string { return "http://" + s.address }

// Asked is how many requests of models came so far.
func (s *Server) Asked() int { return int(s.asked.Load()) }

// Close ends the server. Answers that are under way have a moment to come to their
// end; when it returns, none is.
func (s *Server) Close() {
	limited, cancel := clock.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = s.server.Shutdown(limited) // what is left is ended next
	s.stop()
	_ = s.server.Close()
	<-s.served
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.working.Wait()
}

// begin counts a request that is being answered; false when none is any more.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.working.Add(1)
	return true
}

func bases(of func(wire.API) string) map[wire.API]string {
	out := map[wire.API]string{}
	for _, api := range []wire.API{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate} {
		base := ""
		if of != nil {
			base = of(api)
		}
		out[api] = harness.BaseURL(harness.Params{API: api, BaseURL: base})
	}
	return out
}

// CheckListen refuses what is no address to listen at, and one that others reach
// without a token.
func CheckListen(address, token string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return failure.Errorf(failure.ScenarioInvalid, "the address to listen at is %q; write HOST:PORT, as in 127.0.0.1:4010", address)
	case token == "" && !isLoopback(host):
		return failure.Errorf(failure.ScenarioInvalid, "whoever reaches %s could spend money and read recordings; set a token (--token) that clients send as their API key, or listen on 127.0.0.1", address)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Package standin is a stand-in for the providers' live APIs, for tests: it
// serves the four APIs over real HTTP on loopback, in the bytes of their codecs,
// and says what a script has it say. Real SDKs, the recorder and agents in other
// languages are tested against it.
//
// It keeps no conversation. Which turn answers is decided by what the request
// holds: the text with which its conversation begins, and how many answers the
// model has given in it. So any number of clients may be served at once. Only
// failures are counted, for each client by itself: those of one turn come before
// it is said.
package standin

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
)

// DefaultKey is the key that a Script without one asks for.
const DefaultKey = "standin-key-4d1f"

// Script is what the stand-in says, and how.
type Script struct {
	// Key is what a request has to bring in its provider's header; "" is DefaultKey.
	Key string
	// Header are further headers of every answer.
	Header http.Header
	// Gap is the time between two events of a stream.
	Gap time.Duration
	// Conversations are tried in their order.
	Conversations []Conversation

	// Before is asked before each event of a stream, and before an answer that is
	// none; event counts from 0. It may wait, until ctx ends. nil waits for nothing.
	Before func(ctx context.Context, a Asked, event int)
	// Hung is told of each answer that hangs. nil: nobody is.
	Hung func()
}

// Conversation is a conversation that the stand-in knows.
type Conversation struct {
	User  string // what the first text of the user has to hold; "" allows any
	Turns []Turn // the answers, in order
}

// Turn is one answer.
type Turn struct {
	script.Turn
	// Models are other answers for models that say it in another way, by name. They
	// have the turn's failures and its break.
	Models map[string]script.Turn
	// Failures come before the turn is said, each once for a client.
	Failures []Failure
	// Break is how the answer ends where it does not end well.
	Break Break
}

// Failure is an attempt that gets no answer.
type Failure struct {
	Status     int            // with Error: a refusal
	Error      *wire.APIError // nil is what the provider says with the status
	RetryAfter time.Duration  // whole seconds
	Body       string         // instead of an error in the provider's form: a gateway's page
	Break      Break          // without a status: how the turn's answer is broken off, this once
}

// How names the end of an answer that does not end well.
type How string

// The ends.
const (
	EndsWell  How = ""
	EndsCut   How = "cut"   // the connection is closed
	EndsReset How = "reset" // the connection is reset
	EndsHang  How = "hang"  // nothing more comes, until the client goes
	EndsError How = "error" // an error inside the stream
)

// Break is where and how an answer ends.
type Break struct {
	How   How
	After int // events that come before it; of an answer that is no stream, bytes of its body
}

// Asked is a request that was made.
type Asked struct {
	Client       string // see Server.For
	API          wire.API
	Model        string
	Stream       bool
	Header       http.Header
	URL          string // path and query
	Body         []byte
	Conversation int // number of the conversation, from 1; 0 when it was refused before one was found
	Turn         int // number of the answer in it, from 1
	Status       int // of the answer; 0 when there was none
}

// Server is a stand-in that serves. It may be used by many goroutines.
type Server struct {
	// URL is its address, without a path. OpenAI's clients want /v1 behind it, as
	// with the provider; see harness.Env.BaseURL.
	URL string

	script Script
	server *http.Server
	done   chan struct{}

	mu     sync.Mutex
	asked  []Asked
	failed map[place]int // failures so far
}

// place is a turn, for one client.
type place struct {
	client             string
	conversation, turn int
}

// Start begins to serve on a port of loopback that was free.
func Start(s Script) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, failure.Errorf(failure.World, "the stand-in for live APIs: %w", err)
	}
	if s.Key == "" {
		s.Key = DefaultKey
	}
	out := &Server{URL: "http://" + l.Addr().String(), script: s, failed: map[place]int{}, done: make(chan struct{})}
	out.server = &http.Server{Handler: http.HandlerFunc(out.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(out.done)
		_ = out.server.Serve(l) // always an error: that it was closed
	}()
	return out, nil
}

// Close ends the server and what it still says.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.done
}

// For is the address for one client, whose failures are counted apart from those of
// others.
func (s *Server) For(client string) string { return s.URL + clientPath + client }

// Key is the key that requests have to bring.
func (s *Server) Key() string { return s.script.Key }

// Asked are the requests so far, in the order in which they came.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

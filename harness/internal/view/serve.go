package view

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/failure"
)

// Server hands out a page on this machine, and draws it again when something was
// written where its reports are.
type Server struct {
	// Draw reads the reports. It is called when the page is asked for and something
	// has changed since.
	Draw func(context.Context) (*Page, error)
	// Folders are watched, with those below them.
	Folders []string
	// Patience is for how long nothing must be written before the page is drawn
	// again; 0 is a fifth of a second.
	Patience time.Duration

	mu      sync.Mutex
	version int           // how often something was written
	changed chan struct{} // closed when it is
	page    *Page
	drawn   int // the version that page is of
}

// Listen opens a port for Serve. Only this machine can come in: another address is
// refused, with an error of class scenario_invalid.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "--listen %s: give an address and a port, such as 127.0.0.1:8080; port 0 is any free one", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, failure.Errorf(failure.ScenarioInvalid, "--listen %s: reports are shown on this machine alone; give a loopback address, such as 127.0.0.1:8080", address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, failure.Errorf(failure.World, "--listen %s: %w", address, err)
	}
	return l, nil
}

// Serve answers until ctx ends, which is no error.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.changed = make(chan struct{})
	w, err := watch(ctx, s.Folders, s.Patience, s.touch)
	if err != nil {
		_ = l.Close()
		return err
	}
	defer w.close()
	server := &http.Server{Handler: s.guarded(l.Addr()), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return failure.Errorf(failure.World, "serving %s: %w", l.Addr(), err)
	}
	return nil
}

// touch says that something was written.
func (s *Server) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

// now is the version, and what is closed when it is no more.
func (s *Server) now() (int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.changed
}

// guarded refuses a request that a page from elsewhere could make: by a name that
// leads here, or with another method.
func (s *Server) guarded(addr net.Addr) http.Handler {
	_, port, _ := net.SplitHostPort(addr.String())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.root)
	mux.HandleFunc("GET /events", s.events)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		switch r.Host {
		case "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port, addr.String():
			mux.ServeHTTP(w, r)
		default:
			http.Error(w, "ask for this page by the address that retake view printed", http.StatusForbidden)
		}
	})
}

func (s *Server) root(w http.ResponseWriter, r *http.Request) {
	page, version, err := s.draw(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteServed(w, version) // who went away needs no answer
}

func (s *Server) draw(ctx context.Context) (*Page, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page == nil || s.drawn != s.version {
		page, err := s.Draw(ctx)
		if err != nil {
			return nil, 0, err
		}
		s.page, s.drawn = page, s.version
	}
	return s.page, s.drawn, nil
}

// events tells a page when there is a newer one than it is.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	seen, err := strconv.Atoi(r.URL.Query().Get("seen"))
	if err != nil {
		http.Error(w, "seen is no number", http.StatusBadRequest)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_, _ = fmt.Fprint(w, ": waiting\n\n")
	for {
		if out.Flush() != nil {
			return
		}
		version, changed := s.now()
		if version != seen {
			_, _ = fmt.Fprintf(w, "event: changed\ndata: %d\n\n", version)
			seen = version
			continue
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

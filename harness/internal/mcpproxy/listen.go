package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	sessionHeader = "Mcp-Session-Id"
	mostSessions  = 64
)

// Handler serves clients over streamable HTTP, each in a session that it opens with
// initialize. A token is asked of every request, as a bearer; "" asks for none, and
// then only requests to a loopback address are served, so that no page in a browser
// can reach the tools by a name of its own. Sessions end with ctx.
func (p *Proxy) Handler(ctx context.Context, token string) *Handler {
	return &Handler{proxy: p, ctx: ctx, token: token, open: map[string]*httpSession{}}
}

// Handler is an http.Handler; see Proxy.Handler.
type Handler struct {
	proxy *Proxy
	ctx   context.Context //nolint:containedctx // sessions outlive the request that opens them
	token string

	running sync.WaitGroup
	mu      sync.Mutex
	open    map[string]*httpSession
}

type httpSession struct {
	transport *mcp.StreamableServerTransport
	conn      mcp.Connection
}

// Wait waits until no client is served any more.
func (h *Handler) Wait() { h.running.Wait() }

func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if status, why := h.refuse(req); why != "" {
		http.Error(w, why, status)
		return
	}
	req.Body = http.MaxBytesReader(w, req.Body, mostMessage)
	id := req.Header.Get(sessionHeader)
	h.mu.Lock()
	s := h.open[id]
	h.mu.Unlock()
	switch {
	case s != nil && req.Method == http.MethodDelete:
		_ = s.conn.Close() // it cannot fail
		w.WriteHeader(http.StatusNoContent)
	case s != nil:
		s.transport.ServeHTTP(w, req)
	case id != "":
		http.Error(w, "there is no such session", http.StatusNotFound)
	case req.Method != http.MethodPost:
		http.Error(w, "a session is opened with initialize, by POST", http.StatusMethodNotAllowed)
	default:
		h.begin(w, req)
	}
}

// refuse says why a request is not served.
func (h *Handler) refuse(req *http.Request) (status int, why string) {
	if h.token != "" {
		given := req.Header.Get("Authorization")
		if subtle.ConstantTimeCompare([]byte(given), []byte("Bearer "+h.token)) != 1 {
			return http.StatusUnauthorized, "a token is asked for"
		}
		return 0, ""
	}
	host := req.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !IsLoopback(host) {
		return http.StatusForbidden, "only a loopback address is served"
	}
	if origin := req.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !IsLoopback(u.Hostname()) {
			return http.StatusForbidden, "a page of another origin is not served"
		}
	}
	return 0, ""
}

// IsLoopback tells whether a host, a name or an address, is this one alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || host == "[::1]" || ip != nil && ip.IsLoopback()
}

// begin opens a session for a client that says initialize.
func (h *Handler) begin(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, "the message cannot be read, or is too long", http.StatusBadRequest)
		return
	}
	m, err := decode(append(bytes.TrimSpace(body), ' '))
	if r, ok := m.(*jsonrpc.Request); err != nil || !ok || r.Method != methodInitialize {
		http.Error(w, "a session is opened with initialize", http.StatusBadRequest)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	s, err := h.session()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	s.transport.ServeHTTP(w, req)
}

var errFull = errors.New("there are too many sessions; end some with DELETE")

func (h *Handler) session() (*httpSession, error) {
	s := &httpSession{transport: &mcp.StreamableServerTransport{SessionID: rand.Text()}}
	var err error
	if s.conn, err = s.transport.Connect(h.ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= mostSessions {
		return nil, errFull
	}
	h.open[s.transport.SessionID] = s
	h.running.Go(func() {
		if err := h.proxy.Serve(h.ctx, s.conn); err != nil {
			h.proxy.opts.Warn(err.Error())
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.open, s.transport.SessionID)
	})
	return s, nil
}

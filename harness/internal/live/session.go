package live

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Cap is what a session may spend. Zero is no cap.
type Cap struct {
	Tokens int64
	Cost   float64 // US dollars; counts where the prices are known
}

// Session counts what all its transports spend together. It may be used by many
// goroutines.
type Session struct {
	cap   Cap
	next  http.RoundTripper
	idle  func()               // closes what is open for the next request
	since func() time.Duration // real time since the session began

	// Watch is told of each answer that was counted, one at a time. nil: nobody is.
	// It is set before the first request.
	Watch func(Spent)

	mu    sync.Mutex
	spent Spent
	holds map[string]time.Duration // by host: until when nothing is sent there, since the session began
}

// Spent is what came of a session so far.
type Spent struct {
	Requests int   // that were sent
	Tokens   int64 // of all kinds
	Cost     float64
	// Unpriced are the models of which the price is not known, so that what they
	// cost is missing in Cost; in the order of their first answers.
	Unpriced []string
	// Estimated is how many answers did not say what they used; that was estimated
	// by their length.
	Estimated int
}

// NewSession begins a session. next is asked instead of the network, for tests;
// nil is the network, by the proxies that the environment names.
func NewSession(c Cap, next http.RoundTripper) *Session {
	s := &Session{cap: c, next: next, idle: func() {}, since: clock.Stopwatch()}
	if next == nil {
		t := network()
		s.next, s.idle = t, t.CloseIdleConnections
	}
	return s
}

// network is what http.DefaultTransport is, and nobody else's.
func network() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		MaxIdleConns: 100, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}
}

// Close ends idle connections.
func (s *Session) Close() { s.idle() }

// Spent is what the session has spent so far.
func (s *Session) Spent() Spent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent.copy()
}

func (s *Spent) copy() Spent {
	out := *s
	out.Unpriced = slices.Clone(out.Unpriced)
	return out
}

// Add adds what others have spent.
func (s *Spent) Add(o Spent) {
	s.Requests, s.Tokens, s.Cost, s.Estimated = s.Requests+o.Requests, s.Tokens+o.Tokens, s.Cost+o.Cost, s.Estimated+o.Estimated
	for _, m := range o.Unpriced {
		if !slices.Contains(s.Unpriced, m) {
			s.Unpriced = append(s.Unpriced, m)
		}
	}
}

// add counts what one answer has used.
func (s *Spent) add(t *Target, u wire.Usage, estimated bool) {
	s.Tokens += u.Total()
	if estimated {
		s.Estimated++
	}
	if cost := t.Price.Cost(u); cost != nil {
		s.Cost += *cost
	} else if u.Total() > 0 && !slices.Contains(s.Unpriced, t.Model) {
		s.Unpriced = append(s.Unpriced, t.Model)
	}
}

// Reached says which cap is reached; "" while none is.
func (s *Session) Reached() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reached()
}

func (s *Session) reached() string {
	switch {
	case s.cap.Tokens > 0 && s.spent.Tokens >= s.cap.Tokens:
		return fmt.Sprintf("%s tokens are used, of at most %s", Thousands(s.spent.Tokens), Thousands(s.cap.Tokens))
	case s.cap.Cost > 0 && s.spent.Cost >= s.cap.Cost:
		return fmt.Sprintf("%s are spent, of at most %s", dollars(s.spent.Cost), dollars(s.cap.Cost))
	}
	return ""
}

// admit lets one more request out. What requests that are under way will cost
// nobody knows: with several at once the cap is passed by as much.
func (s *Session) admit(t *Transport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.reached(); why != "" {
		return failure.Errorf(failure.Budget, "%w: %s; nothing more is asked", ErrCap, why)
	}
	s.spent.Requests++
	t.own.Requests++
	return nil
}

// book adds what one answer has used.
func (s *Session) book(t *Transport, u wire.Usage, estimated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.add(&t.target, u, estimated)
	t.own.add(&t.target, u, estimated)
	if s.Watch != nil {
		s.Watch(s.spent.copy())
	}
}

// counter collects one answer.
type counter struct {
	transport *Transport
	api       wire.API
	asked     int // bytes of the request
	status    int
	kind      string
	encoding  string

	mu   sync.Mutex
	seen []byte
	done bool
}

// mostSeen bounds what is kept of an answer; what is longer is estimated.
const mostSeen = 64 << 20

func (t *Transport) counter(req *http.Request, text []byte, resp *http.Response) *counter {
	c := &counter{
		transport: t, asked: len(text), status: resp.StatusCode,
		kind: resp.Header.Get("Content-Type"), encoding: resp.Header.Get("Content-Encoding"),
	}
	c.api, _ = codec.Detect(req.Method, req.URL.String(), text) // "" asks for no model turn
	return c
}

func (c *counter) add(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen)+len(p) <= mostSeen {
		c.seen = append(c.seen, p...)
	}
}

// over books what came of the answer, once.
func (c *counter) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	c.done = true
	u, estimated := c.usage()
	c.transport.session.book(c.transport, u, estimated)
}

// bytesPerToken is a low guess, so that an estimate is rather too high.
const bytesPerToken = 3

// usage is what the answer says that it used. An answer that ought to say it and
// does not is estimated by its length.
func (c *counter) usage() (u wire.Usage, estimated bool) {
	if c.api == "" || c.status >= http.StatusBadRequest {
		return wire.Usage{}, false
	}
	k, _ := codec.For(c.api)
	text, err := wire.Plain(c.encoding, c.seen)
	if err == nil {
		var r *wire.Response
		if r, err = k.DecodeResponse(c.status, c.kind, text); err == nil && r.Usage.Total() > 0 && r.Complete {
			return r.Usage, false
		}
		if err == nil && r.Err != nil && len(r.Message.Blocks) == 0 {
			return r.Usage, false // refused inside a stream
		}
	}
	input, output := int64(c.asked/bytesPerToken), int64(len(c.seen)/bytesPerToken)
	return wire.Usage{Input: &input, Output: &output}, true
}

// Thousands spells a number with commas.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

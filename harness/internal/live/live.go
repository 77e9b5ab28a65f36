// Package live is the way to the providers' real APIs: an http.RoundTripper that
// puts the key in on the way out, counts what the answers cost as they pass, and
// stops where a session may spend no more.
//
// It stands below a recorder, so that a key is in no request that is written
// down. An agent never has the key: it asks without one, or with
// harness.PlaceholderKey.
package live

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/wire"
)

// ErrCap is in the chain of the error for a request that was not sent because the
// session has spent what it may.
var ErrCap = errors.New("the session's cap is reached")

// Target is a model that is asked live.
type Target struct {
	API     wire.API
	Model   string         // as the configuration names it, for what is told
	BaseURL string         // its address; requests to others are refused
	Key     Key            // what the requests bring
	Price   *harness.Price // nil: not known
}

// Transport asks the target on the session's account. An error is of class
// scenario_invalid.
func (s *Session) Transport(t Target) (*Transport, error) {
	base, err := url.Parse(t.BaseURL)
	if err != nil || base.Host == "" {
		return nil, failure.Errorf(failure.ScenarioInvalid, "model %s: base URL %q is no address", t.Model, t.BaseURL)
	}
	return &Transport{session: s, target: t, base: base}, nil
}

// Transport is a http.RoundTripper that asks one target. It may be used by many
// goroutines.
type Transport struct {
	session *Session
	target  Target
	base    *url.URL
	own     Spent // guarded by the session
}

// Spent is what this transport has spent of the session's.
func (t *Transport) Spent() Spent {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return t.own.copy()
}

// RoundTrip asks the real API. An answer is counted when its body was read to its
// end or closed. A request for another address than the target's is refused (class
// world), as it comes of a redirect; one beyond the session's cap is refused with
// ErrCap (class budget).
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := body.Read(req)
	if err != nil {
		return nil, err
	}
	if err := t.addressed(req.URL); err != nil {
		return nil, err
	}
	if err := t.session.wait(req.Context(), t.base.Host); err != nil {
		return nil, err
	}
	if err := t.session.admit(t); err != nil {
		return nil, err
	}
	out := t.outgoing(req)
	if req.Body != nil {
		out.Body = body.Of(text)
		out.ContentLength = int64(len(text))
	}
	resp, err := t.session.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	t.session.hold(t.base.Host, resp)
	resp.Body = &counted{ReadCloser: resp.Body, count: t.counter(req, text, resp)}
	return resp, nil
}

func (t *Transport) addressed(u *url.URL) error {
	if u.Scheme == t.base.Scheme && u.Host == t.base.Host {
		return nil
	}
	return failure.Errorf(failure.World, "model %s: a request for %s is not sent: the model's address is %s; is there a redirect? then name where it leads as base_url",
		t.target.Model, u.Scheme+"://"+u.Host, t.base.Scheme+"://"+t.base.Host)
}

// private are headers that are between the agent and this process.
var private = []string{
	"Cookie", "Proxy-Authorization", "Proxy-Connection", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via",
}

// outgoing is the request as it leaves: with the key, without what is private.
func (t *Transport) outgoing(req *http.Request) *http.Request {
	out := req.Clone(req.Context())
	out.Host = "" // the address's
	out.RequestURI = ""
	for _, name := range private {
		out.Header.Del(name)
	}
	for name := range out.Header {
		if strings.HasPrefix(name, "X-Retake-") {
			delete(out.Header, name)
		}
	}
	if !t.dropPlaceholder(out) {
		t.target.Key.put(t.target.API, out.Header)
	}
	return out
}

// credentials are the headers by which providers take keys.
var credentials = []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Authorization"}

// dropPlaceholder takes out what stands for a key, and tells whether the request
// has one of its own.
func (t *Transport) dropPlaceholder(req *http.Request) (own bool) {
	for _, name := range credentials {
		value := req.Header.Get(name)
		switch _, word, _ := strings.Cut(value, " "); {
		case value == "":
		case value == harness.PlaceholderKey || word == harness.PlaceholderKey:
			req.Header.Del(name)
		default:
			own = true
		}
	}
	pairs := strings.Split(req.URL.RawQuery, "&")
	rest := slices.DeleteFunc(slices.Clone(pairs), func(pair string) bool { return pair == "key="+harness.PlaceholderKey })
	if len(rest) < len(pairs) {
		req.URL.RawQuery = strings.Join(rest, "&")
	}
	return own || req.URL.Query().Get("key") != ""
}

// counted is an answer's body that tells its bytes when it is over.
type counted struct {
	io.ReadCloser
	count *counter
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.count.add(p[:n])
	if err != nil {
		c.count.over()
	}
	return n, err
}

func (c *counted) Close() error {
	defer c.count.over()
	return c.ReadCloser.Close()
}

// dollars spells an amount of money.
func dollars(x float64) string { return fmt.Sprintf("$%.2f", x) }

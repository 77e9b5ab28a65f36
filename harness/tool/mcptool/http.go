package mcptool

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/retake-harness/retake/harness/tool"
)

// headersSince is the version of the protocol from which on a schema may ask for
// an argument to be said in a header, too.
const headersSince = "2026-07-28"

// meet lists the tools of a server over HTTP that were not listed yet: without
// their schemas a call lacks the headers that they ask for, and is refused. What
// goes wrong with the list, the call will find, too.
func (s *Session) meet(ctx context.Context) {
	if s.server.URL == "" || s.met.Load() {
		return
	}
	if r := s.session.InitializeResult(); r == nil || r.ProtocolVersion < headersSince {
		return
	}
	s.meeting.Lock()
	defer s.meeting.Unlock()
	if !s.met.Load() {
		_, _ = s.Listed(ctx)
		s.met.Store(true)
	}
}

// note is what is found out about the requests of one call.
type note struct {
	status int  // of the last answer that was no success
	unsent bool // no connection was made
}

type noteKey struct{}

// roundTripper sends the headers of the server's description, ends with the
// session, and hears what is said.
type roundTripper struct {
	base    http.RoundTripper
	life    context.Context //nolint:containedctx // the session's, beside each request's own
	headers []tool.Setting
	session *Session
}

func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(r.life, cancel)
	end := func() { stop(); cancel() }
	out := req.Clone(ctx)
	for _, h := range r.headers {
		out.Header.Set(h.Name, h.Value)
	}
	res, err := r.base.RoundTrip(out)
	n, noted := req.Context().Value(noteKey{}).(*note)
	if err != nil {
		end()
		if noted {
			n.unsent = isDial(err)
		}
		return nil, err
	}
	if noted && res.StatusCode/100 != 2 {
		n.status = res.StatusCode
	}
	res.Body = r.body(res, end)
	return res, nil
}

func (r *roundTripper) body(res *http.Response, end func()) io.ReadCloser {
	b := &body{ReadCloser: res.Body, end: end}
	if r.session.listing.Load() {
		b.heard, b.most = &r.session.heard, r.session.server.MaxMessage
		b.events = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	}
	return b
}

// body is an answer that ends its request's context, and is listened to.
type body struct {
	io.ReadCloser
	end    func()
	heard  *heard // nil: nobody listens
	events bool   // a stream of events; else one message
	most   int
	buf    []byte
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.heard == nil {
		return n, err
	}
	if b.buf = append(b.buf, p[:n]...); len(b.buf) > b.most {
		b.heard, b.buf = nil, nil
		return n, err
	}
	for b.events {
		line, rest, whole := bytes.Cut(b.buf, []byte("\n"))
		if !whole {
			break
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			b.heard.message(data)
		}
		b.buf = rest
	}
	if err == io.EOF && !b.events {
		b.heard.message(b.buf)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/wire"
)

// maxBody is how many bytes a request may have, as it comes and unfolded.
const maxBody = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		panic(http.ErrAbortHandler)
	}
	defer s.working.Done()
	t, known := s.route(r)
	if status, why := s.admit(r); status != 0 {
		refuse(w, t.api, status, why)
		return
	}
	switch {
	case s.tools != nil && (r.URL.Path == toolsPath || strings.HasPrefix(r.URL.Path, toolsPath+"/")):
		s.tools.ServeHTTP(w, r)
	case !known:
		refuse(w, t.api, http.StatusNotFound, fmt.Sprintf("the gateway serves no %s; APIs are below %s, %s and %s", r.URL.Path, anthropicPath, openAIPath, geminiPath))
	default:
		s.forward(w, r, t)
	}
}

// forward asks upstream and hands the answer back.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, t target) {
	text, status, err := readBody(r)
	if err != nil {
		refuse(w, t.api, status, err.Error())
		return
	}
	s.asked.Add(1)
	ctx, end := lingering(r.Context())
	defer end()
	resp, err := s.ask(upstream(r, t, text).WithContext(ctx))
	if err != nil {
		s.fail(w, r, t.api, err)
		return
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	s.answer(ctx, w, r, resp)
}

// linger is how long an answer goes on that nobody reads any more. Many a client
// goes when it has read the last event, and what ends the answer is only then
// read.
const linger = 100 * time.Millisecond

// lingering is a client's context that ends a moment after the client has gone.
func lingering(client context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(client))
	stop := context.AfterFunc(client, func() {
		defer cancel()
		limited, done := clock.WithTimeout(context.Background(), linger)
		defer done()
		select {
		case <-limited.Done():
		case <-ctx.Done():
		}
	})
	return ctx, func() { stop(); cancel() }
}

// ask is one attempt. A client that asks for the same without end has its
// goroutine ended by the tap; then it is told to nobody but Runaway.
func (s *Server) ask(req *http.Request) (resp *http.Response, err error) {
	returned := false
	defer func() {
		if !returned && s.options.Runaway != nil {
			s.options.Runaway()
		}
	}()
	resp, err = s.options.Next.RoundTrip(req)
	returned = true
	return resp, err
}

// readBody reads a request's body in plain. With an error comes the status that
// tells it.
func readBody(r *http.Request) (text []byte, status int, err error) {
	from := r.Body
	if r.ContentLength <= maxBody {
		r.Body = io.NopCloser(io.LimitReader(from, maxBody+1))
		text, err = body.Read(r)
	}
	if r.ContentLength > maxBody || len(text) > maxBody {
		// What is still coming is taken, within bounds: a client that is writing does not
		// read why.
		_, _ = io.CopyN(io.Discard, from, maxBody)
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d MB", maxBody>>20)
	}
	if err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("the request's body: %w", err)
	}
	if text, err = wire.Plain(r.Header.Get("Content-Encoding"), text); err != nil {
		return nil, http.StatusUnsupportedMediaType, err
	}
	return text, 0, nil
}

// upstream is the request as the provider would get it, but for the key.
func upstream(r *http.Request, t target, text []byte) *http.Request {
	h := passed(r.Header)
	// Whoever asks upstream says itself what it can read, so that what is recorded is
	// plain.
	for _, name := range []string{"Accept-Encoding", "Content-Encoding", "Origin", "Cookie"} {
		h.Del(name)
	}
	withPlaceholder(h, t.api)
	req := &http.Request{
		Method: r.Method, URL: t.url, Host: t.url.Host, Header: h, ContentLength: int64(len(text)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(text) > 0 {
		req.Body = body.Of(text)
		req.GetBody = func() (io.ReadCloser, error) { return body.Of(text), nil }
	}
	return req
}

// withPlaceholder puts the placeholder where the client had its key.
func withPlaceholder(h http.Header, api wire.API) {
	had := false
	for _, name := range keyHeaders {
		if len(h.Values(name)) == 0 {
			continue
		}
		had = true
		if name == "Authorization" {
			h.Set(name, "Bearer "+harness.PlaceholderKey)
			continue
		}
		h.Set(name, harness.PlaceholderKey)
	}
	if had {
		return
	}
	switch api {
	case wire.AnthropicMessages:
		h.Set("X-Api-Key", harness.PlaceholderKey)
	case wire.GeminiGenerate:
		h.Set("X-Goog-Api-Key", harness.PlaceholderKey)
	default:
		h.Set("Authorization", "Bearer "+harness.PlaceholderKey)
	}
}

// hopByHop are headers of one connection (RFC 9110, 7.6.1).
var hopByHop = [...]string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length"}

// passed are the headers that go from one connection to the other.
func passed(h http.Header) http.Header {
	out := h.Clone()
	for _, v := range h.Values("Connection") {
		for name := range strings.SplitSeq(v, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		out.Del(name)
	}
	return out
}

// chunk is a buffer for answers that are passed on.
type chunk [32 << 10]byte

// answer hands an answer on as it comes. One that breaks off breaks off for the
// client, too.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, resp *http.Response) {
	into := w.Header()
	maps.Copy(into, passed(resp.Header))
	stream := resp.ContentLength < 0 || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	if !stream {
		into.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	}
	w.WriteHeader(resp.StatusCode)
	buf := s.buffer()
	defer s.buffers.Put(buf)
	to := http.NewResponseController(w)
	if resp.ContentLength < 0 {
		_ = to.Flush() // that it begins is news, too
	}
	for gone := false; !gone || ctx.Err() == nil; {
		n, err := resp.Body.Read(buf[:])
		if n > 0 && !gone {
			_, failed := w.Write(buf[:n])
			gone = failed != nil
			if stream {
				_ = to.Flush() // what cannot be flushed is gone, which the next write tells
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return
		default:
			_ = to.Flush()
			s.breakOff(w, r, err)
		}
	}
}

func (s *Server) buffer() *chunk {
	if buf, ok := s.buffers.Get().(*chunk); ok {
		return buf
	}
	return new(chunk)
}

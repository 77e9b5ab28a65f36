package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/gateway"
)

// roundTrip is a func as what answers.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// start serves what f answers.
func start(t *testing.T, o gateway.Options, f roundTrip) *gateway.Server {
	t.Helper()
	o.Next = f
	s, err := gateway.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// client is one that keeps no connection.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
}

func respond(req *http.Request, status int, header http.Header, body io.Reader, length int64) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), ContentLength: length, Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

// echo answers with the address and the body that it was asked with.
func echo(req *http.Request) (*http.Response, error) {
	var text []byte
	if req.Body != nil {
		text, _ = io.ReadAll(req.Body)
	}
	out := req.Method + " " + req.URL.String() + "\n" + string(text)
	return respond(req, 200, nil, strings.NewReader(out), int64(len(out))), nil
}

func post(t *testing.T, url string, header http.Header, body io.Reader) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
		if name == "Host" {
			req.Host = values[0]
		}
	}
	resp, err := client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func TestAddresses(t *testing.T) {
	s := start(t, gateway.Options{}, echo)
	for _, tc := range []struct {
		why, method, path string
		header            http.Header
		want              string // "" is not found
	}{
		{why: "Anthropic's SDKs", path: "/anthropic/v1/messages", want: "https://api.anthropic.com/v1/messages"},
		{why: "a base URL that has the version", path: "/anthropic/messages?beta=true", want: "https://api.anthropic.com/v1/messages?beta=true"},
		{why: "OpenAI's SDKs", path: "/openai/v1/chat/completions", want: "https://api.openai.com/v1/chat/completions"},
		{why: "its other API", path: "/openai/v1/responses", want: "https://api.openai.com/v1/responses"},
		{why: "what is no model call goes there, too", path: "/openai/v1/embeddings", want: "https://api.openai.com/v1/embeddings"},
		{why: "Google's SDKs, without their key", path: "/gemini/v1beta/models/g:generateContent?key=K&alt=sse", want: "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent?alt=sse"},
		{why: "a base URL that has the version", path: "/gemini/models/g:streamGenerateContent", want: "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent"},
		{why: "without a prefix the end of the path tells", path: "/v1/messages", want: "https://api.anthropic.com/v1/messages"},
		{why: "and so it does here", path: "/v1/chat/completions", want: "https://api.openai.com/v1/chat/completions"},
		{why: "and here", path: "/responses", want: "https://api.openai.com/v1/responses"},
		{why: "and here", path: "/v1beta/models/g:generateContent", want: "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent"},
		{why: "where all have one, the key tells", method: "GET", path: "/v1/models", header: http.Header{"X-Api-Key": {"K"}}, want: "https://api.anthropic.com/v1/models"},
		{why: "or the other key", method: "GET", path: "/v1/models", header: http.Header{"Authorization": {"Bearer K"}}, want: "https://api.openai.com/v1/models"},
		{why: "what is escaped stays so", path: "/gemini/v1beta/models/a%2Fb:generateContent", want: "https://generativelanguage.googleapis.com/v1beta/models/a%2Fb:generateContent"},
		{why: "no API", path: "/favicon.ico"},
		{why: "nothing tells whose", method: "GET", path: "/v1/models"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tc.method, s.URL()+tc.path, strings.NewReader("{}"))
		if tc.method == "" {
			req.Method = http.MethodPost
		}
		if err != nil {
			t.Fatal(err)
		}
		if tc.header != nil {
			req.Header = tc.header
		}
		resp, err := client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		got, _, _ := strings.Cut(string(text), "\n")
		want := req.Method + " " + tc.want
		if tc.want == "" {
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %s: %d %s", tc.why, tc.path, resp.StatusCode, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %s asks %q, want %q", tc.why, tc.path, got, want)
		}
	}
}

// What goes up and down is what the other side sent, but for what belongs to one
// connection, and the key.
func TestHeaders(t *testing.T) {
	var asked http.Header
	s := start(t, gateway.Options{}, func(req *http.Request) (*http.Response, error) {
		asked = req.Header
		h := http.Header{"Request-Id": {"r"}, "Retry-After": {"1"}, "Connection": {"close, X-Hop"}, "X-Hop": {"1"}, "Content-Type": {"application/json"}, "Set-Cookie": {"a", "b"}}
		return respond(req, 529, h, strings.NewReader(`{"type":"error"}`), 16), nil
	})
	resp, text := post(t, s.URL()+"/v1/messages", http.Header{
		"X-Api-Key": {"sk-real"}, "Anthropic-Version": {"2023-06-01"}, "Te": {"trailers"}, "Cookie": {"c=1"}, "Accept-Encoding": {"gzip"},
	}, strings.NewReader("{}"))
	if resp.StatusCode != 529 || text != `{"type":"error"}` {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	delete(asked, "User-Agent")
	if diff := cmp.Diff(http.Header{"X-Api-Key": {harness.PlaceholderKey}, "Anthropic-Version": {"2023-06-01"}}, asked); diff != "" {
		t.Errorf("upstream (-want +got):\n%s", diff)
	}
	delete(resp.Header, "Date")
	want := http.Header{"Request-Id": {"r"}, "Retry-After": {"1"}, "Content-Type": {"application/json"}, "Set-Cookie": {"a", "b"}, "Content-Length": {"16"}, "Connection": {"close"}}
	delete(want, "Connection")
	delete(resp.Header, "Connection") // of this connection, which the client asked to close
	if diff := cmp.Diff(want, resp.Header); diff != "" {
		t.Errorf("downstream (-want +got):\n%s", diff)
	}
}

func packed(t *testing.T, how, text string) io.Reader {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch how {
	case "gzip":
		w, _ = gzip.NewWriterLevel(&b, gzip.BestSpeed)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	default:
		return strings.NewReader(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestBodies(t *testing.T) {
	s := start(t, gateway.Options{}, func(req *http.Request) (*http.Response, error) {
		text, _ := io.ReadAll(req.Body)
		out := fmt.Sprint(len(text), " ", req.Header.Get("Content-Encoding"))
		return respond(req, 200, nil, strings.NewReader(out), int64(len(out))), nil
	})
	const most = 64 << 20
	for _, tc := range []struct {
		why, coding string
		size        int
		status      int
		want        string
	}{
		{why: "plain", size: 10, status: 200, want: "10 "},
		{why: "gzip is undone", coding: "gzip", size: 10000, status: 200, want: "10000 "},
		{why: "deflate is undone", coding: "deflate", size: 10000, status: 200, want: "10000 "},
		{why: "brotli is undone", coding: "br", size: 10000, status: 200, want: "10000 "},
		{why: "64 MB pass", size: most, status: 200, want: "67108864 "},
		{why: "more do not", size: most + 1, status: 413, want: `{"type":"error","error":{"type":"request_too_large","message":"the request is larger than 64 MB"}}`},
		{why: "nor what unfolds to more", coding: "gzip", size: most + 1, status: 415, want: `{"type":"error","error":{"type":"invalid_request_error","message":"the body unfolds to more than 64 MB"}}`},
		{why: "a coding that is not read", coding: "zstd", size: 10, status: 415, want: "zstd"},
	} {
		if testing.Short() && tc.size >= most {
			continue // it takes long
		}
		h := http.Header{}
		body := packed(t, tc.coding, strings.Repeat("x", tc.size))
		if tc.coding != "" {
			h.Set("Content-Encoding", tc.coding)
		}
		if tc.coding == "zstd" {
			body = strings.NewReader("\x28\xb5\x2f\xfd")
		}
		resp, text := post(t, s.URL()+"/v1/messages", h, body)
		if resp.StatusCode != tc.status || !strings.Contains(text, tc.want) {
			t.Errorf("%s: %d %s", tc.why, resp.StatusCode, text)
		}
	}
}

// An event is with the client before the next one is there.
func TestStreamsAreNotHeldBack(t *testing.T) {
	r, w := io.Pipe()
	s := start(t, gateway.Options{}, func(req *http.Request) (*http.Response, error) {
		return respond(req, 200, http.Header{"Content-Type": {"text/event-stream"}}, r, -1), nil
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/messages", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for i := range 5 {
		event := fmt.Sprintf("data: %d\n\n", i)
		if _, err := io.WriteString(w, event); err != nil {
			t.Fatal(err)
		}
		got, err := lines.ReadString('\n')
		blank, _ := lines.ReadString('\n')
		if got+blank != event || err != nil {
			t.Fatalf("got %q, %v", got+blank, err)
		}
	}
	w.Close()
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

type broken struct {
	io.Reader
	err error
}

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func TestErrors(t *testing.T) {
	reset := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, tc := range []struct {
		why    string
		before error // in the place of an answer
		inside error // at the end of a part of it
		want   error
	}{
		{why: "a reset is one", before: reset, want: syscall.ECONNRESET},
		{why: "a refused connection is reset", before: refused, want: syscall.ECONNRESET},
		{why: "a time-out ends in silence", before: &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, want: io.EOF},
		{why: "what never came", before: io.ErrUnexpectedEOF, want: io.EOF},
		{why: "a body that is cut", inside: io.ErrUnexpectedEOF, want: io.ErrUnexpectedEOF},
		{why: "a body that is reset", inside: reset, want: syscall.ECONNRESET},
	} {
		for _, length := range []int64{-1, 100} {
			s := start(t, gateway.Options{}, func(req *http.Request) (*http.Response, error) {
				if tc.before != nil {
					return nil, tc.before
				}
				return respond(req, 200, nil, &broken{strings.NewReader("part"), tc.inside}, length), nil
			})
			resp, err := client().Post(s.URL()+"/v1/messages", "application/json", strings.NewReader("{}"))
			if err == nil {
				var text []byte
				text, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(text) != "part" {
					t.Errorf("%s: %q came before it", tc.why, text)
				}
			}
			if !errors.Is(err, tc.want) {
				t.Errorf("%s, length %d: %v, want %v", tc.why, length, err, tc.want)
			}
		}
	}
}

// A miss is told in the provider's form, and as what must not be tried again.
func TestMisses(t *testing.T) {
	s := start(t, gateway.Options{}, func(*http.Request) (*http.Response, error) {
		return nil, failure.Errorf(failure.CassetteMiss, "no recorded reply")
	})
	for path, want := range map[string]string{
		"/anthropic/v1/messages":                     `{"type":"error","error":{"type":"invalid_request_error","message":"retake: no recorded reply"}}`,
		"/openai/v1/chat/completions":                `{"error":{"message":"retake: no recorded reply","type":"invalid_request_error","param":null,"code":null}}`,
		"/openai/v1/responses":                       `{"error":{"message":"retake: no recorded reply","type":"invalid_request_error","param":null,"code":null}}`,
		"/gemini/v1beta/models/g:generateContent":    `{"error":{"code":400,"message":"retake: no recorded reply","status":"INVALID_ARGUMENT"}}`,
		"/gemini/models/g:streamGenerateContent?a=b": `{"error":{"code":400,"message":"retake: no recorded reply","status":"INVALID_ARGUMENT"}}`,
	} {
		resp, text := post(t, s.URL()+path, nil, strings.NewReader("{}"))
		if resp.StatusCode != 400 || text != want || resp.Header.Get("X-Should-Retry") != "false" || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
}

func TestWhoMayAsk(t *testing.T) {
	open := start(t, gateway.Options{}, echo)
	closed := start(t, gateway.Options{Token: "let-me-in"}, echo)
	for _, tc := range []struct {
		why    string
		server *gateway.Server
		header http.Header
		query  string
		status int
	}{
		{"a program of this host", open, nil, "", 200},
		{"by name", open, http.Header{"Host": {"localhost:1"}}, "", 200},
		{"a name that somebody else's DNS points here", open, http.Header{"Host": {"evil.example"}}, "", 403},
		{"a web page", open, http.Header{"Origin": {"https://evil.example"}}, "", 403},
		{"a page of another server here", open, http.Header{"Origin": {"http://localhost:3000"}}, "", 403},
		{"a page that hides where it is from", open, http.Header{"Origin": {"null"}}, "", 403},
		{"without the token", closed, nil, "", 401},
		{"with another", closed, http.Header{"X-Api-Key": {"let-me-i"}}, "", 401},
		{"Anthropic's place", closed, http.Header{"X-Api-Key": {"let-me-in"}}, "", 200},
		{"OpenAI's place", closed, http.Header{"Authorization": {"Bearer let-me-in"}}, "", 200},
		{"Google's place", closed, http.Header{"X-Goog-Api-Key": {"let-me-in"}}, "", 200},
		{"in the address", closed, nil, "?key=let-me-in", 200},
		{"a web page that knows it", closed, http.Header{"X-Api-Key": {"let-me-in"}, "Origin": {"https://evil.example"}}, "", 403},
	} {
		resp, text := post(t, tc.server.URL()+"/v1/messages"+tc.query, tc.header, strings.NewReader("{}"))
		if resp.StatusCode != tc.status {
			t.Errorf("%s: %d %s", tc.why, resp.StatusCode, text)
		}
		if strings.Contains(text, "let-me-in") {
			t.Errorf("%s: the token is told: %s", tc.why, text)
		}
	}
}

func TestListen(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:0": "set a token", "192.0.2.1:0": "set a token", ":0": "set a token", "127.0.0.1": "write HOST:PORT",
		"127.0.0.1:0": "", "localhost:0": "",
	} {
		s, err := gateway.Start(t.Context(), gateway.Options{Next: roundTrip(echo), Listen: address})
		if err == nil {
			s.Close()
		}
		if want == "" && err != nil || want != "" && (failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestHTTP2(t *testing.T) {
	s := start(t, gateway.Options{}, func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "/reset") {
			return nil, syscall.ECONNRESET
		}
		return respond(req, 200, http.Header{"Content-Type": {"text/event-stream"}}, strings.NewReader("data: 1\n\n"), -1), nil
	})
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	resp, err := c.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.ProtoMajor != 2 || string(text) != "data: 1\n\n" || err != nil {
		t.Errorf("HTTP/%d %q %v", resp.ProtoMajor, text, err)
	}
	if _, err := c.Post(s.URL()+"/anthropic/v1/reset", "application/json", strings.NewReader("{}")); err == nil || !strings.Contains(err.Error(), "stream error") {
		t.Errorf("a reset is one of the stream: %v", err)
	}
}

// A client that goes ends what was asked for it; one that does not read holds up
// nobody but itself.
func TestClients(t *testing.T) {
	gone := make(chan struct{})
	s := start(t, gateway.Options{}, func(req *http.Request) (*http.Response, error) {
		switch req.URL.Path {
		case "/v1/waits":
			<-req.Context().Done()
			close(gone)
			return nil, req.Context().Err()
		case "/v1/floods":
			return respond(req, 200, nil, endless{}, -1), nil
		}
		return echo(req)
	})
	u, _ := url.Parse(s.URL())
	for _, path := range []string{"/anthropic/v1/floods", "/anthropic/v1/waits"} {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}", path, u.Host)
		if strings.HasSuffix(path, "waits") {
			for s.Asked() < 2 { // both are being answered
				post(t, s.URL()+"/v1/messages", nil, strings.NewReader("{}"))
			}
			conn.Close()
			<-gone
		}
	}
	if resp, _ := post(t, s.URL()+"/v1/messages", nil, strings.NewReader("{}")); resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Nothing that is asked comes after Close.
func TestClose(t *testing.T) {
	began := make(chan struct{})
	s, err := gateway.Start(t.Context(), gateway.Options{Next: roundTrip(func(req *http.Request) (*http.Response, error) {
		close(began)
		<-req.Context().Done()
		return nil, context.Cause(req.Context())
	})})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := client().Post(s.URL()+"/v1/messages", "", strings.NewReader("{}")); err == nil {
			t.Error("it was answered")
		}
	})
	<-began
	s.Close()
	s.Close()
	wg.Wait()
}

// Package httptool runs tool calls at an HTTP endpoint.
//
// Arguments fill the placeholders of the address ({id}), escaped; the others are
// the JSON body, or the query of a method that has none. Task and attempt go
// along as headers, and the idempotency key, of a tool that has one, as
// Idempotency-Key.
//
// An answer of status 2xx is the result as it is, JSON or text. An error that the
// endpoint writes in our form is taken over, with any status; else the status
// tells what it is. What else the endpoint said stays in the log: it may hold a
// stack or an address.
package httptool

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// Endpoint says where and how a tool is called.
type Endpoint struct {
	Method  string // "" is POST
	URL     string // https://host/orders/{id}; placeholders in path and query
	Headers []tool.Setting
	// Key is where the idempotency key is among the arguments; nil sends none.
	Key     *tool.Key
	Timeout time.Duration // of one attempt; 0 is 30 s
	// MaxAnswer is how many bytes an answer may have; 0 is 4 MiB.
	MaxAnswer int
}

// The headers that a call carries.
const (
	HeaderTask    = "X-Retake-Task-Id"
	HeaderAttempt = "X-Retake-Attempt-Id"
	HeaderKey     = "Idempotency-Key"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxAnswer = 4 << 20
	maxDetail        = 2 << 10 // of an answer that is only for the log
	maxRedirects     = 5
)

// Tool runs the calls. It may be used by many goroutines.
type Tool struct {
	endpoint Endpoint
	address  *template
	header   http.Header
	secrets  *redact.Values
	client   *http.Client
}

// New prepares the endpoint; getenv gives the headers that come from the
// environment. A wrong address is an error of class scenario_invalid, a variable
// that is not set one of class world.
func New(e Endpoint, getenv func(string) string) (*Tool, error) {
	if e.Method == "" {
		e.Method = http.MethodPost
	}
	if e.Timeout == 0 {
		e.Timeout = defaultTimeout
	}
	if e.MaxAnswer == 0 {
		e.MaxAnswer = defaultMaxAnswer
	}
	address, err := parse(e.URL)
	if err != nil {
		return nil, err
	}
	headers, hidden, err := tool.Resolve(e.Headers, getenv)
	if err != nil {
		return nil, failure.Errorf(failure.Of(err), "header %w", err)
	}
	t := &Tool{endpoint: e, address: address, header: http.Header{}, secrets: hidden}
	for _, h := range headers {
		t.header.Add(h.Name, h.Value)
	}
	t.client = &http.Client{Transport: &http.Transport{}, CheckRedirect: sameHost}
	return t, nil
}

// Close lets go of idle connections.
func (t *Tool) Close() { t.client.CloseIdleConnections() }

// elsewhereError is given by a redirect that is not followed.
type elsewhereError struct{ host string }

func (e *elsewhereError) Error() string {
	return "it redirects to another host, " + e.host + ", which is not followed: name the host itself"
}

// sameHost keeps what is sent, secrets included, at the host that it is meant
// for.
func sameHost(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Host != first.Host || first.Scheme == "https" && next.URL.Scheme != "https" {
		return &elsewhereError{next.URL.Host}
	}
	if len(via) > maxRedirects {
		return failure.Errorf(failure.World, "more than %d redirects", maxRedirects)
	}
	return nil
}

// Execute makes one request.
func (t *Tool) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	limited, cancel := clock.WithTimeout(ctx, t.endpoint.Timeout)
	defer cancel()
	req, bad := t.request(limited, &c)
	if bad != nil {
		return tool.Result{Err: bad}, nil
	}
	res, err := t.client.Do(req)
	if err != nil {
		return t.broken(limited, unreached(err), err), nil
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(t.endpoint.MaxAnswer)+1))
	if err != nil {
		return t.broken(limited, false, err), nil
	}
	if len(body) > t.endpoint.MaxAnswer {
		return tool.Result{Err: t.tooLong()}, nil
	}
	return t.result(res, body), nil
}

// Request is the request that makes the call; bad is what the model is told of
// arguments that do not fit the address.
func (t *Tool) Request(ctx context.Context, c tool.Call) (req *http.Request, bad *tool.Error) {
	return t.request(ctx, &c)
}

// request puts the call into a request; bad is what the model is told of
// arguments that do not fit the address.
func (t *Tool) request(ctx context.Context, c *tool.Call) (req *http.Request, bad *tool.Error) {
	args, err := membersOf(c.Args)
	if err != nil {
		return nil, invalid("the arguments must be a JSON object")
	}
	address, bad := t.address.fill(args)
	if bad != nil {
		return nil, bad
	}
	var body io.Reader
	if hasBody(t.endpoint.Method) {
		body = strings.NewReader(args.rest())
	} else if query := args.query(); query != "" {
		address += separator(address) + query
	}
	req, err = http.NewRequestWithContext(ctx, t.endpoint.Method, address, body)
	if err != nil {
		return nil, invalid("an argument cannot be part of an address")
	}
	t.setHeaders(req, c, args)
	return req, nil
}

func separator(address string) string {
	if strings.Contains(address, "?") {
		return "&"
	}
	return "?"
}

func hasBody(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodDelete
}

func (t *Tool) setHeaders(req *http.Request, c *tool.Call, args *members) {
	req.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, t.header)
	if host := t.header.Get("Host"); host != "" {
		req.Host = host
	}
	set(req.Header, HeaderTask, c.TaskID)
	set(req.Header, HeaderAttempt, c.AttemptID)
	if t.endpoint.Key != nil {
		set(req.Header, HeaderKey, args.text(t.endpoint.Key.Field))
	}
}

func set(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// detail is an error's text for the log, without secrets and the address's query.
func (t *Tool) detail(err error) string {
	text := err.Error()
	if u := new(url.Error); asURLError(err, &u) {
		text = u.Err.Error()
	}
	return t.secrets.Text(text)
}

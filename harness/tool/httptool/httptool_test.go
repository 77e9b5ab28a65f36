package httptool_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/httptool"
)

// ask calls the endpoint once, at a server that handles it.
func ask(t *testing.T, e httptool.Endpoint, c tool.Call, handle http.HandlerFunc) tool.Result {
	t.Helper()
	s := httptest.NewServer(handle)
	defer s.Close()
	e.URL = s.URL + e.URL
	x, err := httptool.New(e, getenv)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if c.Args == nil {
		c.Args = jsontext.Value(`{}`)
	}
	r, err := x.Execute(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hang waits until the client is gone, which a server sees only when it has read
// the request.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func getenv(name string) string {
	return map[string]string{"SHOP_TOKEN": "tok-1234567890"}[name]
}

func TestRequest(t *testing.T) {
	for _, tc := range []struct {
		why, method, url, args string
		want                   string // method, target, body
	}{
		{"all arguments are the body, as they were written", "", "/orders", `{"n":1.50,"big":12345678901234567890}`, `POST /orders {"n":1.50,"big":12345678901234567890}`},
		{"what is in the address is not in the body", "PUT", "/orders/{id}", `{"id":"o-1","qty":2}`, `PUT /orders/o-1 {"qty":2}`},
		{"a value cannot leave its place in the path", "DELETE", "/orders/{id}", `{"id":"a/../b?c#d"}`, `DELETE /orders/a%2F..%2Fb%3Fc%23d `},
		{"nor in the query", "GET", "/orders?of={id}", `{"id":"a&admin=1","page":2}`, `GET /orders?of=a%26admin%3D1&page=2 `},
		{"a method without a body has a query", "GET", "/search", `{"q":"grün tea","max":5,"in":["a","b"],"none":null,"deep":{"x":1}}`, `GET /search?q=gr%C3%BCn+tea&max=5&in=a&in=b&deep=%7B%22x%22%3A1%7D `},
		{"a number in the path", "GET", "/orders/{id}/lines", `{"id":12}`, `GET /orders/12/lines `},
		{"all used up", "POST", "/orders/{id}/cancel", `{"id":"1"}`, `POST /orders/1/cancel {}`},
	} {
		var got string
		r := ask(t, httptool.Endpoint{Method: tc.method, URL: tc.url}, tool.Call{Args: jsontext.Value(tc.args)}, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body)
			_, _ = io.WriteString(w, "done")
		})
		if got != tc.want || r.Content != "done" {
			t.Errorf("%s:\n got %s\nwant %s (%v)", tc.why, got, tc.want, r)
		}
	}
}

func TestArgumentsThatDoNotFitTheAddress(t *testing.T) {
	for args, want := range map[string]string{
		`{}`:            "/id: is required",
		`{"id":null}`:   "/id: is required",
		`{"id":".."}`:   "/id: cannot be ..",
		`{"id":""}`:     "/id: is required",
		`{"other":"1"}`: "/id: is required",
	} {
		r := ask(t, httptool.Endpoint{URL: "/orders/{id}"}, tool.Call{Args: jsontext.Value(args)}, func(http.ResponseWriter, *http.Request) {
			t.Errorf("%s reached the endpoint", args)
		})
		if r.Err == nil || r.Err.Code != tool.CodeValidation || r.Err.Message != want {
			t.Errorf("%s: got %v, want %s", args, r.Err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	e := httptool.Endpoint{
		URL: "/", Key: &tool.Key{Field: "idempotency_key"},
		Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer ", Env: "SHOP_TOKEN"}, {Name: "X-Tenant", Value: "acme"}},
	}
	var got http.Header
	ask(t, e, tool.Call{TaskID: "t1", AttemptID: "t1-a2", Args: jsontext.Value(`{"idempotency_key":"k-1"}`)}, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	for name, want := range map[string]string{
		"Authorization": "Bearer tok-1234567890", "X-Tenant": "acme", "Content-Type": "application/json",
		"X-Retake-Task-Id": "t1", "X-Retake-Attempt-Id": "t1-a2", "Idempotency-Key": "k-1",
	} {
		if got.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Get(name), want)
		}
	}
}

func TestAnswers(t *testing.T) {
	own := `{"ok":false,"error":{"code":"DAILY_LIMIT","message":"no more today","retryable":false}}`
	for _, tc := range []struct {
		why    string
		status int
		body   string
		want   tool.Result
	}{
		{"JSON as it is", 200, `{"ok":true, "n":1.0}`, tool.Result{Content: `{"ok":true, "n":1.0}`}},
		{"text as it is", 200, "two left", tool.Result{Content: "two left"}},
		{"nothing", 204, "", tool.Result{}},
		{"an error in our form counts whatever the status", 200, own, tool.Result{Err: &tool.Error{Code: "DAILY_LIMIT", Message: "no more today", Class: failure.ToolFailed}}},
		{"and keeps its words with a bad status", 422, own, tool.Result{Err: &tool.Error{Code: "DAILY_LIMIT", Message: "no more today", Class: failure.ToolFailed}}},
		{
			"the inner form will do", 400, `{"code":"VALIDATION_ERROR","message":"min is over max"}`,
			tool.Result{Err: &tool.Error{Code: "VALIDATION_ERROR", Message: "min is over max", Class: failure.ToolInvalidArguments}},
		},
		{
			"the status files a code of the tool's own", 503, `{"code":"BANK_DOWN","message":"later","retryable":true}`,
			tool.Result{Err: &tool.Error{Code: "BANK_DOWN", Message: "later", Retryable: true, Class: failure.ToolUnavailable}},
		},
		{"bad arguments", 400, "<html>", tool.Result{Err: &tool.Error{Code: "VALIDATION_ERROR", Message: "the tool does not accept these arguments", Class: failure.ToolInvalidArguments}}},
		{"credentials", 401, "", tool.Result{Err: &tool.Error{Code: "UNAUTHORIZED", Message: "the tool does not accept the host's credentials", Class: failure.ToolFailed}}},
		{"rights", 403, "", tool.Result{Err: &tool.Error{Code: "FORBIDDEN", Message: "the tool does not allow this", Class: failure.ToolFailed}}},
		{"not there", 404, "", tool.Result{Err: &tool.Error{Code: "NOT_FOUND", Message: "there is no such thing", Class: failure.ToolFailed}}},
		{"conflict", 409, "", tool.Result{Err: &tool.Error{Code: "CONFLICT", Message: "the call conflicts with what is there", Class: failure.ToolFailed}}},
		{"another refusal", 418, "", tool.Result{Err: &tool.Error{Code: "REQUEST_REFUSED", Message: "the tool refused the call", Class: failure.ToolFailed}}},
		{"the tool's client gave up", 408, "", tool.Result{Err: &tool.Error{Code: "UPSTREAM_TIMEOUT", Message: "the tool did not answer in time", Retryable: true, Class: failure.ToolTimeout}}},
		{"its upstream gave up", 504, "", tool.Result{Err: &tool.Error{Code: "UPSTREAM_TIMEOUT", Message: "the tool did not answer in time", Retryable: true, Class: failure.ToolTimeout}}},
		{"too many", 429, "", tool.Result{Err: &tool.Error{Code: "UPSTREAM_UNAVAILABLE", Message: "the tool is not available right now", Retryable: true, Class: failure.ToolUnavailable}}},
		{"down", 503, "", tool.Result{Err: &tool.Error{Code: "UPSTREAM_UNAVAILABLE", Message: "the tool is not available right now", Retryable: true, Class: failure.ToolUnavailable}}},
		{"broken: it may have acted", 500, "panic: at db.go:12 SELECT * FROM orders", tool.Result{Err: &tool.Error{Code: "UPSTREAM_ERROR", Message: "the tool failed", Retryable: true, Class: failure.ToolUnavailable}}},
	} {
		got := ask(t, httptool.Endpoint{URL: "/"}, tool.Call{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, tc.body)
		})
		if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(tool.Error{}, "Detail")); diff != "" {
			t.Errorf("%s: %d %s (-want +got):\n%s", tc.why, tc.status, tc.body, diff)
		}
	}
}

func TestWhatIsOnlyForTheLog(t *testing.T) {
	e := httptool.Endpoint{URL: "/", Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer ", Env: "SHOP_TOKEN"}}}
	r := ask(t, e, tool.Call{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		_, _ = fmt.Fprintf(w, "SELECT * FROM orders; you sent %s; %s", r.Header.Get("Authorization"), strings.Repeat("x", 100_000))
	})
	if strings.Contains(r.Err.Message, "SELECT") || !strings.Contains(r.Err.Detail, "500 Internal Server Error: SELECT") {
		t.Errorf("message %q, detail %q", r.Err.Message, r.Err.Detail)
	}
	if strings.Contains(r.Err.Detail, "tok-") || len(r.Err.Detail) > 3000 {
		t.Errorf("the detail shows a secret, or is %d bytes long: %.200s", len(r.Err.Detail), r.Err.Detail)
	}
}

func TestBroken(t *testing.T) {
	for _, tc := range []struct {
		why    string
		e      httptool.Endpoint
		handle http.HandlerFunc
		want   tool.Error
	}{
		{"it hangs", httptool.Endpoint{Timeout: 50 * time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) { hang(r) }, tool.Error{Code: tool.CodeTimeout, Class: failure.ToolTimeout, Retryable: true}},
		{"it hangs in its answer", httptool.Endpoint{Timeout: 200 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			hang(r)
		}, tool.Error{Code: tool.CodeTimeout, Class: failure.ToolTimeout, Retryable: true}},
		{"it breaks off", httptool.Endpoint{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, tool.Error{Code: tool.CodeUpstream, Class: failure.ToolUnavailable, Retryable: true}},
		{"its answer is too long", httptool.Endpoint{MaxAnswer: 10}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "12345678901") }, tool.Error{Code: tool.CodeBadOutput, Class: failure.ToolBadOutput}},
		{"it redirects elsewhere", httptool.Endpoint{}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
		}, tool.Error{Code: tool.CodeUnavailable, Class: failure.ToolUnavailable}},
		{"it redirects for ever", httptool.Endpoint{}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
		}, tool.Error{Code: tool.CodeUpstream, Class: failure.ToolUnavailable, Retryable: true}},
	} {
		tc.e.URL = "/"
		r := ask(t, tc.e, tool.Call{}, tc.handle)
		if r.Err == nil {
			t.Errorf("%s: no error", tc.why)
			continue
		}
		if diff := cmp.Diff(tc.want, *r.Err, cmpopts.IgnoreFields(tool.Error{}, "Message", "Detail")); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tc.why, r.Err, diff)
		}
		if r.Err.Detail == "" || strings.Contains(r.Err.Message, "http") {
			t.Errorf("%s: message %q, detail %q", tc.why, r.Err.Message, r.Err.Detail)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	x, err := httptool.New(httptool.Endpoint{URL: s.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(t.Context(), tool.Call{Args: jsontext.Value(`{}`)})
	if err != nil || r.Err.Code != tool.CodeUnavailable || !r.Err.Retryable {
		t.Errorf("what was never sent has no effect: %v, %v", r.Err, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); hang(r) }))
	defer s.Close()
	x, err := httptool.New(httptool.Endpoint{URL: s.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(ctx, tool.Call{Args: jsontext.Value(`{}`)})
	if err != nil || r.Err.Code != tool.CodeCancelled {
		t.Errorf("%v, %v", r.Err, err)
	}
}

func TestNew(t *testing.T) {
	for _, tc := range []struct {
		why   string
		e     httptool.Endpoint
		class failure.Class
		want  string
	}{
		{"no address", httptool.Endpoint{URL: "orders"}, failure.ScenarioInvalid, `the tool's address "orders": it must begin like https://host/`},
		{"a placeholder that does not end", httptool.Endpoint{URL: "http://h/{id"}, failure.ScenarioInvalid, `a placeholder is written {name}`},
		{"the host from an argument", httptool.Endpoint{URL: "http://{host}/x"}, failure.ScenarioInvalid, `it must begin like https://host/`},
		{"a part of the host from an argument", httptool.Endpoint{URL: "http://h{host}/x"}, failure.ScenarioInvalid, `a placeholder cannot be part of the host`},
		{"a password", httptool.Endpoint{URL: "http://me:pass@h/x"}, failure.ScenarioInvalid, `must not hold a password`},
		{"a variable that is not set", httptool.Endpoint{URL: "http://h/", Headers: []tool.Setting{{Name: "X-Key", Env: "NOPE"}}}, failure.World, `header X-Key: the environment variable NOPE is not set; set it`},
	} {
		_, err := httptool.New(tc.e, getenv)
		if failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: got %v, want %s", tc.why, err, tc.want)
		}
	}
}

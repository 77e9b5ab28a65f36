package giftgenius_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

func serve(t *testing.T, tokens ...string) (url, shopFile string) {
	t.Helper()
	f := file(t)
	known := giftgenius.Tokens{}
	for _, list := range tokens {
		if err := known.Add(list); err != nil {
			t.Fatal(err)
		}
	}
	shop := open(t, giftgenius.Options{File: f})
	server := httptest.NewServer(giftgenius.Handle(giftgenius.NewServer(shop, "local", nil), known))
	t.Cleanup(server.Close)
	return server.URL + giftgenius.Path, f
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url string, authorization bearer) (*mcp.ClientSession, error) {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: authorization}, MaxRetries: -1}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func ask(t *testing.T, session *mcp.ClientSession, tool, args string) answer {
	t.Helper()
	res, err := session.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, res.Content[0].(*mcp.TextContent).Text, res.IsError)
}

func TestNoTokenNoEntry(t *testing.T) {
	url, _ := serve(t, "alice=tok-a, bob=tok-b")
	tests := []struct {
		name, why, authorization string
	}{
		{name: "none", why: "nobody is not somebody"},
		{name: "unknown", why: "not one of the known ones", authorization: "Bearer tok-c"},
		{name: "empty", why: "the empty token is nobody's", authorization: "Bearer "},
		{name: "beginning of one", why: "a token is compared as a whole", authorization: "Bearer tok"},
		{name: "name of a tenant", why: "a name is no secret", authorization: "Bearer alice"},
		{name: "another scheme", why: "only bearer tokens are known", authorization: "Basic tok-a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
			req.RequestURI = ""
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := (&http.Client{Transport: bearer(tt.authorization)}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s, want 401: %s", res.Status, tt.why)
			}
			if _, err := dial(t, url, bearer(tt.authorization)); err == nil {
				t.Errorf("a client was let in: %s", tt.why)
			}
		})
	}
}

// A valid token opens what is its tenant's, and nothing else.
func TestTenantsOverHTTP(t *testing.T) {
	url, f := serve(t, "alice=tok-a", "bob=tok-b")
	alice, err := dial(t, url, "Bearer tok-a")
	if err != nil {
		t.Fatal(err)
	}
	bob, err := dial(t, url, "Bearer tok-b")
	if err != nil {
		t.Fatal(err)
	}
	const prepare = `{"gift_id":"gift-mug","idempotency_key":"p"}`
	hers, his := ask(t, alice, "prepare_order", prepare), ask(t, bob, "prepare_order", prepare)
	if hers.DraftID == his.DraftID {
		t.Errorf("one draft for two tenants: %s", hers.text)
	}
	commit := fmt.Sprintf(`{"draft_id":%q,"confirmed_total_cents":1400,"idempotency_key":"c"}`, hers.DraftID)
	if got := ask(t, bob, "commit_order", commit); got.Error.Code != "NOT_FOUND" {
		t.Errorf("bob commits alice's draft: %s", got.text)
	}
	if got := ask(t, alice, "commit_order", commit); !got.OK {
		t.Error(got.text)
	}
	if got := ask(t, bob, "commit_order", commit); got.Error.Code != "NOT_FOUND" {
		t.Errorf("bob is given alice's result: %s", got.text)
	}
	if a, b := ask(t, alice, "list_orders", `{}`), ask(t, bob, "list_orders", `{}`); a.Total != 1 || b.Total != 0 {
		t.Errorf("alice sees %s, bob %s", a.text, b.text)
	}
	if n := count(t, f, charges); n != 1 {
		t.Errorf("%d charges, want 1", n)
	}
}

func TestWithoutTokensTheServersOwnTenant(t *testing.T) {
	url, f := serve(t)
	session, err := dial(t, url, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, session, "create_checkout_session", `{"gift_id":"gift-mug","idempotency_key":"k"}`); !got.OK {
		t.Error(got.text)
	}
	if n := count(t, f, `select count(*) from charges where tenant = 'local'`); n != 1 {
		t.Errorf("%d charges of the tenant local, want 1", n)
	}
}

func TestTokensAreWrittenAsPairs(t *testing.T) {
	for _, list := range []string{"", "s3cret", "=s3cret", "alice=", "alice=s3cret,,bob=b"} {
		if err := (giftgenius.Tokens{}).Add(list); err == nil {
			t.Errorf("%q was taken", list)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the message shows a token: %v", err)
		}
	}
}

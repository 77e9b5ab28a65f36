package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

func TestReadError(t *testing.T) {
	tests := []struct {
		why, body string
		want      wire.APIError
	}{
		{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, wire.APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded"}},
		{"OpenAI", `{"error":{"message":"m","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, wire.APIError{Status: 529, Type: "insufficient_quota", Message: "m"}},
		{"the type may be null", `{"error":{"message":"m","type":null,"code":"model_not_found"}}`, wire.APIError{Status: 529, Type: "model_not_found", Message: "m"}},
		{"Gemini: the code is a number, the status a word", `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`, wire.APIError{Status: 529, Type: "RESOURCE_EXHAUSTED", Message: "m"}},
		{"Gemini in a stream of arrays", `[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}]`, wire.APIError{Status: 529, Type: "RESOURCE_EXHAUSTED", Message: "m"}},
		{"a text", `{"error":"no such model"}`, wire.APIError{Status: 529, Type: "http_529", Message: "no such model"}},
		{"a bare message", `{"message":"Unauthorized","code":"bad_key"}`, wire.APIError{Status: 529, Type: "bad_key", Message: "Unauthorized"}},
		{"a proxy's page", "<html>Bad gateway</html>\n", wire.APIError{Status: 529, Type: "http_529", Message: "<html>Bad gateway</html>"}},
		{"an event", "event: error\ndata: {\"error\":{\"type\":\"t\",\"message\":\"m\"}}\n\n", wire.APIError{Status: 529, Type: "t", Message: "m"}},
		{"nothing", "", wire.APIError{Status: 529, Type: "http_529"}},
		{"a long page is shortened", strings.Repeat("x", 300), wire.APIError{Status: 529, Type: "http_529", Message: strings.Repeat("x", 200) + "…"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(&tt.want, wire.ReadError(529, []byte(tt.body)), cmpopts.IgnoreFields(wire.APIError{}, "Kind", "Code")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.why, tt.body, diff)
		}
	}
}

func FuzzReadError(f *testing.F) {
	f.Add([]byte(`[{"error":{"error":"x"}},1,null]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if e := wire.ReadError(400, body); e.Status != 400 || e.Type == "" {
			t.Errorf("%q: %+v", body, e)
		}
	})
}

func TestClassOfAnError(t *testing.T) {
	for _, row := range []struct {
		why  string
		e    wire.APIError
		want failure.Class
	}{
		{"a status says more than a type that is everybody's", wire.APIError{Status: 401, Type: "invalid_request_error"}, failure.Unauthorized},
		{"OpenAI's 503 has the type of a 500", wire.APIError{Status: 503, Type: "server_error"}, failure.Overloaded},
		{"a code says more than a type", wire.APIError{Status: 200, Type: "server_error", Code: "server_is_overloaded"}, failure.Overloaded},
		{"a quota, by its code", wire.APIError{Status: 200, Type: "requests", Code: "rate_limit_exceeded"}, failure.RateLimited},
		{"inside a stream there is only the type", wire.APIError{Status: 200, Type: "api_error"}, failure.ServerError},
		{"a refused request inside a stream", wire.APIError{Status: 200, Type: "invalid_request_error"}, failure.ClientError},
		{"a type that is not known, inside a stream", wire.APIError{Status: 200, Type: "odd"}, failure.Protocol},
	} {
		if got := row.e.Class(); got != row.want {
			t.Errorf("%s: class %q, want %q", row.why, got, row.want)
		}
	}
}

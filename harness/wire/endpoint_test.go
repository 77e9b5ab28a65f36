package wire_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/wire"
)

func TestEndpoint(t *testing.T) {
	for _, tc := range []struct{ why, base, path, want string }{
		{"a bare host", "https://api.anthropic.com", "/v1/messages", "https://api.anthropic.com/v1/messages"},
		{"a slash at the end says nothing", "https://api.anthropic.com/", "/v1/messages", "https://api.anthropic.com/v1/messages"},
		{"a proxy's own path", "https://proxy.example/api", "/v1/messages", "https://proxy.example/api/v1/messages"},
		{"the version comes once", "https://proxy.example/v1", "/v1/messages", "https://proxy.example/v1/messages"},
		{"another version is the proxy's", "https://proxy.example/v2", "/v1/messages", "https://proxy.example/v2/v1/messages"},
		{"a path without a version", "https://api.z.ai/api/paas/v4", "/chat/completions", "https://api.z.ai/api/paas/v4/chat/completions"},
		{"a query for every request", "https://x.openai.azure.com/openai?api-version=2025-04-01", "/chat/completions", "https://x.openai.azure.com/openai/chat/completions?api-version=2025-04-01"},
		{"a query beside the path's own", "https://host.example?tenant=a", "/v1beta/models/m:streamGenerateContent?alt=sse", "https://host.example/v1beta/models/m:streamGenerateContent?alt=sse&tenant=a"},
		{"Vertex AI has its version before the publisher", "https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google", "/v1beta/models/m:generateContent", "https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/m:generateContent"},
	} {
		if got := wire.Endpoint(tc.base, tc.path); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.why, got, tc.want)
		}
	}
}

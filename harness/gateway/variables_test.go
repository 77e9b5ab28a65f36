package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutKeys(t *testing.T) {
	for _, tc := range []struct {
		why, name string
		stays     bool
	}{
		{why: "a provider's key", name: "ANTHROPIC_API_KEY"},
		{why: "its other", name: "ANTHROPIC_AUTH_TOKEN"},
		{why: "one that opens more", name: "OPENAI_ADMIN_KEY"},
		{why: "a cloud's key of models", name: "AZURE_OPENAI_API_KEY"},
		{why: "and here", name: "AWS_BEARER_TOKEN_BEDROCK"},
		{why: "one with a compatible API", name: "OPENROUTER_API_KEY"},
		{why: "and another", name: "GROQ_API_KEY"},
		{why: "a token", name: "HF_TOKEN"},
		{why: "a name in small letters", name: "openai_api_key"},
		{why: "no key at all", name: "OPENAI_BASE_URL", stays: true},
		{why: "the provider's, but no model's", name: "GOOGLE_MAPS_API_KEY", stays: true},
		{why: "a tool may need it", name: "GITHUB_TOKEN", stays: true},
		{why: "and this", name: "AWS_SECRET_ACCESS_KEY", stays: true},
		{why: "and this", name: "DATABASE_URL", stays: true},
	} {
		if stays := len(WithoutKeys([]string{tc.name + "=sk-1"})) == 1; stays != tc.stays {
			t.Errorf("%s: %s stays: %t", tc.why, tc.name, stays)
		}
	}
}

func TestOver(t *testing.T) {
	set := []string{"OPENAI_API_KEY=placeholder", "NO_PROXY=127.0.0.1"}
	for _, tc := range []struct {
		why       string
		env, want []string
	}{
		{"what is set takes the place of what was", []string{"OPENAI_API_KEY=sk", "A=1"}, append([]string{"A=1"}, set...)},
		{"what would lead past it is taken out", []string{"ANTHROPIC_AUTH_TOKEN=sk", "GOOGLE_GENAI_USE_VERTEXAI=1"}, set},
		{"what is kept from a proxy stays so", []string{"NO_PROXY=.corp"}, []string{set[0], "NO_PROXY=.corp,127.0.0.1"}},
		{"of two the last holds", []string{"NO_PROXY=a", "NO_PROXY=b"}, []string{set[0], "NO_PROXY=b,127.0.0.1"}},
		{"all hosts are more", []string{"NO_PROXY=*"}, []string{set[0], "NO_PROXY=*"}},
		{"none", []string{"NO_PROXY="}, set},
	} {
		if diff := cmp.Diff(tc.want, over(tc.env, set)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
	if set[1] != "NO_PROXY=127.0.0.1" {
		t.Errorf("it was changed: %s", set[1])
	}
}

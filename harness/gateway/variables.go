package gateway

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/scenario"
)

// addressVariables are the variables from which SDKs take an address, each with the
// path that it has to have.
var addressVariables = [...][2]string{
	{"ANTHROPIC_BASE_URL", anthropicPath},
	{"ANTHROPIC_API_BASE", anthropicPath},
	{"OPENAI_BASE_URL", openAIPath},
	{"OPENAI_API_BASE", openAIPath},
	{"GOOGLE_GEMINI_BASE_URL", geminiPath},
	{"GEMINI_BASE_URL", geminiPath},
	{"GEMINI_API_BASE", geminiPath},
}

// keyVariables are the variables from which SDKs take a key.
var keyVariables = [...]string{
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
}

// otherVariables would lead SDKs past the gateway, or make them send another key.
// They are set to nothing.
var otherVariables = [...]string{"ANTHROPIC_AUTH_TOKEN", "GOOGLE_GENAI_USE_VERTEXAI"}

// Variables are what a program needs in its environment to ask the gateway, each
// NAME=value.
func (s *Server) Variables() []string {
	var out []string
	for _, v := range addressVariables {
		out = append(out, v[0]+"="+s.URL()+v[1])
	}
	for _, name := range keyVariables {
		out = append(out, name+"="+cmp.Or(s.options.Token, harness.PlaceholderKey))
	}
	if s.tools != nil {
		out = append(out, scenario.ToolsVariable+"="+s.URL()+toolsPath)
	}
	return append(out, "NO_PROXY="+noProxy, "no_proxy="+noProxy)
}

// noProxy keeps what is asked on loopback from a proxy.
const noProxy = "127.0.0.1,localhost,::1"

// over is an environment with what is set in the place of its own. What would lead
// past the gateway is taken out.
func over(env, set []string) []string {
	taken := map[string]bool{}
	for _, name := range otherVariables {
		taken[name] = true
	}
	for _, v := range set {
		name, _, _ := strings.Cut(v, "=")
		taken[name] = true
	}
	return append(slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return taken[name]
	}), set...)
}

// addresses are those of the variables that have the gateway's address.
func addresses(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(v string) bool {
		return !slices.ContainsFunc(addressVariables[:], func(a [2]string) bool { return strings.HasPrefix(v, a[0]+"=") })
	})
}

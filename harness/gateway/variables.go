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

// WithoutKeys is an inherited environment without the keys of models' providers, by
// their usual names: also of those that speak another provider's API at an address
// of their own, to which a program could find its way past the gateway. Other
// secrets are left, since tools of the program's own may need them.
func WithoutKeys(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return isModelKey(strings.ToUpper(name))
	})
}

// providers are those who sell models, as the names of variables begin.
var providers = [...]string{
	"AI_GATEWAY", "ALIBABA", "ANTHROPIC", "AWS_BEARER", "AZURE", "AZUREML", "AZURE_AI", "AZURE_INFERENCE", "AZURE_OPENAI", "BASETEN", "CEREBRAS",
	"CLAUDE", "CLAUDE_CODE_OAUTH", "CLOUDFLARE", "CO", "COHERE", "DASHSCOPE", "DATABRICKS", "DEEPINFRA", "DEEPSEEK", "FIREWORKS", "GEMINI", "GOOGLE",
	"GOOGLE_AI", "GOOGLE_GENERATIVE_AI", "GROK", "GROQ", "HF", "HUGGINGFACE", "HUGGING_FACE_HUB", "LITELLM", "MINIMAX", "MISTRAL", "MOONSHOT", "NEBIUS",
	"NOVITA", "NVIDIA", "OPENAI", "OPENROUTER", "PERPLEXITY", "REPLICATE", "SAMBANOVA", "TOGETHER", "TOGETHERAI", "TOGETHER_AI", "VERCEL_AI_GATEWAY",
	"VERTEX", "WATSONX", "XAI", "ZAI", "ZHIPU",
}

// keyEndings are how the names of variables with a key go on.
var keyEndings = [...]string{"_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_ADMIN_KEY", "_TOKEN", "_TOKEN_BEDROCK", "_KEY"}

func isModelKey(name string) bool {
	for _, end := range keyEndings {
		if who, ok := strings.CutSuffix(name, end); ok && slices.Contains(providers[:], who) {
			return true
		}
	}
	return false
}

// over is an environment with what is set in the place of its own. What would lead
// past the gateway is taken out; what is kept from a proxy stays so.
func over(env, set []string) []string {
	set = slices.Clone(set)
	for i, v := range set {
		name, value, _ := strings.Cut(v, "=")
		if strings.EqualFold(name, "NO_PROXY") {
			set[i] = name + "=" + alsoDirect(lookUp(env, name), value)
		}
	}
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

func lookUp(env []string, name string) string {
	for _, v := range slices.Backward(env) { // of two the last holds
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			return value
		}
	}
	return ""
}

// alsoDirect adds hosts to those that are asked without a proxy.
func alsoDirect(before, more string) string {
	switch before {
	case "":
		return more
	case "*": // all are
		return before
	}
	return before + "," + more
}

// addresses are those of the variables that have the gateway's address.
func addresses(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(v string) bool {
		return !slices.ContainsFunc(addressVariables[:], func(a [2]string) bool { return strings.HasPrefix(v, a[0]+"=") })
	})
}

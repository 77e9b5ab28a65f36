package live

import (
	"net/http"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// Key is what gives access to an API. The zero value sends none.
type Key struct {
	Name  string // of the environment variable
	Value string
}

// usual are the variables in which the providers' own clients look for keys.
func usual(api wire.API) []string {
	switch api {
	case wire.AnthropicMessages:
		return []string{"ANTHROPIC_API_KEY"}
	case wire.GeminiGenerate:
		return []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}
	default:
		return []string{"OPENAI_API_KEY"}
	}
}

// FindKey is the key of a model: that of the variable which the configuration
// names, else of the provider's usual one. A model at an address of its own gets
// the usual one never: it would be shown to somebody else. A key that is missing is
// an error of class world; file is where it could be named.
func FindKey(api wire.API, model, named string, ownAddress bool, file string, getenv func(string) string) (Key, error) {
	names := usual(api)
	switch {
	case named != "":
		names = []string{named}
	case ownAddress:
		return Key{}, nil
	}
	for _, name := range names {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return Key{Name: name, Value: v}, nil
		}
	}
	if named != "" {
		return Key{}, failure.Errorf(failure.World, "model %s: there is no key: the environment variable %s is not set; %s names it under models.%s.key", model, named, file, model)
	}
	return Key{}, failure.Errorf(failure.World, "model %s: there is no key: set the environment variable %s, or name another one in %s under models.%s.key",
		model, strings.Join(names, " or "), file, model)
}

// put writes the key into the header in which the API takes it.
func (k Key) put(api wire.API, h http.Header) {
	switch {
	case k.Value == "":
	case api == wire.AnthropicMessages:
		h.Set("X-Api-Key", k.Value)
	case api == wire.GeminiGenerate:
		h.Set("X-Goog-Api-Key", k.Value)
	default:
		h.Set("Authorization", "Bearer "+k.Value)
	}
}

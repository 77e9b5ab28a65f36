package process

import (
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// Environment is what a program sees: PATH and HOME, and the settings. What they
// take from the environment is secret.
func Environment(settings []tool.Setting, getenv func(string) string) (env []string, hidden *redact.Values, err error) {
	values, hidden, err := tool.Resolve(settings, getenv)
	if err != nil {
		return nil, nil, failure.Errorf(failure.Of(err), "environment of the program: %w", err)
	}
	for _, name := range []string{"PATH", "HOME"} {
		if getenv == nil {
			break
		}
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	for _, s := range values {
		env = append(env, s.Name+"="+s.Value)
	}
	return env, hidden, nil
}

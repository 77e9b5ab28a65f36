package tool

import (
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
)

// Setting is a named value that the place where tools run is given: a header, an
// environment variable.
type Setting struct {
	Name  string
	Value string // as it is; before Env's, where there is one ("Bearer ")
	Env   string // the environment variable that the rest comes from; "" for none
}

// Resolve gives the settings their values, in their order. getenv is asked for
// what comes from the environment; those values are what is to be
// hidden in what a tool says. A variable that is not set is an error of class world.
func Resolve(settings []Setting, getenv func(string) string) (values []Setting, hidden *redact.Values, err error) {
	var secrets []redact.Secret
	values = make([]Setting, len(settings))
	for i, s := range settings {
		values[i] = Setting{Name: s.Name, Value: s.Value}
		if s.Env == "" {
			continue
		}
		secret := ""
		if getenv != nil {
			secret = getenv(s.Env)
		}
		if secret == "" {
			return nil, nil, failure.Errorf(failure.World, "%s: the environment variable %s is not set; set it", s.Name, s.Env)
		}
		values[i].Value += secret
		secrets = append(secrets, redact.Secret{Name: s.Env, Value: secret})
	}
	return values, redact.New(secrets...), nil
}

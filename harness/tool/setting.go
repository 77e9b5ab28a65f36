package tool

import "github.com/retake-harness/retake/harness/failure"

// Setting is a named value that the place where tools run is given: a header, an
// environment variable.
type Setting struct {
	Name  string
	Value string // as it is; before Env's, where there is one ("Bearer ")
	Env   string // the environment variable that the rest comes from; "" for none
}

// Resolve gives the settings their values, in their order. getenv is asked for
// what comes from the environment; those values are told as secrets too. A
// variable that is not set is an error of class world.
func Resolve(settings []Setting, getenv func(string) string) (values []Setting, secrets []string, err error) {
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
		secrets = append(secrets, secret)
	}
	return values, secrets, nil
}

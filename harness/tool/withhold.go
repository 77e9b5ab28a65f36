package tool

import (
	"regexp"

	"github.com/retake-harness/retake/harness/redact"
)

// codeForm is what a code looks like. Anything else is a text, which may show what a
// text may show.
var codeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// withhold keeps from the model what a tool says that nobody outside should see, and
// names it: internals and secrets in an error, secrets in a result. What was
// recorded stays as it was recorded: that is what the model was shown.
func (p *Pending) withhold(res *Result) []string {
	secrets := p.box.opts.Secrets
	if p.spec.Instant {
		return nil
	}
	if res.Err == nil {
		name, found := secrets.Found([]byte(res.Content))
		if !found {
			return nil
		}
		res.Content = secrets.Text(res.Content)
		return []string{aSecret(name)}
	}
	said := res.Err.Code + ": " + res.Err.Message
	found := redact.Looks(said, true)
	if name, secret := secrets.Found([]byte(said)); secret {
		found = append(found, aSecret(name))
	}
	if !codeForm.MatchString(res.Err.Code) {
		found = append(found, "a code that is none")
	}
	if len(found) == 0 {
		return nil
	}
	clean := *res.Err
	clean.Message, clean.Detail = "the tool failed", said
	if _, secret := secrets.Found([]byte(res.Err.Code)); secret || !codeForm.MatchString(res.Err.Code) {
		clean.Code = CodeToolError
	}
	if res.Err.Detail != "" {
		clean.Detail += ": " + res.Err.Detail
	}
	res.Err = &clean
	return found
}

func aSecret(name string) string { return "the secret " + name }

package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// everything stands for a pattern that cannot be checked.
type everything string

func (e everything) String() string        { return string(e) }
func (everything) MatchString(string) bool { return true }

// regexp compiles a pattern. JSON Schema's are ECMAScript's, of which Go lacks
// look-around and back-references; schema generators write such ones (for
// e-mail addresses), so they are noted and let pass instead of being refused.
func (s *Schema) regexp(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(unicodeEscapes.ReplaceAllString(pattern, `\x{$1}`))
	if err == nil {
		return re, nil
	}
	if !beyondGo(pattern) {
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, errors.New(se.Code.String())
		}
		return nil, err
	}
	if !slices.Contains(s.unchecked, pattern) {
		s.unchecked = append(s.unchecked, pattern)
	}
	return everything(pattern), nil
}

var (
	unicodeEscapes = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)
	backReference  = regexp.MustCompile(`\\[1-9k]`)
)

func beyondGo(pattern string) bool {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(pattern, look) {
			return true
		}
	}
	return backReference.MatchString(pattern)
}

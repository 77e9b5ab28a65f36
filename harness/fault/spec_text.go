package fault

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suggest"
)

// every is how Every is spelled.
const every = "every"

// key is one of the keys of a spec's one-line spelling. Reports and scenarios use
// the same words.
type key struct {
	name string
	say  func(s *Spec) string // "" when the spec does not say it
	read func(s *Spec, value string) error
}

// keys are all of them, in the order in which they are written.
var keys = []key{
	textKey("tool", func(s *Spec) *string { return &s.At.Tool }),
	countKey("call", true, func(s *Spec) *int { return &s.At.Call }),
	countKey("attempt", false, func(s *Spec) *int { return &s.At.Attempt }),
	countKey("event", false, func(s *Spec) *int { return &s.At.Event }),
	countKey("times", true, func(s *Spec) *int { return &s.Times }),
	chanceKey,
	durationKey("delay", func(s *Spec) *time.Duration { return &s.Params.Delay }),
	countKey("status", false, func(s *Spec) *int { return &s.Params.Status }),
	durationKey("retry_after", func(s *Spec) *time.Duration { return &s.Params.RetryAfter }),
	countKey("bytes", false, func(s *Spec) *int { return &s.Params.Bytes }),
	countKey("count", false, func(s *Spec) *int { return &s.Params.Count }),
	textKey("text", func(s *Spec) *string { return &s.Params.Text }),
	textKey("kind", func(s *Spec) *string { return &s.Params.Kind }),
	effectKey,
}

// String spells the spec in one line, as short as it goes and safe to paste into
// a shell: model.rate_limit@call=2,retry_after=1h. ParseSpec reads it back. Values
// are spelled as url.QueryEscape does, which package redact knows: a secret in a
// text is found there.
func (s Spec) String() string {
	var b strings.Builder
	b.WriteString(s.Name)
	sep := byte('@')
	for i := range keys {
		if v := keys[i].say(&s); v != "" {
			b.WriteByte(sep)
			b.WriteString(keys[i].name + "=" + url.QueryEscape(v))
			sep = ','
		}
	}
	return b.String()
}

// ParseSpec reads the one-line spelling of a spec, NAME or NAME@key=value,…, and
// checks it. A value is spelled as url.QueryEscape does, with %XX for a byte and +
// for a blank; a comma, a percent sign and a plus have to be written so, the rest
// may stand as it is. An error is of class scenario_invalid.
func ParseSpec(text string) (Spec, error) {
	name, rest, at := strings.Cut(text, "@")
	s := Spec{Name: name}
	if !at {
		return s, s.Check()
	}
	var bad []error
	said := map[string]bool{}
	for pair := range strings.SplitSeq(rest, ",") {
		word, value, _ := strings.Cut(pair, "=")
		switch i := slices.IndexFunc(keys, func(k key) bool { return k.name == word }); {
		case i < 0:
			bad = append(bad, unknownKey(pair, word))
		case said[word]:
			bad = append(bad, fmt.Errorf("%s is given twice; drop one", word))
		default:
			said[word] = true
			if err := readKey(&keys[i], &s, value); err != nil {
				bad = append(bad, err)
			}
		}
	}
	for _, p := range s.Problems() {
		bad = append(bad, p)
	}
	return s, invalid(respelled(text), bad)
}

func readKey(k *key, s *Spec, value string) error {
	plain, err := unescape(value)
	if err == nil && plain == "" {
		err = errors.New("it has no value")
	}
	if err == nil {
		err = k.read(s, plain)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", k.name, respelledValue(value), err)
	}
	return nil
}

func unknownKey(pair, word string) error {
	if pair == "" {
		return errors.New("a pair is empty; write NAME@key=value,key=value")
	}
	known := make([]string, len(keys))
	for i := range keys {
		known[i] = keys[i].name
	}
	hint := suggest.Hint(word, known)
	if hint == "" {
		hint = "; known are " + strings.Join(known, ", ")
	}
	return fmt.Errorf("unknown key %q%s", word, hint)
}

// invalid makes one error of what is wrong with the spec of the text; nil of
// nothing.
func invalid(text string, bad []error) error {
	if len(bad) == 0 {
		return nil
	}
	if p, ok := errors.AsType[Problem](bad[0]); ok && p.Key == keyFault {
		return failure.Wrap(failure.ScenarioInvalid, p) // it has the name already
	}
	all := make([]string, len(bad))
	for i, err := range bad {
		all[i] = err.Error()
	}
	return failure.Errorf(failure.ScenarioInvalid, "fault %q: %s", text, strings.Join(all, "; "))
}

func textKey(name string, in func(*Spec) *string) key {
	return key{
		name, func(s *Spec) string { return *in(s) },
		func(s *Spec, v string) error { *in(s) = v; return nil },
	}
}

// countKey is a number from 1 on, or every.
func countKey(name string, all bool, in func(*Spec) *int) key {
	return key{name, func(s *Spec) string {
		switch n := *in(s); {
		case n == 0:
			return ""
		case n == Every && all:
			return every
		default:
			return strconv.Itoa(n)
		}
	}, func(s *Spec, v string) error {
		n, err := strconv.Atoi(v)
		switch {
		case all && v == every:
			*in(s) = Every
		case err == nil && n > 0:
			*in(s) = n
		case all:
			return errors.New("must be a number from 1 on, or every")
		default:
			return errors.New("must be a number from 1 on")
		}
		return nil
	}}
}

func durationKey(name string, in func(*Spec) *time.Duration) key {
	return key{name, func(s *Spec) string {
		if *in(s) == 0 {
			return ""
		}
		return shortDuration(*in(s))
	}, func(s *Spec, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return errors.New("must be a time with its unit, like 500ms, 10s or 2m")
		}
		*in(s) = d
		return nil
	}}
}

// shortDuration spells a time without the zeros at its end: 1h, not 1h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

var chanceKey = key{"chance", func(s *Spec) string {
	if s.Chance == 0 {
		return ""
	}
	return strconv.FormatFloat(s.Chance, 'g', -1, 64)
}, func(s *Spec, v string) error {
	p, err := strconv.ParseFloat(v, 64)
	if err != nil || !isChance(p) {
		return errors.New(wantChance)
	}
	s.Chance = p
	return nil
}}

var effectKey = key{"effect", func(s *Spec) string { return string(s.Params.Effect) }, func(s *Spec, v string) error {
	if v != string(Before) && v != string(After) {
		return errors.New(wantEffect)
	}
	s.Params.Effect = Effect(v)
	return nil
}}

// unescape reads a value as url.QueryEscape writes it.
func unescape(v string) (string, error) {
	plain, err := url.QueryUnescape(v)
	if err != nil {
		return "", errors.New("a percent sign is written %25")
	}
	return plain, nil
}

// respelled is the text with each value in the one spelling that String gives it,
// for messages: in another one, or a mixture, a secret would not be recognised.
func respelled(text string) string {
	name, rest, at := strings.Cut(text, "@")
	if !at {
		return text
	}
	pairs := strings.Split(rest, ",")
	for i, pair := range pairs {
		if word, value, ok := strings.Cut(pair, "="); ok {
			pairs[i] = word + "=" + respelledValue(value)
		}
	}
	return name + "@" + strings.Join(pairs, ",")
}

// respelledValue is the value as it stands where it cannot be read.
func respelledValue(v string) string {
	plain, err := unescape(v)
	if err != nil {
		return v
	}
	return url.QueryEscape(plain)
}

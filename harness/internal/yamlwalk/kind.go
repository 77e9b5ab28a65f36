package yamlwalk

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

// Kind is a kind of value: how it is read, and how an editor's JSON Schema
// describes it.
type Kind[V any] struct {
	what   string // for messages: a text
	shapes shape
	read   func(v Value, to *V)
	schema func() Schema
}

// Read reads v into to; what does not fit is noted in v's file.
func (k Kind[V]) Read(v Value, to *V) {
	was := v
	if !v.open() {
		return
	}
	defer v.close(was)
	switch {
	case v.shape()&k.shapes == 0:
		v.Failf("must be %s, is %s", k.what, v.is())
	case v.shape() == scalar && v.word() == wordNull && k.shapes&null == 0:
		v.Failf("has no value; must be %s", k.what)
	default:
		k.read(v, to)
	}
}

// null marks a Kind that reads an empty value itself.
const null shape = 1 << 7

// Root reads the whole file.
func Root[V any](f *File, k Kind[V], to *V) {
	if f.root != nil {
		k.Read(Value{f, f.root, 0}, to)
	}
}

// Text is a text; numbers and truth values must be quoted to be one.
func Text() Kind[string] {
	return Kind[string]{"a text", scalar, func(v Value, to *string) {
		switch {
		case v.word() != wordText:
			v.Failf("must be a text, is %s; put it in quotes", v.node.Value)
		case strings.TrimSpace(v.node.Value) == "":
			v.Failf("must not be empty")
		default:
			*to = v.node.Value
		}
	}, func() Schema { return Schema{{"type", "string"}, {"pattern", `\S`}} }}
}

// Pattern is a text of the form of re; what names the form.
func Pattern(what string, re *regexp.Regexp) Kind[string] {
	return Kind[string]{what, scalar, func(v Value, to *string) {
		switch {
		case v.word() != wordText:
			v.Failf("must be %s, is %s; put it in quotes", what, v.node.Value)
		case !re.MatchString(v.node.Value):
			v.Failf("must be %s, is %q", what, v.node.Value)
		default:
			*to = v.node.Value
		}
	}, func() Schema { return Schema{{"type", "string"}, {"pattern", re.String()}} }}
}

// Written is a scalar of any kind, taken as the text that is written.
func Written() Kind[string] {
	return Kind[string]{
		"a text", scalar, func(v Value, to *string) { *to = v.node.Value },
		func() Schema { return Schema{{"type", []string{"string", "number", "boolean"}}} },
	}
}

// WrittenSomething is Written without the empty text; otherwise says why.
func WrittenSomething(otherwise string) Kind[string] {
	k := Then(Written(), func(v Value, s string) {
		if s == "" {
			v.Failf("must not be empty: %s", otherwise)
		}
	})
	schema := k.schema
	k.schema = func() Schema { return append(schema(), Member{"minLength", 1}) }
	return k
}

// Bool is true or false.
func Bool() Kind[bool] {
	return Kind[bool]{"true or false", scalar, func(v Value, to *bool) {
		if v.word() != wordBool {
			v.Failf("must be true or false, is %s", v.is())
			return
		}
		*to = v.node.Value == "true"
	}, func() Schema { return Schema{{"type", "boolean"}} }}
}

// Int is a whole number of at least least.
func Int[I int | int64](least I) Kind[I] {
	what := fmt.Sprintf("a whole number of at least %d", least)
	return Kind[I]{what, scalar, func(v Value, to *I) {
		n, err := strconv.ParseInt(v.node.Value, 10, strconv.IntSize)
		if v.word() != wordNumber || err != nil || I(n) < least {
			v.Failf("must be %s, is %s", what, v.is())
			return
		}
		*to = I(n)
	}, func() Schema { return Schema{{"type", "integer"}, {"minimum", int(least)}} }}
}

// IntOr is a whole number of at least least, or a word that stands for number.
func IntOr(least int, word string, number int) Kind[int] {
	what := fmt.Sprintf("a whole number of at least %d, or %s", least, word)
	return Kind[int]{what, scalar, func(v Value, to *int) {
		n, err := strconv.Atoi(v.node.Value)
		switch {
		case v.word() == wordText && v.node.Value == word:
			*to = number
		case v.word() != wordNumber || err != nil || n < least:
			v.Failf("must be %s, is %s%s", what, v.is(), suggest.Hint(v.node.Value, []string{word}))
		default:
			*to = n
		}
	}, func() Schema {
		return Schema{{"anyOf", []Schema{{{"type", "integer"}, {"minimum", least}}, {{"enum", []string{word}}}}}}
	}}
}

// Number is a number; least nil allows any.
func Number(least *float64) Kind[float64] {
	what := "a number"
	if least != nil {
		what = fmt.Sprintf("a number of at least %v", *least)
	}
	return Kind[float64]{what, scalar, func(v Value, to *float64) {
		n, err := strconv.ParseFloat(v.node.Value, 64)
		if v.word() != wordNumber || err != nil || least != nil && n < *least {
			v.Failf("must be %s, is %s", what, v.is())
			return
		}
		*to = n
	}, func() Schema {
		s := Schema{{"type", "number"}}
		if least != nil {
			s = append(s, Member{"minimum", *least})
		}
		return s
	}}
}

// Chance is a probability: more than 0, at most 1.
func Chance() Kind[float64] {
	const what = "a number of more than 0 and at most 1"
	return Kind[float64]{what, scalar, func(v Value, to *float64) {
		p, err := strconv.ParseFloat(v.node.Value, 64)
		if v.word() != wordNumber || err != nil || p <= 0 || p > 1 {
			v.Failf("must be %s, is %s", what, v.is())
			return
		}
		*to = p
	}, func() Schema { return Schema{{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}} }}
}

var durationForm = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`)

// Duration is a length of time with its unit: 500ms, 10s, 1m30s.
func Duration() Kind[time.Duration] {
	const what = "a time with its unit, like 500ms, 10s or 2m"
	return Kind[time.Duration]{what, scalar, func(v Value, to *time.Duration) {
		d, err := time.ParseDuration(v.node.Value)
		switch {
		case v.word() == wordNumber:
			v.Failf("must be %s, is %s without a unit", what, v.node.Value)
		case err != nil || !durationForm.MatchString(v.node.Value):
			v.Failf("must be %s, is %s", what, v.is())
		default:
			*to = d
		}
	}, func() Schema { return Schema{{"type", "string"}, {"pattern", durationForm.String()}} }}
}

var ageForm = regexp.MustCompile(`^([0-9]+d)?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))*$`)

// mostDays is what a time.Duration holds.
const mostDays = 106_751

// Age is a length of time of days, too, which are of 24 hours: 90d, 1d12h, 36h.
func Age() Kind[time.Duration] {
	const what = "a time with its unit, like 12h, 30d or 90d"
	return Kind[time.Duration]{what, scalar, func(v Value, to *time.Duration) {
		days, rest := "0", v.node.Value
		if before, after, ok := strings.Cut(rest, "d"); ok {
			days, rest = before, after
		}
		n, err := strconv.Atoi(days)
		var d time.Duration
		if rest != "" && err == nil {
			d, err = time.ParseDuration(rest)
		}
		switch {
		case v.word() == wordNumber:
			v.Failf("must be %s, is %s without a unit", what, v.node.Value)
		case v.node.Value == "" || err != nil || n >= mostDays || !ageForm.MatchString(v.node.Value):
			v.Failf("must be %s, is %s", what, v.is())
		default:
			*to = time.Duration(n)*24*time.Hour + d
		}
	}, func() Schema { return Schema{{"type", "string"}, {"pattern", ageForm.String()}, {"minLength", 1}} }}
}

// Date is a day, like 2026-07-14.
func Date() Kind[time.Time] {
	const what = "a day, like 2026-07-14"
	return Kind[time.Time]{what, scalar, func(v Value, to *time.Time) {
		t, err := time.Parse(time.DateOnly, v.node.Value)
		if err != nil {
			v.Failf("must be %s, is %s", what, v.is())
			return
		}
		*to = t
	}, func() Schema { return Schema{{"type", "string"}, {"format", "date"}} }}
}

// Enum is one of a set of words.
func Enum[S ~string](words ...S) Kind[S] {
	known := make([]string, len(words))
	for i, w := range words {
		known[i] = string(w)
	}
	what := "one of " + strings.Join(known, ", ")
	if len(known) == 1 {
		what = known[0]
	}
	return Kind[S]{what, scalar, func(v Value, to *S) {
		if !slices.Contains(known, v.node.Value) {
			v.Failf("must be %s, is %s%s", what, v.is(), suggest.Hint(v.node.Value, known))
			return
		}
		*to = S(v.node.Value)
	}, func() Schema { return Schema{{"enum", known}} }}
}

// Name is one of many words, too many to be listed in a message: unknown words
// the message about one that is not among them.
func Name(what string, words []string, unknown func(word string) string) Kind[string] {
	return Kind[string]{what, scalar, func(v Value, to *string) {
		if !slices.Contains(words, v.node.Value) {
			v.Failf("%s", unknown(v.node.Value))
			return
		}
		*to = v.node.Value
	}, func() Schema { return Schema{{"enum", words}} }}
}

// Then adds a check to a kind.
func Then[V any](k Kind[V], check func(v Value, got V)) Kind[V] {
	read := k.read
	k.read = func(v Value, to *V) {
		before := len(v.file.problems)
		if read(v, to); len(v.file.problems) == before {
			check(v, *to)
		}
	}
	return k
}

// Private reads like k, and tells what does not fit in the given words alone:
// for a place where somebody may have put what must not be repeated.
func Private[V any](k Kind[V], words string) Kind[V] {
	return Kind[V]{k.what, scalar | list | mapping | null, func(v Value, to *V) {
		before := len(v.file.problems)
		if k.Read(v, to); len(v.file.problems) > before {
			v.file.problems = v.file.problems[:before]
			v.Failf("%s", words)
		}
	}, k.schema}
}

// Map makes a kind of another; a false ok notes nothing by itself.
func Map[A, B any](k Kind[A], convert func(v Value, a A) (b B, ok bool)) Kind[B] {
	return Kind[B]{k.what, k.shapes, func(v Value, to *B) {
		var a A
		before := len(v.file.problems)
		if k.read(v, &a); len(v.file.problems) > before {
			return
		}
		if b, ok := convert(v, a); ok {
			*to = b
		}
	}, k.schema}
}

func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}

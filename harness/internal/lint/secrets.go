package lint

import (
	"strconv"
	"strings"
	"time"
)

var (
	secretOwner = Rule{
		"secret/no-owner", Error, "a secret that a model, a server or a header takes from the environment, and that nobody owns",
		"when it leaks or runs out, nobody knows who can make a new one",
		"declare it under secrets in retake.yaml, with owner and rotate_by", "L13",
	}
	secretOverdue = Rule{
		"secret/overdue", Error, "a secret past its rotate_by",
		"it was to be renewed by then: it may stop working any day, or be in hands that should not have it",
		"renew it, and set the next rotate_by", "L13",
	}
	secretDate = Rule{
		"secret/no-date", Warning, "a secret without rotate_by",
		"a key that is never renewed is in more places every year",
		"say by which day it has to be renewed, under rotate_by", "L13",
	}
)

func secretRules() []Rule {
	return []Rule{secretOwner, secretOverdue, secretDate, secretWritten, secretLooks}
}

// Secret is what the configuration says of a secret.
type Secret struct {
	Name, Owner string
	RotateBy    time.Time
	Place       Place
}

// Secrets holds secrets against the rules on a day.
func Secrets(secrets []Secret, today time.Time) []Finding {
	var out []Finding
	for _, s := range secrets {
		switch {
		case s.Owner == "":
			out = append(out, secretOwner.finding(s.Place, s.Name, "nobody owns the secret %s", s.Name))
		case s.RotateBy.IsZero():
			out = append(out, secretDate.finding(s.Place, s.Name, "the secret %s has no day by which it is renewed", s.Name))
		case !today.Before(s.RotateBy.AddDate(0, 0, 1)):
			out = append(out, secretOverdue.finding(s.Place, s.Name, "the secret %s was to be renewed by %s", s.Name, s.RotateBy.Format(time.DateOnly)))
		}
	}
	return Sort(out)
}

// numbers reads LINE:COLUMN.
func numbers(s string) (line, column int, ok bool) {
	a, b, two := strings.Cut(s, ":")
	line, err := strconv.Atoi(a)
	column, err2 := strconv.Atoi(b)
	return line, column, two && err == nil && err2 == nil
}

package redact

import (
	"fmt"
	"regexp"
	"strings"
)

// Looks names what a text shows that nobody outside should see, by its looks alone:
// keys and tokens, and of an error also internals: a stack trace, the address of an
// inner host, an absolute path, a database query.
func Looks(text string, isError bool) []string {
	var out []string
	for _, p := range secretPatterns {
		if strings.Contains(text, p.hint) && p.re.MatchString(text) {
			out = append(out, p.what)
		}
	}
	if !isError {
		return out
	}
	for _, p := range internalPatterns {
		if m := p.re.FindString(text); m != "" {
			out = append(out, fmt.Sprintf("%s: %.80q", p.what, m))
		}
	}
	return out
}

type pattern struct {
	hint string // must be in the text, to spare the regular expression
	re   *regexp.Regexp
	what string
}

var secretPatterns = []pattern{
	{"sk-", regexp.MustCompile(`\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}`), "what looks like an API key"},
	{"AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), "what looks like an API key"},
	{"AKIA", regexp.MustCompile(`\bAKIA[A-Z0-9]{16}\b`), "what looks like an access key"},
	{"gh", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{30,}`), "what looks like an access token"},
	{"xox", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{10,}`), "what looks like an access token"},
	{"PRIVATE KEY", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`), "a private key"},
	{"eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), "what looks like a token (JWT)"},
}

var internalPatterns = []pattern{
	{"", regexp.MustCompile(`goroutine \d+ \[|Traceback \(most recent call last\)|\bat [\w$.<>]+\([\w.]+:\d+\)|panic: `), "a stack trace"},
	{"", regexp.MustCompile(`https?://(?:localhost|127\.\d|10\.\d|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|[\w.-]+\.(?:internal|local|svc|lan|intranet)\b)[^\s"']*`), "an inner address"},
	{"", regexp.MustCompile(`\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01])|127\.\d{1,3})\.\d{1,3}\.\d{1,3}:\d+|\blocalhost:\d+|\[::1\]:\d+`), "an inner address"},
	{"", regexp.MustCompile(`\b(?:pq|SQLSTATE|SQLITE_[A-Z]+|ORA-\d+)\b:? |\bconstraint "|\b(?:UNIQUE|CHECK|FOREIGN KEY|NOT NULL) constraint failed\b|\brelation "\w+" does not exist|\bno such (?:table|column): |\bSQL logic error\b|\bsyntax error at or near\b`), "a database's words"},
	{"", regexp.MustCompile(`(?:^|[\s"'(=:])(?:/(?:home|root|usr|var|etc|opt|srv|tmp|app|Users|private)/[\w./-]+|[A-Z]:\\[\w\\.-]+)`), "an absolute path"},
	// In capitals the words are enough; in small letters they are also English.
	{"", regexp.MustCompile(`\b(?:SELECT\s.+\sFROM|INSERT\sINTO|UPDATE\s\w+\sSET|DELETE\sFROM)\s`), "a database query"},
	{"", regexp.MustCompile(`(?i)\b(?:select\s(?:\*|.+\sfrom\s.+\swhere\s)|insert\sinto\s\w+\s?\(|update\s\w+\sset\s\w+\s?=|delete\sfrom\s\w+\swhere\s)`), "a database query"},
}

package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// leaks is W8. The configuration's secrets are looked for in every text that the
// model is shown, whatever looks like a secret in every result; internals (stack
// traces, addresses of inner hosts, absolute paths) in results that are errors,
// since a tool whose business is files or logs may well return them.
func (r *run) leaks() {
	type shown struct {
		text    string
		isError bool
	}
	seen := map[shown]bool{} // a result is sent again with every later request
	r.promptLeaks()
	for _, q := range r.requests {
		for i := range q.Request.Messages {
			results, at := calls(&q.Request.Messages[i], wire.KindToolResult)
			for k, res := range results {
				text := resultText(res)
				isError := res.IsError || saysError(text)
				if key := (shown{text, isError}); !seen[key] {
					seen[key] = true
					r.leaksIn(q, block(i, at[k]), text, isError)
				}
			}
		}
	}
}

// saysError tells that a result is an error in the form of package tool; an API
// that has no mark for errors sends just that.
func saysError(text string) bool { return strings.HasPrefix(text, `{"ok":false`) }

func resultText(b *wire.Block) string {
	if len(b.Result) == 1 {
		return b.Result[0].Text
	}
	var parts []string
	for _, p := range b.Result {
		parts = append(parts, p.Text)
	}
	return strings.Join(parts, "\n")
}

// Leaks names what an error's text shows that nobody outside should see: one of
// the secrets, what looks like one, internals.
func Leaks(text string, secrets []string) []string {
	var out []string
	if holds(text, secrets) {
		out = append(out, aSecret)
	}
	eachLeak(text, true, func(what string) { out = append(out, what) })
	return out
}

// eachLeak gives what a text shows by its looks.
func eachLeak(text string, isError bool, found func(what string)) {
	for _, p := range secretPatterns {
		if strings.Contains(text, p.hint) && p.re.MatchString(text) {
			found(p.what)
		}
	}
	if !isError {
		return
	}
	for _, p := range internalPatterns {
		if m := p.re.FindString(text); m != "" {
			found(fmt.Sprintf("%s: %.80q", p.what, m))
		}
	}
}

func (r *run) leaksIn(q *journal.ModelAttempt, place, text string, isError bool) {
	found := func(what string) {
		r.breach(Breach{Request: q.Ordinal, Block: place, What: "a tool result shows the model " + what, Part: r.wroteResult(text)})
	}
	if r.hasSecret(text) {
		found(aSecret)
	}
	eachLeak(text, isError, found)
}

const aSecret = "a secret from the configuration"

func (r *run) hasSecret(text string) bool { return holds(text, r.Terms.Secrets) }

func holds(text string, secrets []string) bool {
	const shortest = 6 // anything shorter may be a word
	return slices.ContainsFunc(secrets, func(s string) bool { return len(s) >= shortest && strings.Contains(text, s) })
}

// wroteResult is the agent where it has shown the model something else than its
// tools were answered with.
func (r *run) wroteResult(text string) failure.Part {
	if r.ToolSeam && !slices.ContainsFunc(r.Calls, func(c *journal.ToolCall) bool { return c.Text == text }) {
		return failure.PartAgent
	}
	return failure.PartTool
}

// promptLeaks finds the configuration's secrets in what the model is told by
// anybody but the tools.
func (r *run) promptLeaks() {
	if len(r.Terms.Secrets) == 0 {
		return
	}
	seen := map[string]bool{}
	look := func(q *journal.ModelAttempt, place string, b *wire.Block) {
		if b.Kind != wire.KindText || seen[b.Text] {
			return
		}
		seen[b.Text] = true
		if r.hasSecret(b.Text) {
			r.breach(Breach{Request: q.Ordinal, Block: place, What: "a text shows the model " + aSecret})
		}
	}
	for _, q := range r.requests {
		for i := range q.Request.System {
			look(q, fmt.Sprintf("system/%d", i), &q.Request.System[i])
		}
		for i := range q.Request.Messages {
			for k := range q.Request.Messages[i].Blocks {
				look(q, block(i, k), &q.Request.Messages[i].Blocks[k])
			}
		}
	}
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
	{"", regexp.MustCompile(`(?:^|[\s"'(=:])(?:/(?:home|root|usr|var|etc|opt|srv|tmp|app|Users|private)/[\w./-]+|[A-Z]:\\[\w\\.-]+)`), "an absolute path"},
	// In capitals the words are enough; in small letters they are also English.
	{"", regexp.MustCompile(`\b(?:SELECT\s.+\sFROM|INSERT\sINTO|UPDATE\s\w+\sSET|DELETE\sFROM)\s`), "a database query"},
	{"", regexp.MustCompile(`(?i)\b(?:select\s(?:\*|.+\sfrom\s.+\swhere\s)|insert\sinto\s\w+\s?\(|update\s\w+\sset\s\w+\s?=|delete\sfrom\s\w+\swhere\s)`), "a database query"},
}

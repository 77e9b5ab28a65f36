package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/wire"
)

// leaks is W8. The configuration's secrets are looked for in every text that the
// model is shown, whatever looks like a secret in every result; internals (stack
// traces, addresses of inner hosts, absolute paths) in results that are errors,
// since a tool whose business is files or logs may well return them. What a tool
// would have shown and was kept from the model counts, too.
func (r *run) leaks() {
	for _, a := range r.Attempts {
		for _, what := range a.Withheld {
			r.breach(Breach{What: fmt.Sprintf("the error of %s would have shown the model %s; it was kept from it", a.Tool, what), Part: failure.PartTool})
		}
	}
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

func (r *run) leaksIn(q *journal.ModelAttempt, place, text string, isError bool) {
	found := func(what string) {
		r.breach(Breach{Request: q.Ordinal, Block: place, What: "a tool result shows the model " + what, Part: r.wroteResult(text)})
	}
	if r.hasSecret(text) {
		found(aSecret)
	}
	for _, what := range redact.Looks(text, isError) {
		found(what)
	}
}

const aSecret = "a secret from the configuration"

func (r *run) hasSecret(text string) bool {
	return slices.ContainsFunc(r.Terms.Secrets, func(s string) bool { return len(s) >= redact.Least && strings.Contains(text, s) })
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

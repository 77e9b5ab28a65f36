package contract

import (
	"fmt"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// pairing is W1.
func (r *run) pairing() {
	for _, q := range r.requests {
		msgs := q.Request.Messages
		for i := range msgs {
			made, at := calls(&msgs[i], wire.KindToolCall)
			var next *wire.Message
			if i+1 < len(msgs) {
				next = &msgs[i+1]
			}
			r.answered(q, i, made, at, next)
			r.orphans(q, i, msgs)
		}
	}
}

// answered checks that each call of message i has one result in the next.
func (r *run) answered(q *journal.ModelAttempt, i int, made []*wire.Block, at []int, next *wire.Message) {
	if len(made) == 0 {
		return
	}
	var results []*wire.Block
	if next != nil {
		results, _ = calls(next, wire.KindToolResult)
	}
	if byCount(made) {
		if len(results) != len(made) {
			r.breach(Breach{
				Request: q.Ordinal, Block: block(i, at[0]), Provider: said(q.API, "count"),
				What: fmt.Sprintf("%s, %s in the next message", counted(len(made), "call"), counted(len(results), "result")),
			})
		}
		return
	}
	for k, c := range made {
		n := 0
		for _, res := range results {
			if res.ID == c.ID {
				n++
			}
		}
		switch {
		case n == 0:
			r.breach(Breach{
				Request: q.Ordinal, Block: block(i, at[k]), Provider: said(q.API, "missing"),
				What: name(c) + " has no result in the next message",
			})
		case n > 1:
			r.breach(Breach{
				Request: q.Ordinal, Block: block(i, at[k]), Provider: said(q.API, "double"),
				What: fmt.Sprintf("%s has %s", name(c), counted(n, "result")),
			})
		}
	}
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// byCount tells that the calls carry no ids, so only their number can be held
// against the results.
func byCount(made []*wire.Block) bool {
	for _, c := range made {
		if c.ID != "" {
			return false
		}
	}
	return true
}

// orphans finds results in message i whose call is not in the message before.
func (r *run) orphans(q *journal.ModelAttempt, i int, msgs []wire.Message) {
	results, at := calls(&msgs[i], wire.KindToolResult)
	if len(results) == 0 || q.Request.Continues {
		return
	}
	var before []*wire.Block
	if i > 0 {
		before, _ = calls(&msgs[i-1], wire.KindToolCall)
	}
	for k, res := range results {
		known := res.ID == "" && len(before) > 0
		for _, c := range before {
			known = known || c.ID == res.ID
		}
		if !known {
			r.breach(Breach{
				Request: q.Ordinal, Block: block(i, at[k]), Provider: said(q.API, "orphan"),
				What: "a result answers " + name(res) + ", which the message before does not call",
			})
		}
	}
}

// uniqueIDs is W2.
func (r *run) uniqueIDs() {
	r.ranTwice()
	for _, q := range r.requests {
		seen := map[string]bool{}
		for i := range q.Request.Messages {
			made, at := calls(&q.Request.Messages[i], wire.KindToolCall)
			for k, c := range made {
				if c.ID != "" && seen[c.ID] {
					r.breach(Breach{
						Request: q.Ordinal, Block: block(i, at[k]), Provider: said(q.API, "unique"),
						What: fmt.Sprintf("the id %q is used for two calls", c.ID),
					})
				}
				seen[c.ID] = true
			}
		}
	}
}

// ranTwice finds an id that a turn uses for two calls, of which more than one ran:
// their results cannot be told apart.
func (r *run) ranTwice() {
	type key struct {
		turn *journal.ModelAttempt
		id   string
	}
	ran := map[key]int{}
	for _, c := range r.Calls {
		s := r.source(c.Ordinal)
		if c.CallID == "" || s.turn == nil || !s.many || !r.reached(c.Ordinal) {
			continue
		}
		k := key{s.turn, s.as}
		if ran[k]++; ran[k] == 2 {
			r.breach(Breach{Request: s.turn.Ordinal, What: fmt.Sprintf("the model uses the id %q for two calls, and both ran", c.CallID)})
		}
	}
}

// resultsFirst is W3.
func (r *run) resultsFirst() {
	for _, q := range r.requests {
		for i := range q.Request.Messages {
			m := &q.Request.Messages[i]
			_, at := calls(m, wire.KindToolResult)
			if len(at) > 0 && at[len(at)-1] != len(at)-1 {
				r.breach(Breach{
					Request: q.Ordinal, Block: block(i, at[len(at)-1]), Provider: said(q.API, "first"),
					What: "something stands before a tool result in its message",
				})
			}
		}
	}
}

// said is what an API answers (status 400) to a conversation that breaks a rule
// of pairing; "" where it is not known to notice. The words are those of the
// public API errors.
func said(api wire.API, rule string) string {
	switch api {
	case wire.AnthropicMessages:
		return map[string]string{
			"missing": "400 `tool_use` ids were found without `tool_result` blocks immediately after",
			"orphan":  "400 unexpected `tool_use_id` found in `tool_result` blocks",
			"double":  "400 each tool_use must have a single result",
			"unique":  "400 `tool_use` ids must be unique",
			"first":   "400 tool results must come first in content",
		}[rule]
	case wire.OpenAIChat:
		return map[string]string{
			"missing": "400 an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
			"orphan":  "400 messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
		}[rule]
	case wire.OpenAIResponses:
		return map[string]string{
			"missing": "400 no tool output found for function call",
			"orphan":  "400 no tool call found for function call output",
		}[rule]
	case wire.GeminiGenerate:
		if rule == "count" || rule == "missing" || rule == "orphan" {
			return "400 the number of function response parts must equal the number of function call parts"
		}
	}
	return ""
}

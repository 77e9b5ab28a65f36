package harness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
)

// onTheWire are the tool calls of complete answers. Of a call that the agent runs
// by itself nothing else is known but what the model is told.
func onTheWire(models []*journal.ModelAttempt) []*journal.ToolCall {
	var out []*journal.ToolCall
	for _, m := range models {
		if m.Response == nil || m.Response.Err != nil || !m.Response.Complete {
			continue
		}
		for _, c := range m.Response.Calls() {
			out = append(out, &journal.ToolCall{Ordinal: len(out) + 1, At: m.At + m.Latency, Tool: c.Name, CallID: c.ID, Args: c.Args, ArgsText: c.ArgsText})
		}
	}
	return out
}

// claim gives each tool call that came without an id, as calls by MCP do, that of the
// model's call that it is: the first of the name with the same arguments that is
// not taken yet, else the first of the name.
func (w *world) claim() {
	if w.params.Scenario.Agent == nil {
		return
	}
	asked := onTheWire(journal.Of[*journal.ModelAttempt](w.journal))
	ids := map[int]string{} // by the call's number
	for _, c := range journal.Of[*journal.ToolCall](w.journal) {
		i := slices.IndexFunc(asked, func(a *journal.ToolCall) bool {
			return sameName(a.Tool, c.Tool) && jsondoc.Hash(a.Args) == jsondoc.Hash(c.Args)
		})
		if i < 0 {
			i = slices.IndexFunc(asked, func(a *journal.ToolCall) bool { return sameName(a.Tool, c.Tool) })
		}
		if c.CallID != "" || i < 0 {
			continue
		}
		c.CallID = asked[i].CallID
		ids[c.Ordinal] = c.CallID
		asked = slices.Delete(asked, i, i+1)
	}
	for _, a := range journal.Of[*journal.ToolAttempt](w.journal) {
		a.CallID = cmp.Or(a.CallID, ids[a.Call])
	}
}

// sameName tells whether the model means the tool. Clients of MCP put the server's
// name before a tool's.
func sameName(asked, tool string) bool {
	return asked == tool || strings.HasSuffix(asked, "__"+tool)
}

// ownTools are the tools that a program has run by itself: the model was told more
// results of theirs than there were calls of the harness.
func (w *world) ownTools() map[string]bool {
	if w.params.Scenario.Agent == nil {
		return nil
	}
	made := slices.Clone(w.result.Calls)
	own := map[string]bool{}
	for _, asked := range onTheWire(w.result.Models) {
		i := slices.IndexFunc(made, func(c *journal.ToolCall) bool { return sameName(asked.Tool, c.Tool) })
		if i < 0 {
			if w.wasAnswered(asked) {
				own[asked.Tool] = true
			}
			continue
		}
		made = slices.Delete(made, i, i+1)
	}
	return own
}

// wasAnswered tells whether a request has a result of the call.
func (w *world) wasAnswered(c *journal.ToolCall) bool {
	return slices.ContainsFunc(w.result.Models, func(m *journal.ModelAttempt) bool {
		return m.Request != nil && slices.ContainsFunc(m.Request.Messages, func(msg wire.Message) bool {
			return slices.ContainsFunc(msg.Blocks, func(b wire.Block) bool {
				return b.Kind == wire.KindToolResult && b.ID == c.CallID && (b.ID != "" || b.Name == c.Tool)
			})
		})
	})
}

// toolSeam tells whether all tool calls have passed the harness.
func (w *world) toolSeam() bool { return len(w.own) == 0 }

// observed are the effects that are to be and that somebody counts. It warns of the
// others: what a program does by itself no ledger shows.
func (w *world) observed(expected map[string]int) map[string]int {
	out := maps.Clone(expected)
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		if !w.own[name] || slices.Contains(w.result.Probed, name) {
			continue
		}
		delete(out, name)
		w.result.Warnings = append(w.result.Warnings, fmt.Sprintf(
			"%s: the agent runs %s by itself, and its effects are not checked; count them where they are, under effects, or serve the tool (RETAKE_MCP_URL)",
			w.env.Scenario.Place("expect.effects."+name), name))
	}
	if len(out) == 0 && len(expected) > 0 {
		return nil
	}
	return out
}

// madeCalls are the calls of the task's last run, as far as they are known: those
// that have passed the harness, or else those of the wire.
func (w *world) madeCalls() []*journal.ToolCall {
	last := w.lastCalls()
	if w.toolSeam() {
		return last
	}
	models := w.result.Models
	if n := len(w.runs); n > 0 {
		models = w.runs[n-1].Models
	}
	return onTheWire(models)
}

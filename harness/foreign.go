package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/journal"
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

// ownTools are the tools that a program has run by itself: the model has called
// them more often than they were called of the harness. Clients of MCP put the
// server's name before a tool's.
func (w *world) ownTools() map[string]bool {
	if w.params.Scenario.Agent == nil {
		return nil
	}
	left := map[string]int{}
	for _, c := range w.result.Calls {
		left[c.Tool]++
	}
	own := map[string]bool{}
	for _, c := range onTheWire(w.result.Models) {
		name := c.Tool
		if i := strings.LastIndex(name, "__"); i >= 0 && left[name[i+2:]] > 0 {
			name = name[i+2:]
		}
		if left[name]--; left[name] < 0 {
			own[c.Tool] = true
		}
	}
	return own
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

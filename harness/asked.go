package harness

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
)

// compareAsked warns of what the scenario says and the agent's first request
// does not. An agent of the user's own may well have a prompt of its own; but
// who edits the scenario must see that nothing came of it.
func (w *world) compareAsked() {
	var first *wire.Request
	for _, m := range w.result.Models {
		if m.Request != nil {
			first = m.Request
			break
		}
	}
	if first == nil {
		return
	}
	s := w.env.Scenario
	ignored := func(field string) {
		w.result.Warnings = append(w.result.Warnings, fmt.Sprintf(
			"%s: the agent's first request does not have what the scenario says under %s", s.Place(field), field))
	}
	said := allText(first)
	for _, text := range s.System {
		if !strings.Contains(said, strings.TrimSpace(text)) {
			ignored("system")
			break
		}
	}
	if s.ToolChoice.Mode != wire.ChoiceUnset && s.ToolChoice.Mode != wire.ChoiceAuto &&
		(first.ToolChoice.Mode != s.ToolChoice.Mode || first.ToolChoice.Name != s.ToolChoice.Name) {
		ignored("tool_choice")
	}
	if s.Agent == nil && s.Stream != first.Stream {
		ignored("stream")
	}
	if s.MaxTokens > 0 && first.MaxTokens != s.MaxTokens {
		ignored("max_tokens")
	}
	for _, p := range s.Params {
		if !hasParam(first.Params, p) {
			ignored("params." + p.Name)
		}
	}
}

// allText is what the model is told in words.
func allText(r *wire.Request) string {
	var b strings.Builder
	add := func(blocks []wire.Block) {
		for i := range blocks {
			b.WriteString(blocks[i].Text)
			b.WriteByte('\n')
		}
	}
	add(r.System)
	for i := range r.Messages {
		add(r.Messages[i].Blocks)
	}
	return b.String()
}

func hasParam(have []wire.Field, want wire.Field) bool {
	for _, f := range have {
		if f.Name == want.Name {
			return jsondoc.Hash(f.Value) == jsondoc.Hash(want.Value)
		}
	}
	return false
}

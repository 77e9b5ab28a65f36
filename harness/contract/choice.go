package contract

import (
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// choice is W16.
func (r *run) choice() {
	for _, a := range r.answers {
		if a.Response.Stop != wire.StopDone && a.Response.Stop != wire.StopToolCalls {
			continue
		}
		made := a.Response.Calls()
		if why := brokenChoice(a.Request.ToolChoice, made); why != "" {
			r.breach(Breach{Request: a.Ordinal, What: why, Part: failure.PartModel})
		}
	}
}

func brokenChoice(c wire.ToolChoice, made []wire.Block) string {
	switch {
	case c.Mode == wire.ChoiceNone && len(made) > 0:
		return "tool_choice none, and the model called " + made[0].Name
	case c.Mode == wire.ChoiceAny && len(made) == 0:
		return "tool_choice any, and the model called nothing"
	case c.Mode == wire.ChoiceTool && len(made) == 0:
		return "tool_choice " + c.Name + ", and the model called nothing"
	case c.Mode == wire.ChoiceTool && slices.ContainsFunc(made, func(b wire.Block) bool { return b.Name != c.Name }):
		return "tool_choice " + c.Name + ", and the model called another tool"
	case c.NoParallel && len(made) > 1:
		return fmt.Sprintf("parallel calls are off, and the model made %d", len(made))
	}
	return ""
}

package harness

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// history are the rules that say whether an agent leads its conversation
// rightly: where one is broken, a miss is only what follows from it.
var history = []contract.Rule{"W1", "W2", "W3", "W4", "W11"}

// breachesBefore files the breaches that explain a miss, and tells whether there
// are any.
func (w *world) breachesBefore() bool {
	found := false
	for _, b := range contract.Breaches(w.result.Findings) {
		if slices.Contains(history, b.Rule) {
			w.breach(b)
			found = true
		}
	}
	return found
}

// toolsBefore files what tools that really run have done before a miss: that they
// broke, and what they did to the world. The miss may only follow from it.
func (w *world) toolsBefore() {
	said := map[string]bool{}
	for _, a := range w.result.Attempts {
		broke := a.Class == failure.ToolUnavailable || a.Class == failure.ToolTimeout || a.Class == failure.ToolBadOutput
		what := fmt.Sprintf("the tool %s: %s: %s", a.Tool, a.Code, a.Detail)
		if !broke || w.params.Executors[a.Tool] == nil || w.struckFaults() != "" || said[what] {
			continue
		}
		said[what] = true
		w.fail(Failure{
			Class: a.Class, Part: failure.PartTool, What: what,
			Why: "what the model is told of it is no longer what was recorded", Next: "mend the tool, or look why it cannot be reached; then run it again",
		}, "")
	}
	for _, b := range contract.Breaches(w.result.Findings) {
		if b.Part == failure.PartTool && (b.Rule == "W6" || b.Rule == "W8") {
			w.breach(b)
		}
	}
}

// missPart is the part whose change explains a miss of an agent that leads its
// conversation rightly. What such an agent sends beyond the first request is
// what the recordings and the tools told it.
func (w *world) missPart(m *cassette.Miss) failure.Part {
	if w.refusalChanged(m) {
		return failure.PartScenario
	}
	switch m.Cause {
	case cassette.CausePrompt, cassette.CauseTools, cassette.CauseParameters, cassette.CauseModel:
		return failure.PartScenario // it is what the scenario says, or what its agent makes of it
	case cassette.CauseArguments:
		return failure.PartCassette // the model's recording asks what the tools' does not know
	case cassette.CauseHistory:
		return w.historyPart(m)
	case cassette.CausePath, cassette.CauseHeaders:
		return failure.PartAgent
	}
	if w.retried() {
		return failure.PartTool // used up by further attempts
	}
	return failure.PartAgent
}

// refusalChanged tells that a call was refused by a guard or for want of an
// approval now and not when it was recorded, or the other way round, or in other
// words.
func (w *world) refusalChanged(m *cassette.Miss) bool {
	refused := slices.ContainsFunc(w.result.Calls, func(c *journal.ToolCall) bool {
		return c.Class == failure.ToolBlocked || c.Class == failure.ToolNotApproved
	})
	return slices.ContainsFunc(m.Differences, func(d jsondoc.Difference) bool {
		both := d.A + d.B
		return strings.Contains(both, tool.CodeBlocked) || strings.Contains(both, tool.CodeNotApproved) ||
			refused && strings.Contains(d.Pointer+"/", "/error/")
	})
}

func (w *world) retried() bool {
	for _, a := range w.result.Attempts {
		if a.Attempt > 1 {
			return true
		}
	}
	return false
}

// historyPart looks at the message in which the request differs: a tool's result
// is the tool's where it ran for real; all else was read from recordings.
func (w *world) historyPart(m *cassette.Miss) failure.Part {
	for _, a := range slices.Backward(w.result.Models) {
		if a.Class != failure.CassetteMiss || a.Request == nil || len(m.Differences) == 0 {
			continue
		}
		b := blockAt(a.API, a.Request, m.Differences[0].Pointer)
		if b != nil && b.Kind == wire.KindToolResult && w.params.Executors[w.toolOf(b)] != nil {
			return failure.PartTool
		}
		return failure.PartCassette
	}
	return failure.PartAgent
}

// toolOf is the tool whose call a result answers.
func (w *world) toolOf(result *wire.Block) string {
	for _, c := range w.result.Calls {
		if c.CallID == result.ID && result.ID != "" {
			return c.Tool
		}
	}
	return result.Name
}

// blockAt is the first block of the message (or item) that a pointer into the
// body leads to; nil when it leads elsewhere.
func blockAt(api wire.API, r *wire.Request, pointer string) *wire.Block {
	parts := strings.Split(pointer, "/")
	if len(parts) < 3 {
		return nil
	}
	at, err := strconv.Atoi(parts[2])
	if err != nil {
		return nil
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		n := span(api, m)
		if at < n && len(m.Blocks) > 0 {
			return &m.Blocks[min(at, len(m.Blocks)-1)]
		}
		at -= n
	}
	return nil
}

// span is how many elements of the body's list a neutral message takes.
func span(api wire.API, m *wire.Message) int {
	results := len(m.Blocks) > 0 && m.Blocks[0].Kind == wire.KindToolResult
	switch {
	case api == wire.OpenAIChat && results:
		return len(m.Blocks)
	case api == wire.OpenAIResponses && (results || m.Role == wire.RoleAssistant):
		return max(len(m.Blocks), 1)
	}
	return 1
}

// goldenPart is the part whose line is the first that is not the golden's.
func goldenPart(want, got []byte) failure.Part {
	wants := bytes.Split(want, []byte("\n"))
	for i, line := range bytes.Split(got, []byte("\n")) {
		if i < len(wants) && bytes.Equal(line, wants[i]) {
			continue
		}
		kind, rest, _ := strings.Cut(string(line), " ")
		switch {
		case kind == "attempt" && strings.HasPrefix(strings.TrimSpace(rest), "model"):
			return failure.PartModel
		case slices.Contains([]string{"assistant", "call", "stop", "reasoning", "refusal", "problem"}, kind):
			return failure.PartModel
		case kind == "result" || kind == "attempt":
			return failure.PartTool
		case slices.Contains([]string{"system", "developer", "user", "scenario", "model"}, kind):
			return failure.PartScenario
		}
		break
	}
	return failure.PartAgent
}

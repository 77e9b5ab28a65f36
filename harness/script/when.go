package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// When says which request a turn answers; a zero field allows any. With both, the
// code is that of the tool's result.
type When struct {
	Code string // of a tool result of the last turn: its error's code, or ok
	Tool string // a tool that gave a result of the last turn
	Call int    // the number of the model call in the run
}

// CodeOK is the code of a result that is no error.
const CodeOK = "ok"

// codeless is the code of an error that says none.
const codeless = "error"

// asked is what a request says that turns look at.
type asked struct {
	call    int
	results []result // of the last turn, in their order
}

type result struct{ tool, code string }

func (w When) fits(a *asked) bool {
	if w.Call != 0 && w.Call != a.call {
		return false
	}
	return w.Code == "" && w.Tool == "" || slices.ContainsFunc(a.results, func(r result) bool {
		return (w.Code == "" || w.Code == r.code) && (w.Tool == "" || w.Tool == r.tool)
	})
}

// String spells the condition: call 3, get_weather UPSTREAM_TIMEOUT.
func (w When) String() string {
	var parts []string
	if w.Call != 0 {
		parts = append(parts, "call "+strconv.Itoa(w.Call))
	}
	if what := strings.TrimSpace(w.Tool + " " + w.Code); what != "" {
		parts = append(parts, what)
	}
	if parts == nil {
		return "any request"
	}
	return strings.Join(parts, ", ")
}

func (a *asked) String() string {
	if len(a.results) == 0 {
		return "no tool result"
	}
	out := make([]string, len(a.results))
	for i, r := range a.results {
		out[i] = r.tool + " " + r.code
	}
	return strings.Join(out, ", ")
}

// resultsOf are the tool results since the model's last turn.
func resultsOf(r *wire.Request) []result {
	var out []result
	last := len(r.Messages)
	for last > 0 && r.Messages[last-1].Role != wire.RoleAssistant {
		last--
	}
	for i := range r.Messages[last:] {
		for _, b := range r.Messages[last+i].Blocks {
			if b.Kind == wire.KindToolResult {
				out = append(out, result{toolOf(r.Messages[:last], &b), codeOf(&b)})
			}
		}
	}
	return out
}

// toolOf is the tool that gave a result; not every API says it there.
func toolOf(before []wire.Message, b *wire.Block) string {
	if b.Name != "" {
		return b.Name
	}
	for i := range slices.Backward(before) {
		for _, c := range before[i].Blocks {
			if c.Kind == wire.KindToolCall && c.ID == b.ID {
				return c.Name
			}
		}
	}
	return ""
}

func codeOf(b *wire.Block) string {
	var text strings.Builder
	for _, part := range b.Result {
		text.WriteString(part.Text)
	}
	var said struct {
		OK    *bool `json:"ok"`
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	err := json.Unmarshal([]byte(text.String()), &said)
	switch failed := err == nil && said.OK != nil && !*said.OK; {
	case !failed && !b.IsError:
		return CodeOK
	case err != nil || said.Error.Code == "":
		return codeless
	}
	return said.Error.Code
}

// choose takes the first turn that was not said yet and fits. The lock is held.
func (m *Model) choose(a *asked) (int, error) {
	if m.said == nil {
		m.said = make([]bool, len(m.Turns))
	}
	for i := range m.Turns {
		if !m.said[i] && m.Turns[i].When.fits(a) {
			m.said[i] = true
			return i, nil
		}
	}
	return 0, failure.Errorf(failure.ScenarioInvalid, "script: %s, which brings %s: %s", m.request(a.call), a, m.unsaid())
}

// request names the request that is being answered: by its number in the run, and
// where the script counts otherwise, by its own. The lock is held.
func (m *Model) request(call int) string {
	if call == m.n {
		return fmt.Sprintf("model call %d", call)
	}
	return fmt.Sprintf("model call %d, request %d to the script", call, m.n)
}

// unsaid says why no turn is left, and what to do. The lock is held.
func (m *Model) unsaid() string {
	var waiting []string
	for i, said := range m.said {
		if !said {
			waiting = append(waiting, fmt.Sprintf("turn %d waits for %s", i+1, m.Turns[i].When))
		}
	}
	switch {
	case len(m.Turns) == 0:
		return "there are no turns; write one"
	case waiting != nil:
		return "no turn fits; " + strings.Join(waiting, ", ") + "; write one more, or change a condition"
	case len(m.Turns) == 1:
		return "the only turn has been said; write one more"
	default:
		return fmt.Sprintf("all %d turns have been said; write one more", len(m.Turns))
	}
}

// Left are the numbers of the turns that were never said, from 1.
func (m *Model) Left() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []int
	for i := range m.Turns {
		if m.said == nil || !m.said[i] {
			out = append(out, i+1)
		}
	}
	return out
}

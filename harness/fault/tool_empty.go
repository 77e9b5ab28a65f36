package fault

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// empty is a tool that finds nothing and says so. In real life that is an answer
// like any other, and half of all agents take it for an error. A right loop passes
// it on as it is: no error, no retry; the model tells the user.
var empty = Fault{
	Name:     "tool.empty",
	What:     "the tool finds nothing, and says so in the form that it promises",
	Breaks:   "nothing found is taken for an error, tried again, or filled with inventions",
	Right:    "passed on as a result; no error, no retry",
	Seen:     true,
	answered: true,
	fits: func(p *Place, _ *Spec) string {
		if p.Decl().Writes() {
			return "a tool that writes is not asked to find anything"
		}
		if _, ok := emptied(p.Spec, p.Result.Content); !ok {
			return "no result that says that nothing was found fits the output schema"
		}
		return ""
	},
	tool: func(_ context.Context, s *toolStrike) (tool.Result, error) {
		text, _ := emptied(s.spec, s.result.Content)
		return tool.Result{Content: text}, nil
	},
}

const foundNothing = `"reason":"nothing was found"`

// emptied is the result without what its lists hold, and with a reason where
// there may be one; of a result without lists a bare "nothing was found".
func emptied(spec *tool.Spec, content string) (string, bool) {
	candidates := []string{"{\"ok\":true," + foundNothing + "}"}
	if bare, ok := emptyLists(content); ok {
		candidates = []string{withReason(bare), bare}
	}
	for _, text := range candidates {
		if text != content && len(spec.Output.Check([]byte(text))) == 0 {
			return text, true
		}
	}
	return "", false
}

// withReason adds the reason to an object that gives none.
func withReason(text string) string {
	if text[0] != '{' || strings.Contains(text, `"reason"`) {
		return text
	}
	inner := strings.TrimSpace(text[1 : len(text)-1])
	if inner != "" {
		inner += ","
	}
	return "{" + inner + foundNothing + "}"
}

// emptyLists empties the outermost arrays of a JSON text; false when it has none
// that holds anything.
func emptyLists(content string) (string, bool) {
	dec := jsontext.NewDecoder(strings.NewReader(content))
	var out strings.Builder
	from, found := 0, false
	for {
		if dec.PeekKind() != '[' {
			if _, err := dec.ReadToken(); err != nil {
				break
			}
			continue
		}
		list, err := dec.ReadValue()
		if err != nil {
			return "", false
		}
		end := int(dec.InputOffset())
		out.WriteString(content[from:end-len(list)] + "[]")
		from, found = end, found || strings.TrimSpace(string(list[1:len(list)-1])) != ""
	}
	out.WriteString(content[from:])
	return strings.TrimSpace(out.String()), found && jsontext.Value(out.String()).IsValid()
}

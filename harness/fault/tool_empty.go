package fault

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// empty is a tool that finds nothing and says so. In real life that is an answer
// like any other, and half of all agents take it for an error. A right loop passes
// it on as it is: no error, no retry; the model tells the user.
var empty = Fault{
	Name:   "tool.empty",
	What:   "the tool finds nothing, and says so in the form that it promises",
	Breaks: "nothing found is taken for an error, tried again, or filled with inventions",
	Right:  "passed on as a result; no error, no retry",
	Seen:   true,
	rework: func(p *Place, _ *Spec) (content, why string) {
		if p.Decl().Writes() {
			return "", "a tool that writes is not asked to find anything"
		}
		return emptied(p.Spec, p.Result.Content)
	},
}

const foundNothing = `"reason":"nothing was found"`

// emptied is the result without what its lists hold, and with a reason where
// there may be one; of a result without lists a bare "nothing was found". Without
// such a result it says why there is none.
func emptied(spec *tool.Spec, content string) (text, why string) {
	candidates := []string{"{\"ok\":true," + foundNothing + "}"}
	switch bare, lists, held := emptyLists(content); {
	case held:
		candidates = []string{withReason(bare), bare}
	case lists:
		return "", "the tool finds nothing as it is"
	}
	for _, text := range candidates {
		if len(spec.Output.Check([]byte(text))) == 0 {
			return text, ""
		}
	}
	return "", "no result that says that nothing was found fits the output schema"
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

// emptyLists empties the outermost arrays of a JSON text, and tells whether there
// are any and whether they held anything. A text that is no JSON has none.
func emptyLists(content string) (text string, lists, held bool) {
	if !jsontext.Value(content).IsValid() {
		return content, false, false
	}
	dec := jsontext.NewDecoder(strings.NewReader(content))
	var out strings.Builder
	from := 0
	for {
		if dec.PeekKind() != '[' {
			if _, err := dec.ReadToken(); err != nil {
				break
			}
			continue
		}
		list, err := dec.ReadValue()
		if err != nil {
			break
		}
		end := int(dec.InputOffset())
		out.WriteString(content[from:end-len(list)] + "[]")
		from, lists = end, true
		held = held || strings.TrimSpace(string(list[1:len(list)-1])) != ""
	}
	out.WriteString(content[from:])
	return strings.TrimSpace(out.String()), lists, held
}

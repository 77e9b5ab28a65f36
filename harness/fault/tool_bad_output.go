package fault

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// badOutput is a result of another form than the tool promises. In real life the
// service behind it was changed. A right loop shows the model an error, never
// the result as if it were one.
var badOutput = Fault{
	Name:   "tool.bad_output",
	What:   "the tool does its work, and its result breaks its output schema",
	Breaks: "the model makes up what is missing",
	Right:  "an error of class tool_bad_output; never shown as success",
	Seen:   true,
	rework: func(p *Place, _ *Spec) (content, why string) {
		if p.Spec.Output == nil {
			return "", "the tool has no output schema"
		}
		return misshapen(p.Spec, p.Result.Content), ""
	},
}

// misshapen is the result with as little change as breaks the schema: without a
// member that is required, else of another type, else no JSON at all, which no
// schema allows.
func misshapen(spec *tool.Spec, content string) string {
	for _, text := range append(withoutOne(content), `{}`, `[]`, `null`, `"unexpected"`) {
		if len(spec.Output.Check([]byte(text))) > 0 {
			return text
		}
	}
	return "<html><body>moved</body></html>"
}

// withoutOne are the JSON objects that lack one of the members of this one.
func withoutOne(content string) []string {
	var members map[string]jsontext.Value
	if json.Unmarshal([]byte(content), &members) != nil {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		kept := members[name]
		delete(members, name)
		if text, err := json.Marshal(members, json.Deterministic(true)); err == nil {
			out = append(out, string(text))
		}
		members[name] = kept
	}
	return out
}

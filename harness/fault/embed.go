package fault

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// embed puts more into a result so that it keeps the form that its tool promises:
// into its longest text where that goes, else the next one. grow gets that text
// and the rest of the result, and gives the new text. A result without any text is
// replaced. why says that no way fits the output schema.
func embed(p *Place, grow func(old, rest string) string) (grown, why string) {
	content, output := p.Result.Content, p.Spec.Output
	for _, t := range texts(content) {
		head, tail := content[:t.from], content[t.to:]
		quoted, err := jsontext.AppendQuote(nil, grow(t.plain, head+`""`+tail))
		if err != nil {
			continue
		}
		if text := head + string(quoted) + tail; len(output.Check([]byte(text))) == 0 {
			return text, ""
		}
	}
	text := grow("", "")
	if !jsontext.Value(content).IsValid() {
		text = grow(content, "")
	}
	if len(output.Check([]byte(text))) > 0 {
		return "", "the output schema has no room for more text"
	}
	return text, ""
}

// jsonText is a string of a JSON text that is a value, not a name.
type jsonText struct {
	from, to int
	plain    string
}

// texts are the strings of a JSON text, the longest first; none of a text that is
// no JSON.
func texts(content string) []jsonText {
	if !jsontext.Value(content).IsValid() {
		return nil
	}
	dec := jsontext.NewDecoder(strings.NewReader(content))
	var out []jsonText
	for {
		if dec.PeekKind() != '"' {
			if _, err := dec.ReadToken(); err != nil {
				break
			}
			continue
		}
		quoted, err := dec.ReadValue()
		if err != nil {
			break
		}
		end := int(dec.InputOffset())
		if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 {
			continue // a member's name
		}
		plain, err := jsontext.AppendUnquote(nil, quoted)
		if err == nil {
			out = append(out, jsonText{end - len(quoted), end, string(plain)})
		}
	}
	slices.SortStableFunc(out, func(a, b jsonText) int { return len(b.plain) - len(a.plain) })
	return out
}

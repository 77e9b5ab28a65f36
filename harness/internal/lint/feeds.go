package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/render"
	"github.com/retake-harness/retake/harness/schema"
)

// The states of a widget.
const (
	stateResults = "results"
	stateEmpty   = "empty"
	stateError   = "error"
	// stateMarkup is a feed of the state of results whose texts are markup.
	stateMarkup = "markup"
)

// States are those that a widget has to show, in the order in which they are told.
func States() []string { return []string{stateResults, stateEmpty, stateError} }

// feed is what a widget is given to bring it into a state.
type feed struct {
	state  string
	made   bool           // of the schema, by us
	result jsontext.Value // {content, structuredContent, isError}
	texts  []field
}

// field is a text of what a widget is given, and its dotted path.
type field struct{ path, text string }

// last is the last name of the path.
func (b field) last() string { return b.path[strings.LastIndexByte(b.path, '.')+1:] }

var (
	reasonName  = regexp.MustCompile(`(?i)reason|message|note|hint|explanation|why|notice`)
	pictureName = regexp.MustCompile(`(?i)image|img|picture|photo|thumbnail|icon|logo|avatar`)
	unread      = regexp.MustCompile(`^\d{4}-\d\d|^[a-z][a-z0-9+.-]*:|^[\d.,]*$`) // dates, addresses and numbers are shown in other words
)

const onePixel = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="

// wrap makes a result of a tool call of what a project gives, or of a value.
func wrap(value jsontext.Value, isError bool) (jsontext.Value, jsontext.Value) {
	var whole struct {
		Content           jsontext.Value `json:"content"`
		StructuredContent jsontext.Value `json:"structuredContent"`
	}
	if json.Unmarshal(value, &whole) == nil && (whole.Content.Kind() == '[' || whole.StructuredContent.Kind() == '{') {
		return value, whole.StructuredContent
	}
	return encode(map[string]any{
		"content": []any{map[string]string{"type": "text", "text": string(value)}}, "structuredContent": value, "isError": isError,
	}), value
}

// givenFeed is a feed of what a project or a server has said.
func givenFeed(state string, value jsontext.Value) feed {
	result, structured := wrap(value, state == stateError)
	f := feed{state: state, result: result}
	var v any
	if json.Unmarshal(structured, &v) == nil {
		f.collect("", v)
	}
	return f
}

// collect notes the texts of a value.
func (f *feed) collect(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object(v).names() {
			f.collect(strings.TrimPrefix(path+"."+name, "."), v[name])
		}
	case []any:
		for _, e := range v {
			f.collect(path, e)
		}
	case string:
		if !unread.MatchString(v) {
			f.texts = append(f.texts, field{path, v})
		}
	}
}

// madeFeed makes up what brings a widget into a state, of what its tool says that it
// answers. why says why there is none.
func madeFeed(t *Tool, state string) (f feed, why string) {
	f = feed{state: state, made: true}
	root := objectOf(t.Output)
	compiled, err := schema.Compile(t.Output)
	if state == stateError {
		value := encode(map[string]any{"ok": false, "error": map[string]any{
			"code": "UPSTREAM_UNAVAILABLE", "message": "The service does not answer just now.", "retryable": true,
		}})
		if root == nil || err == nil && len(compiled.Check(value)) == 0 {
			f.result, _ = wrap(value, true)
		} else { // its error is no structured content
			f.result = encode(map[string]any{"content": []any{map[string]string{"type": "text", "text": string(value)}}, "isError": true})
		}
		f.texts = []field{{"error.message", "The service does not answer just now."}}
		return f, ""
	}
	if root == nil || err != nil {
		return f, fmt.Sprintf("%q says nothing of what it answers", t.Name)
	}
	m := &maker{root: root, feed: &f}
	value := encode(m.value(root, "", 0, deepest))
	if wrong := compiled.Check(value); len(wrong) > 0 {
		return f, fmt.Sprintf("no answer of %q could be made up that its schema allows (%s)", t.Name, wrong[0])
	}
	f.result, _ = wrap(value, false)
	return f, ""
}

// maker makes up a whole value of a schema: each property, arrays of two, texts that
// are found again.
type maker struct {
	root object
	feed *feed
}

func (m *maker) value(s object, path string, nth, left int) any {
	if left == 0 {
		return nil
	}
	if ref := s.text("$ref"); strings.HasPrefix(ref, "#/") {
		return m.value(target(m.root, ref), path, nth, left-1)
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if enum, _ := s["enum"].([]any); len(enum) > 0 {
		return enum[0]
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if forms := formsOf(s, word); len(forms) > 0 && s.object("properties") == nil {
			return m.value(forms[0], path, nth, left-1)
		}
	}
	switch {
	case s.isType("object") || s.object("properties") != nil:
		return m.object(s, path, nth, left)
	case s.isType("array"):
		return m.array(s, path, left)
	case s.isType("integer"), s.isType("number"):
		n, _ := number(s).(float64)
		if most, ok := s["maximum"].(float64); !ok || most >= n+1200 {
			n += float64(1200 + 350*nth)
		}
		return n
	case s.isType("boolean"):
		return true
	case s.isType("null"):
		return nil
	}
	return m.text(s, path, nth)
}

// formsOf are the forms that a value may have, without those of an error, and null
// last.
func formsOf(s object, word string) []object {
	forms, _ := s[word].([]any)
	var out, null []object
	for _, form := range forms {
		o, _ := form.(map[string]any)
		switch form := object(o); {
		case slices.Contains(form.texts("required"), "error"):
		case form.isType("null"):
			null = append(null, form)
		case form != nil:
			out = append(out, form)
		}
	}
	return append(out, null...)
}

func (m *maker) object(s object, path string, nth, left int) any {
	out := map[string]any{}
	required := s.texts("required")
	props := s.object("properties")
	for _, name := range props.names() {
		deep := strings.Count(path, ".") > 3 // a schema may contain itself
		if !slices.Contains(required, name) && (deep || m.leaveOut(path, name)) {
			continue
		}
		out[name] = m.value(props.object(name), strings.TrimPrefix(path+"."+name, "."), nth, left-1)
	}
	return out
}

// leaveOut tells what of the top of an answer does not belong to the state.
func (m *maker) leaveOut(path, name string) bool {
	failed := strings.HasPrefix(strings.ToLower(name), "err")
	return path == "" && (failed || m.feed.state != stateEmpty && reasonName.MatchString(name))
}

func (m *maker) array(s object, path string, left int) any {
	n := 2
	if most, ok := s["maxItems"].(float64); ok {
		n = min(n, int(most))
	}
	if m.feed.state == stateEmpty || left < deepest/4 {
		n = 0
	}
	if least, ok := s["minItems"].(float64); ok {
		n = max(n, min(int(least), mostOfAKind))
	}
	out := make([]any, 0, n)
	for i := range n {
		out = append(out, m.value(s.object("items"), path, i, left-1))
	}
	return out
}

// text makes a text that says of which field it is. One that has a form of its own
// is not looked for in the page.
func (m *maker) text(s object, path string, nth int) string {
	name := field{path: path}.last()
	fits := s.text("format") == "" && s.text("pattern") == ""
	switch {
	case pictureName.MatchString(name) && (fits || strings.HasPrefix(s.text("format"), "uri")):
		return onePixel
	case !fits || strings.Contains(strings.ToLower(name), "url"):
		if strings.Contains(strings.ToLower(name), "url") {
			return "https://example.com/"
		}
		return word(s)
	}
	made := fmt.Sprintf("%s %d", capital(strings.Join(wordsOf(name), " ")), nth+1)
	if m.feed.state == stateMarkup {
		made = render.Markup
	}
	if least, ok := s["minLength"].(float64); ok && len(made) < int(least) {
		return word(s)
	}
	if most, ok := s["maxLength"].(float64); ok && len(made) > int(most) {
		return word(s)
	}
	m.feed.texts = append(m.feed.texts, field{path, made})
	return made
}

func capital(s string) string {
	if s == "" {
		return "Text"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

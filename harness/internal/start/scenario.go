package start

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Header is what a scenario's file says that no recording tells.
type Header struct {
	Why, Owner string
	Ignore     []string // JSON pointers that do not count in finding a recording
	Calls      bool     // expects the recorded tool calls
}

// Scenario is the scenario file that leads the conversation again. All but later
// turns and what is expected comes from the first request. An error says what of it
// a scenario cannot say.
func (c *Conversation) Scenario(h Header) ([]byte, error) {
	first := c.Requests[0]
	w := &scenarioFile{}
	w.add("why", h.Why)
	w.add("owner", h.Owner)
	if err := c.messages(w); err != nil {
		return nil, err
	}
	w.add("model", first.Model)
	w.add("api", c.API)
	if first.Stream {
		w.add("stream", true)
	}
	if first.MaxTokens > 0 {
		w.add("max_tokens", first.MaxTokens)
	}
	w.params(first.Params)
	w.toolChoice(&first.ToolChoice)
	if ignore := append(slices.Clone(h.Ignore), c.marks()...); len(ignore) > 0 {
		w.add("replay", map[string]any{"ignore": ignore})
	}
	if h.Calls {
		w.expect(c.calls(), first.Tools)
	}
	w.tools(first.Tools)
	return w.text, w.err
}

// scenarioFile is a scenario being written.
type scenarioFile struct {
	text []byte
	err  error
}

func (w *scenarioFile) raw(name string, v jsontext.Value) { w.text = appendField(w.text, 0, name, v) }

func (w *scenarioFile) add(name string, value any) {
	v, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil && w.err == nil {
		w.err = failure.Errorf(failure.CassetteInvalid, "%s cannot be written into a scenario: %w", name, err)
		return
	}
	w.raw(name, v)
}

// params writes what the scenario has no field of its own for.
func (w *scenarioFile) params(fields []wire.Field) {
	var params []byte
	for _, p := range fields {
		if p.Name == "stream" || p.Name == "tool_choice" { // spelled-out defaults, which change nothing
			continue
		}
		params = append(rawjson.Quote(append(params, ','), p.Name), ':')
		params = append(params, p.Value...)
	}
	if params != nil {
		params[0] = '{'
		w.raw("params", append(params, '}'))
	}
}

// marks are rules for what changes no answer and differs from client to client:
// where the marks of the cache's end lie, which move on with each request, and
// whether an item that is sent back says that it was completed.
func (c *Conversation) marks() []string {
	has := func(i int, text string) bool {
		return bytes.Contains(c.File.Interactions[i].Request.Body, []byte(text))
	}
	last := c.Interactions[len(c.Interactions)-1]
	switch {
	case c.API == wire.AnthropicMessages && slices.ContainsFunc(c.Interactions, func(i int) bool { return has(i, `"cache_control"`) }):
		return []string{"/system/*/cache_control", "/messages/*/content/*/cache_control"}
	case c.API == wire.OpenAIResponses && has(last, `"function_call"`) && !has(last, `"status"`):
		return []string{"/input/*/status"}
	}
	return nil
}

// messages writes what is said before the model's first turn, and the user's turns.
func (c *Conversation) messages(w *scenarioFile) error {
	first := c.Requests[0]
	var system []string
	for _, b := range first.System {
		system = append(system, literal(b.Text))
	}
	var opening []map[wire.Role]string
	last := len(first.Messages) - 1
	for i := range max(last, 0) {
		m := &first.Messages[i]
		text, err := c.plain(m)
		if err != nil {
			return err
		}
		if m.Role == wire.RoleSystem && opening == nil {
			system = append(system, text)
			continue
		}
		opening = append(opening, map[wire.Role]string{m.Role: text})
	}
	if len(system) == 1 {
		w.add("system", system[0])
	} else if system != nil {
		w.add("system", system)
	}
	if opening != nil {
		w.add("opening", opening)
	}
	turns, err := c.turns()
	switch {
	case err != nil:
		return err
	case len(turns) == 0:
		return failure.Errorf(failure.CassetteInvalid, "%s: the user says nothing in the conversation", c.File.Name)
	case len(turns) == 1:
		w.add("task", turns[0])
	default:
		w.add("turns", turns)
	}
	return nil
}

// turns is what the user says: at the end of the first request, and wherever a later
// one has more of it.
func (c *Conversation) turns() ([]string, error) {
	first := c.Requests[0]
	said := slices.Clone(first.Messages[max(len(first.Messages)-1, 0):])
	var out []string
	for _, m := range append(said, c.later()...) {
		if m.Role != wire.RoleUser || slices.ContainsFunc(m.Blocks, func(b wire.Block) bool { return b.Kind == wire.KindToolResult }) {
			continue
		}
		text, err := c.plain(&m)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// plain is the text of a message that is nothing else.
func (c *Conversation) plain(m *wire.Message) (string, error) {
	if len(m.Blocks) != 1 || m.Blocks[0].Kind != wire.KindText {
		return "", failure.Errorf(failure.CassetteInvalid, "%s: a message of the %s's is more than one text (an image, several parts, an answer of tools before the first request), which a scenario cannot say; replay the recorded agent itself against the cassette", c.File.Name, m.Role)
	}
	return literal(m.Blocks[0].Text), nil
}

// literal keeps a text from being read as one with placeholders.
func literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

func (w *scenarioFile) toolChoice(c *wire.ToolChoice) {
	switch c.Mode {
	case wire.ChoiceUnset:
	case wire.ChoiceTool:
		w.add("tool_choice", map[string]string{"tool": c.Name})
	default:
		w.add("tool_choice", c.Mode)
	}
	if c.NoParallel {
		w.add("parallel_tool_calls", false)
	}
}

// writtenTool is a tool's declaration.
type writtenTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Input       jsontext.Value `json:"input,omitzero"`
	Extra       jsontext.Value `json:"extra,omitzero"`
	Provider    jsontext.Value `json:"provider,omitzero"`
}

func (w *scenarioFile) tools(tools []wire.Tool) {
	list := []writtenTool{}
	for _, t := range tools {
		list = append(list, writtenTool{t.Name, t.Description, t.Schema, t.Extra, t.Raw})
	}
	w.add("tools", list)
}

// expect asks for the recorded calls. An argument that is an object is compared as
// one, even if it looks like a matcher.
func (w *scenarioFile) expect(calls []wire.Block, tools []wire.Tool) {
	if len(calls) == 0 {
		return
	}
	list := []byte{'['}
	for i := range calls {
		if i > 0 {
			list = append(list, ',')
		}
		list = appendCall(list, &calls[i], !slices.ContainsFunc(tools, func(t wire.Tool) bool { return t.Name == calls[i].Name }))
	}
	w.raw("expect", append(append([]byte(`{"calls":`), list...), "]}"...))
}

func appendCall(dst []byte, b *wire.Block, undeclared bool) []byte {
	dst = rawjson.Quote(append(dst, `{"tool":`...), b.Name)
	if undeclared {
		dst = append(dst, `,"undeclared":true`...)
	}
	args, err := jsondoc.Canonical(nil, b.Args)
	if err != nil || len(args) == 0 || args[0] != '{' {
		return append(dst, `,"args_match":"ignore"}`...)
	}
	dst = append(dst, `,"args":{`...)
	for c, n := rawjson.InObject(args), 0; c.More(); n++ {
		name, v := c.Member()
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.Quote(dst, name), ':')
		if v[0] == '{' {
			dst = append(append(append(dst, `{"equals":`...), v...), '}')
			continue
		}
		dst = append(dst, v...)
	}
	return append(dst, "}}"...)
}

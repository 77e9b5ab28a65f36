package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/agent"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// conversation is what one agent and its model said to each other in a
// recording of somebody else's.
type conversation struct {
	file         *cassette.File
	whole        bool // the file has no other
	api          wire.API
	codec        wire.Codec
	requests     []*wire.Request
	interactions []int // their places in the file
}

// conversations takes a recording apart. A request belongs to the conversation
// with whose first request it begins.
func conversations(f *cassette.File) ([]*conversation, error) {
	var out []*conversation
	for i := range f.Interactions {
		q := &f.Interactions[i].Request
		api, ok := codec.Detect(q.Method, q.URL, q.Body)
		if !ok {
			return nil, fmt.Errorf("interaction %d is no model call", i+1)
		}
		c, _ := codec.For(api)
		req, err := c.DecodeRequest(q.URL, q.Body)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(out, func(c *conversation) bool {
			return c.api == api && wire.HasPrefix(req.Messages, c.requests[0].Messages)
		})
		if at < 0 {
			at = len(out)
			out = append(out, &conversation{file: f, api: api, codec: c})
		}
		out[at].requests = append(out[at].requests, req)
		out[at].interactions = append(out[at].interactions, i)
	}
	if len(out) == 1 {
		out[0].whole = true
	}
	return out, nil
}

// cassette is the conversation's part of the recording.
func (c *conversation) cassette() *cassette.File {
	part := *c.file
	part.Version, part.Interactions = 2, nil
	for _, i := range c.interactions {
		part.Interactions = append(part.Interactions, c.file.Interactions[i])
	}
	return &part
}

// written is a scenario file, as JSON, which is YAML.
type written struct {
	Why        string                    `json:"why"`
	Owner      string                    `json:"owner"`
	System     []string                  `json:"system,omitempty"`
	Opening    []map[wire.Role]string    `json:"opening,omitempty"`
	Turns      []string                  `json:"turns"`
	Model      string                    `json:"model"`
	API        wire.API                  `json:"api"`
	Stream     bool                      `json:"stream"`
	MaxTokens  int                       `json:"max_tokens,omitzero"`
	Params     map[string]jsontext.Value `json:"params,omitempty"`
	Tools      []writtenTool             `json:"tools"`
	ToolChoice wire.ChoiceMode           `json:"tool_choice,omitzero"`
	Parallel   bool                      `json:"parallel_tool_calls"`
	Replay     struct {
		Ignore []string `json:"ignore,omitempty"`
	} `json:"replay"`
	Expect struct {
		Golden bool `json:"golden"`
	} `json:"expect"`
}

type writtenTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Input       jsontext.Value `json:"input,omitzero"`
	Extra       jsontext.Value `json:"extra,omitzero"`
	Provider    jsontext.Value `json:"provider,omitzero"`
}

// write says as a scenario file what it takes to lead the conversation again:
// all but the tool results and later turns comes from the first request.
func (c *conversation) write(ignore []string) (*written, error) {
	first := c.requests[0]
	w := &written{
		Why: "A recording is led again.", Owner: "retake", Model: first.Model, API: c.api, Stream: first.Stream,
		MaxTokens: first.MaxTokens, Params: map[string]jsontext.Value{}, Tools: []writtenTool{},
		ToolChoice: first.ToolChoice.Mode, Parallel: !first.ToolChoice.NoParallel,
	}
	w.Replay.Ignore = ignore
	for _, p := range first.Params {
		w.Params[p.Name] = p.Value
	}
	for _, b := range first.System {
		w.System = append(w.System, literal(b.Text))
	}
	for _, t := range first.Tools {
		w.Tools = append(w.Tools, writtenTool{t.Name, t.Description, t.Schema, t.Extra, t.Raw})
	}
	last := len(first.Messages) - 1
	for i := range first.Messages[:last] {
		m := &first.Messages[i]
		text, err := plain(m)
		if err != nil {
			return nil, err
		}
		if m.Role == wire.RoleSystem && len(w.Opening) == 0 {
			w.System = append(w.System, text)
			continue
		}
		w.Opening = append(w.Opening, map[wire.Role]string{m.Role: text})
	}
	return w, c.turns(w)
}

// turns finds what the user says: at the end of the first request, and wherever
// a later one has more of it.
func (c *conversation) turns(w *written) error {
	from := len(c.requests[0].Messages) - 1
	for _, m := range c.requests[len(c.requests)-1].Messages[from:] {
		if m.Role != wire.RoleUser || hasResults(&m) {
			continue
		}
		text, err := plain(&m)
		if err != nil {
			return err
		}
		w.Turns = append(w.Turns, text)
	}
	return nil
}

// scenario writes the file and loads it.
func (c *conversation) scenario(t *testing.T, name string, ignore []string) *scenario.Scenario {
	t.Helper()
	w, err := c.write(ignore)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(w, jsontext.Multiline(true))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(name)+".yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(dir, name, scenario.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// literal keeps a text from being read as one with placeholders.
func literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// plain is the text of a message that is nothing else.
func plain(m *wire.Message) (string, error) {
	if len(m.Blocks) != 1 || m.Blocks[0].Kind != wire.KindText {
		return "", fmt.Errorf("a message of role %s is more than a text", m.Role)
	}
	return literal(m.Blocks[0].Text), nil
}

func hasResults(m *wire.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b wire.Block) bool { return b.Kind == wire.KindToolResult })
}

// recordedTools answers calls as the recorded agent's tools did: by the call's
// id, and where client and provider do not share ids, by its number.
type recordedTools struct {
	byID    map[string]wire.Block
	inOrder []wire.Block
}

func (c *conversation) tools() *recordedTools {
	t := &recordedTools{byID: map[string]wire.Block{}}
	for _, m := range c.requests[len(c.requests)-1].Messages[len(c.requests[0].Messages):] {
		for _, b := range m.Blocks {
			if b.Kind == wire.KindToolResult {
				t.byID[b.ID] = b
				t.inOrder = append(t.inOrder, b)
			}
		}
	}
	return t
}

// Execute implements tool.Executor.
func (t *recordedTools) Execute(_ context.Context, c tool.Call) (tool.Result, error) {
	b, ok := t.byID[c.ID]
	switch {
	case ok && c.ID != "":
	case c.Ordinal <= len(t.inOrder):
		b = t.inOrder[c.Ordinal-1]
	default:
		return tool.Result{}, failure.Errorf(failure.CassetteMiss, "the recording has no result of call %d, %s", c.Ordinal, c.Tool)
	}
	var text strings.Builder
	for _, part := range b.Result {
		text.WriteString(part.Text)
	}
	if b.IsError {
		return tool.Result{Err: &tool.Error{Code: tool.CodeUpstream, Message: text.String(), Class: failure.ToolFailed}}, nil
	}
	return tool.Result{Content: text.String()}, nil
}

// lead has the reference loop lead the conversation again.
func (c *conversation) lead(t *testing.T, s *scenario.Scenario) *harness.Result {
	t.Helper()
	dir, model := t.TempDir(), s.Models[0]
	path := harness.ModelCassette(dir, s.Name, model)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if c.whole {
		copyFile(t, c.file.Name, path)
	} else if err := cassette.Save(path, c.cassette()); err != nil {
		t.Fatal(err)
	}
	p := harness.Params{
		Scenario: s, Model: model, API: c.api, BaseURL: c.baseURL(t), Agent: agent.Loop{}, CassetteDir: dir,
		Executors: map[string]tool.Executor{},
	}
	tools := c.tools()
	for i := range s.Tools {
		p.Executors[s.Tools[i].Name] = tools
	}
	return harness.Exec(t.Context(), p)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// baseURL is what the recorded agent had for one: the URL without the API's
// path, with the parts of the query that are not the API's.
func (c *conversation) baseURL(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(c.file.Interactions[c.interactions[0]].Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	path, own, _ := strings.Cut(c.codec.Path(c.requests[0].Model, c.requests[0].Stream), "?")
	before, found := strings.CutSuffix(u.Path, path)
	if !found {
		_, path, _ = strings.Cut(path[1:], "/")
		before, found = strings.CutSuffix(u.Path, "/"+path)
	}
	if !found {
		t.Fatalf("the path %s does not end in %s", u.Path, path)
	}
	query := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool { return pair == "" || pair == own })
	base := u.Scheme + "://" + u.Host + before
	if len(query) > 0 {
		base += "?" + strings.Join(query, "&")
	}
	return base
}

// said is a run's transcript without its head and its outcome: the conversation
// alone.
func said(t *testing.T, transcript []byte) string {
	t.Helper()
	lines := bytes.SplitAfter(transcript, []byte("\n"))
	if len(lines) < 4 || !bytes.HasPrefix(lines[len(lines)-2], []byte("outcome")) {
		t.Fatalf("no transcript of a whole run:\n%s", transcript)
	}
	return string(bytes.Join(lines[2:len(lines)-2], nil))
}

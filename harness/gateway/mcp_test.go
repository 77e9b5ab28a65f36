package gateway_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// block is one of an answer's, or of what is said to the model.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitempty"`
	ID        string         `json:"id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Input     jsontext.Value `json:"input,omitempty"`
	ToolUseID string         `json:"tool_use_id,omitempty"`
	Content   string         `json:"content,omitempty"`
}

type said struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// loops is an agent that calls the tools of the scenario by MCP.
func loops() {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "loops", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Getenv("RETAKE_MCP_URL"), DisableStandaloneSSE: true}, nil)
	check(err)
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	check(err)
	names := make([]string, len(list.Tools))
	for i, t := range list.Tools {
		names[i] = t.Name
	}
	fmt.Println("tools:", strings.Join(names, " "))
	history := []said{{"user", []block{{Type: "text", Text: os.Args[1]}}}}
	for {
		answer := turn(history)
		history = append(history, said{"assistant", answer})
		var results []block
		for _, b := range answer {
			if b.Type == "tool_use" {
				res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: b.Name, Arguments: b.Input})
				check(err)
				results = append(results, block{Type: "tool_result", ToolUseID: b.ID, Content: res.Content[0].(*mcp.TextContent).Text})
			}
		}
		if results == nil {
			return
		}
		history = append(history, said{"user", results})
	}
}

func turn(history []said) []block {
	body, err := json.Marshal(map[string]any{"model": os.Getenv("RETAKE_MODEL"), "max_tokens": 64, "messages": history}, json.Deterministic(true))
	check(err)
	resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(string(body)))
	check(err)
	defer resp.Body.Close()
	var answer struct {
		Content []block `json:"content"`
	}
	check(json.UnmarshalRead(resp.Body, &answer))
	return answer.Content
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A program's calls by MCP go the way of all tool calls: they are checked, guarded,
// counted, and known as those that the model made.
func TestToolsByMCP(t *testing.T) {
	s := open(t, "loops", "|tool_calls: 2, calls: [{tool: book, args: {guests: 2}}, close_house], effects: {book: 1}, attempts: 3, told: [BLOCKED_BY_POLICY, booked]")
	write(t, s, "tools:\n  - {name: close_house}\n"+
		"  - {name: book, description: Books a table., input: {type: object, properties: {guests: {type: integer}}, required: [guests]}}\nguard: [{tool: close_house, reason: Ask first.}]\n")
	var out strings.Builder
	sc, err := s.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Params(sc, "m-1", suite.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	p.Transport = &script.Model{API: wire.AnthropicMessages, Name: "m-1", Turns: []script.Turn{
		{Calls: []script.Call{{ID: "toolu_1", Name: "book", Args: `{"guests":2}`}}},
		{Calls: []script.Call{{ID: "toolu_2", Name: "close_house", Args: `{}`}}},
		{Text: "Done."},
	}}
	p.Executors = map[string]tool.Executor{"book": tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Content: `{"ok":"booked"}`}, nil
	})}
	r := harness.Exec(t.Context(), p)
	if r.Verdict != harness.Pass {
		t.Errorf("%+v", r.Failures)
	}
	if out.String() != "tools: close_house book\n" {
		t.Errorf("listed: %q", out.String())
	}
	var ids []string
	for _, c := range r.Calls {
		ids = append(ids, c.CallID)
	}
	if diff := cmp.Diff([]string{"toolu_1", "toolu_2"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	for _, f := range r.Findings {
		if f.Rule == "W13" && f.State != contract.Held {
			t.Errorf("a blocked call: %s", f.State)
		}
	}
}

// write puts more into the scenario a.
func write(t *testing.T, s *suite.Suite, more string) {
	t.Helper()
	path := s.Dirs.Scenarios + "/a.yaml"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "attempts: 1, ", "", 1) + more)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Eight programs at once ask a gateway each, and none sees another's answers.
func TestProgramsAtOnce(t *testing.T) {
	s := open(t, "asks", "")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			want := "Hello " + base64.StdEncoding.EncodeToString([]byte{byte(i)})
			if r := exec(t, s, suite.Options{}, script.Turn{Text: want}); r.Outcome.Answer != want || r.Verdict != harness.Pass {
				t.Errorf("%q: %q, %+v", want, r.Outcome.Answer, r.Failures)
			}
		})
	}
	wg.Wait()
}

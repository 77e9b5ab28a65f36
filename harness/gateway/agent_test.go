package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
)

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){
		"asks":   func() { fmt.Println("said: " + asks(strings.Join(os.Args[1:], " "))) },
		"stdin":  func() { text, _ := io.ReadAll(os.Stdin); asks(string(text)) },
		"env":    func() { asks(os.Getenv("MY_TASK")) },
		"silent": func() {},
		"loops":  loops,
		"deaf":   deaf,
		// Each starts a deaf program, and ends or waits.
		"deserts": func() { asks("x"); grandchild() },
		"ignores": func() { asks("x"); grandchild(); deaf() },
		"fails":   func() { asks("x"); fmt.Fprintln(os.Stderr, "out of ideas"); os.Exit(3) },
	})
}

// asks asks the model once, as any program would.
func asks(task string) string {
	body := fmt.Sprintf(`{"model":%q,"max_tokens":64,"messages":[{"role":"user","content":%q}]}`, os.Getenv("RETAKE_MODEL"), task)
	req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ""
	}
	defer resp.Body.Close()
	var said struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.UnmarshalRead(resp.Body, &said); err != nil || len(said.Content) == 0 {
		return ""
	}
	return said.Content[0].Text
}

// open is a project with the scenario a, whose agent is the program.
func open(t *testing.T, program, more string) *suite.Suite {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`why: A program asks once.
owner: tests
task: Say hello.
model: m-1
api: anthropic-messages
agent: {command: [%q], env: [%q, GORACE=atexit_sleep_ms=0], %s}
expect: {golden: false, attempts: 1, %s}
`, processtest.Self(t), processtest.Env(program)[0], agentOf(more), expectOf(more))
	path := filepath.Join(dir, "scenarios", "a.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := suite.Open(suite.Dirs{Root: dir}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func agentOf(more string) string  { a, _, _ := strings.Cut(more, "|"); return a }
func expectOf(more string) string { _, e, _ := strings.Cut(more, "|"); return e }

// exec runs the scenario a against a script.
func exec(t *testing.T, s *suite.Suite, o suite.Options, turns ...script.Turn) *harness.Result {
	t.Helper()
	return execIn(t.Context(), t, s, o, turns...)
}

func execIn(ctx context.Context, t *testing.T, s *suite.Suite, o suite.Options, turns ...script.Turn) *harness.Result {
	t.Helper()
	sc, err := s.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Params(sc, "m-1", o)
	if err != nil {
		t.Fatal(err)
	}
	p.Transport = &script.Model{API: wire.AnthropicMessages, Name: "m-1", Turns: turns}
	return harness.Exec(ctx, p)
}

func TestPrograms(t *testing.T) {
	hello := script.Turn{Text: "Hello."}
	for _, tc := range []struct {
		why, program, more string
		turn               script.Turn
		class              failure.Class
		detail             string
	}{
		{why: "the task is its last argument", program: "asks", more: "|answer: {equals: Hello.}", turn: hello},
		{why: "or on its standard input", program: "stdin", more: "task: stdin|answer: {equals: Hello.}", turn: hello},
		{why: "or in a variable", program: "env", more: "task: {env: MY_TASK}|answer: {equals: Hello.}", turn: hello},
		{why: "the answer may be what it writes", program: "asks", more: "answer: stdout|answer: {equals: 'said: Hello.'}", turn: hello},
		{why: "an exit code is the agent's own error", program: "fails", turn: hello, class: failure.Agent, detail: "exit status 3; standard error: out of ideas"},
		{
			why: "unless the model's last answer was one", program: "fails",
			turn:  script.Turn{Status: 529, Error: &wire.APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded"}},
			class: failure.Overloaded, detail: "exit status 3",
		},
	} {
		t.Run(tc.program, func(t *testing.T) {
			s := open(t, tc.program, tc.more)
			r := exec(t, s, suite.Options{}, tc.turn)
			if r.Outcome.Class != tc.class || !strings.Contains(r.Outcome.Detail, tc.detail) {
				t.Errorf("%s: %s: %s", tc.why, r.Outcome.Class, r.Outcome.Detail)
			}
			if tc.class == "" && r.Verdict != harness.Pass {
				t.Errorf("%s: %+v", tc.why, r.Failures)
			}
			if len(r.Models) != 1 || r.Models[0].Request == nil || !strings.HasPrefix(r.Models[0].URL, "https://api.anthropic.com/v1/messages") {
				t.Errorf("%s: asked %+v", tc.why, r.Models)
			}
		})
	}
}

func TestProgramThatNeverAsks(t *testing.T) {
	r := exec(t, open(t, "silent", ""), suite.Options{})
	if r.Verdict != harness.Fail || len(r.Failures) != 1 || r.Failures[0].Class != failure.Agent ||
		!strings.Contains(r.Failures[0].What, "never asked the gateway") || !strings.Contains(r.Failures[0].What, "ANTHROPIC_BASE_URL=http://127.0.0.1:") {
		t.Errorf("%s: %+v", r.Verdict, r.Failures)
	}
}

func TestWhatAProgramWrites(t *testing.T) {
	var out, errs bytes.Buffer
	exec(t, open(t, "asks", ""), suite.Options{Stdout: &out}, script.Turn{Text: "Hello."})
	exec(t, open(t, "fails", ""), suite.Options{Stderr: &errs}, script.Turn{Text: "Hello."})
	if out.String() != "said: Hello.\n" || errs.String() != "out of ideas\n" {
		t.Errorf("%q, %q", out.String(), errs.String())
	}
}

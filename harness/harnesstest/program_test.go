package harnesstest_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

// greeter is an agent that hides whatever it is answered.
func greeter() {
	body := fmt.Sprintf(`{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":%q}]}`, os.Args[len(os.Args)-1])
	resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(body))
	if err == nil {
		_ = resp.Body.Close()
	}
}

// greetings is a project of n scenarios whose agent is the greeter, and of
// recordings; that of the last is of another task.
func greetings(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"scenarios/retake.yaml": "models: {m-1: {api: anthropic-messages}}\ndefault_models: m-1\n"}
	for i := range n {
		name, asked := fmt.Sprintf("greet-%d", i), fmt.Sprintf("Greet guest %d.", i)
		files["scenarios/"+name+".yaml"] = fmt.Sprintf("why: A program greets.\nowner: greeters\ntask: %s\nagent: {command: [%q], env: [%q, %q]}\nexpect: {golden: false, answer: {equals: Hello %d.}}\n",
			asked, processtest.Self(t), processtest.Env("greeter")[0], processtest.Env("greeter")[1], i)
		if i == n-1 {
			asked = "Greet nobody."
		}
		files["cassettes/"+name+"/m-1.yaml"] = fmt.Sprintf(`version: 2
interactions:
  - id: 0
    request:
      method: POST
      url: https://api.anthropic.com/v1/messages
      body: '{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"%s"}]}'
    response:
      code: 200
      headers: {Content-Type: [application/json]}
      body: '{"id":"1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hello %d."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":3}}'
`, asked, i)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Scenarios of a program run under go test, eight at once: each gets its own
// recording, and a miss that the program hides fails its run alone.
func TestPrograms(t *testing.T) {
	const n = 8
	cases, err := harnesstest.Cases(harnesstest.Params{Dir: greetings(t, n)})
	if err != nil || len(cases) != n {
		t.Fatal(cases, err)
	}
	results := make([]*harness.Result, n)
	var wg sync.WaitGroup
	for i, c := range cases {
		wg.Go(func() { results[i] = c.Exec(t) })
	}
	wg.Wait()
	for i, r := range results[:n-1] {
		if r.Verdict != harness.Pass {
			t.Errorf("greet-%d: %s %+v", i, r.Verdict, r.Failures)
		}
	}
	last := results[n-1]
	if last.Verdict != harness.Fail || len(last.Failures) == 0 || last.Failures[0].Class != failure.CassetteMiss {
		t.Errorf("a hidden miss: %s %+v", last.Verdict, last.Failures)
	}
}

package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/agent"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/internal/start"
	"github.com/retake-harness/retake/harness/scenario"
)

// conversation is one that is to be led again.
type conversation struct{ *start.Conversation }

// scenario writes the scenario's file and loads it.
func (c conversation) scenario(t *testing.T, name string, ignore []string) *scenario.Scenario {
	t.Helper()
	text, err := c.Scenario(start.Header{Why: "A recording is led again.", Owner: "retake", Ignore: ignore})
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
	s.Expect.Golden = false
	return s
}

// lead has the reference loop lead the conversation again.
func (c conversation) lead(t *testing.T, s *scenario.Scenario) *harness.Result {
	t.Helper()
	dir, model := t.TempDir(), s.Models[0]
	path := harness.ModelCassette(dir, s.Name, model)
	if c.Whole {
		copyFile(t, c.File.Name, path)
	} else if err := cassette.Save(path, c.Cassette()); err != nil {
		t.Fatal(err)
	}
	tools, err := c.Tools()
	if err == nil {
		err = cassette.Save(harness.ToolCassette(dir, s.Name), &cassette.File{Version: 2, Interactions: tools})
	}
	if err != nil {
		t.Fatal(err)
	}
	base, ok := c.BaseURL()
	if !ok {
		t.Fatal("the address does not end in the API's path")
	}
	return harness.Exec(t.Context(), harness.Params{Scenario: s, Model: model, API: c.API, BaseURL: base, Agent: agent.Loop{}, CassetteDir: dir})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
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

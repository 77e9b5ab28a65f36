package rerecord_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/script"
)

// project is a folder with scenarios that a stand-in answers.
func project(t *testing.T, names ...string) (*suite.Suite, func(string) string) {
	t.Helper()
	server, err := standin.Start(standin.Script{Conversations: []standin.Conversation{{Turns: []standin.Turn{
		{Turn: script.Turn{Text: "Hello.", Usage: script.Usage{Input: 50, Output: 5}}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, "scenarios", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("retake.yaml", "models: {m-1: {api: openai-chat, base_url: '"+server.URL+"/v1', key: {env: KEY}}}\n")
	for _, n := range names {
		write(n+".yaml", "why: w\nowner: o\ntask: Say hello.\nmodel: m-1\nstream: true\n")
	}
	getenv := func(name string) string { return map[string]string{"KEY": server.Key()}[name] }
	s, err := suite.Open(suite.Dirs{Root: root}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, getenv
}

func recordAll(t *testing.T, s *suite.Suite, o rerecord.Options) []*rerecord.Taken {
	t.Helper()
	plan, err := rerecord.Prepare(s, s.Names(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []*rerecord.Taken
	plan.Record(t.Context(), func(taken *rerecord.Taken) { out = append(out, taken) })
	return out
}

// Two who record one scenario at once: the second is told, and destroys nothing.
func TestOneAtATime(t *testing.T) {
	s, getenv := project(t, "hello")
	dir := filepath.Join(s.Dirs.Cassettes, "hello")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := file.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := recordAll(t, s, rerecord.Options{Getenv: getenv})
	if len(got) != 1 || got[0].State != rerecord.Stopped || got[0].Class != failure.World || !strings.Contains(got[0].Why, "somebody else records this scenario") || got[0].Spent.Requests != 0 {
		t.Errorf("%+v", got[0])
	}
	unlock()
	if got = recordAll(t, s, rerecord.Options{Getenv: getenv}); got[0].State != rerecord.Recorded {
		t.Errorf("afterwards: %+v", got[0])
	}
}

// Several at once share one cap, and are told in the order of their names.
func TestParallel(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	s, getenv := project(t, names...)
	var last live.Spent
	got := recordAll(t, s, rerecord.Options{Getenv: getenv, Parallel: 4, Watch: func(spent live.Spent) { last = spent }})
	for i, taken := range got {
		if taken.Scenario.Name != names[i] || taken.State != rerecord.Recorded || taken.Spent.Tokens != 55 {
			t.Errorf("%d: %+v", i, taken)
		}
	}
	if last.Tokens != 6*55 || last.Requests != 6 {
		t.Errorf("told at last: %+v", last)
	}
}

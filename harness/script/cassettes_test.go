package script_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/agent"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
)

// recording is what the model and the tools say in one scenario.
type recording struct {
	turns []script.Turn
	tools map[string][]script.Answer
}

// The recordings of scenarios/travel are made of the turns below: nobody has
// been paid for them, and their files say source: scripted. This test makes them
// anew and wants the committed bytes; RETAKE_UPDATE=1 writes them.
func TestScriptedCassettes(t *testing.T) {
	s, err := suite.Open(suite.Dirs{Root: "../.."}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for name, rec := range travel() {
		t.Run(filepath.Base(name), func(t *testing.T) { remake(t, s, name, rec) })
	}
}

func remake(t *testing.T, s *suite.Suite, name string, rec recording) {
	sc, err := s.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Params(sc, sc.Models[0], suite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := &script.Model{API: p.API, Name: p.Model, Turns: rec.turns}
	tools := &script.Tools{Answers: rec.tools}
	play(t, p, model, tools)
	if n := len(model.Interactions()); n != len(rec.turns) {
		t.Errorf("%d of %d turns were asked for", n, len(rec.turns))
	}
	compare(t, harness.ModelCassette(p.CassetteDir, name, p.Model), p.Model, model.Interactions())
	if calls := tools.Interactions(); len(calls) > 0 {
		compare(t, harness.ToolCassette(p.CassetteDir, name), "", calls)
	}
}

// play runs the reference loop against the script.
func play(t *testing.T, p harness.Params, model *script.Model, tools *script.Tools) {
	var specs []tool.Spec
	for _, d := range p.Scenario.Tools {
		in, err := schema.Compile(d.Input)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, tool.Spec{Decl: d, Input: in, Exec: tools})
	}
	guard := func(c tool.Call) (string, bool) {
		for _, g := range p.Scenario.Guard {
			if g.Tool == c.Tool {
				return g.Reason, true
			}
		}
		return "", false
	}
	env := &harness.Env{
		Scenario: p.Scenario, Model: p.Model, API: p.API, BaseURL: harness.BaseURL(p),
		HTTP: &http.Client{Transport: model}, Tools: tool.NewBox(specs, tool.Options{Guard: guard}),
		Retry: p.Retry,
	}
	env.Retry.Timeout = time.Hour
	if _, err := (agent.Loop{}).Run(clock.Virtual(context.Background()), env); err != nil {
		t.Fatal(err)
	}
}

// compare holds the made recording against the committed file.
func compare(t *testing.T, path, model string, made []cassette.Interaction) {
	t.Helper()
	f := &cassette.File{Version: 2, Notes: cassette.FileNotes{Source: cassette.Scripted, Model: model}, Interactions: made}
	if os.Getenv("RETAKE_UPDATE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := cassette.Save(path, f); err != nil {
			t.Fatal(err)
		}
		return
	}
	temp := filepath.Join(t.TempDir(), "made.yaml")
	if err := cassette.Save(temp, f); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(temp)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what its script makes; write it with: RETAKE_UPDATE=1 go test ./harness/script", path)
	}
}

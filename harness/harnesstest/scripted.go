package harnesstest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
)

// Recording is what the model and the tools say in one scenario, written by
// hand.
type Recording struct {
	Turns []script.Turn
	// Variant is the id of a run under faults, with on_divergence: recorded, that
	// this is the recording of; "" is the run without.
	Variant string
	// Tools are the answers of the tools that neither Params.Tools nor the scenario
	// runs for real, by name.
	Tools map[string][]script.Answer
	// Judges are what the models that are asked about the run say, by their names,
	// each its turns in the order of the questions.
	Judges map[string][]script.Turn
}

// Scripted makes a scenario's cassettes from a script and holds them against the
// committed files: the agent runs against the script, and what it asked becomes
// the recording. With RETAKE_UPDATE=1 the files are written. They say source:
// scripted, so that nobody takes them for real traffic.
//
// It is the way to a first scenario without a paid call. p.Scenarios is not
// looked at; the scenario must name one model.
func Scripted(tb testing.TB, p Params, name string, rec Recording) {
	tb.Helper()
	p.scripted(tb, name)[0].record(tb, name, rec)
}

// ScriptedAll is Scripted for several scenarios, by their names; on a *testing.T
// each is a subtest. What their servers are built into is built once.
func ScriptedAll(tb testing.TB, p Params, recs map[string]Recording) {
	tb.Helper()
	names := slices.Sorted(maps.Keys(recs))
	for i, s := range p.scripted(tb, names...) {
		name := names[i]
		if t, ok := tb.(*testing.T); ok {
			t.Run(name, func(t *testing.T) { s.record(t, name, recs[name]) })
			continue
		}
		s.record(tb, name, recs[name])
	}
}

// runs are all cases of one scenario.
type runs []Case

// scripted are the cases of each of the scenarios.
func (p Params) scripted(tb testing.TB, names ...string) []runs {
	tb.Helper()
	p.Scenarios, p.NoGolden = names, true
	p.cleanUp(tb)
	cases, err := Cases(p)
	if err != nil {
		tb.Fatalf("retake: %v", err)
	}
	out := make([]runs, len(names))
	for i := range cases {
		n := slices.Index(names, cases[i].Name)
		out[n] = append(out[n], cases[i])
	}
	return out
}

// record makes the recording of one of the cases, and holds it against its files.
func (cases runs) record(tb testing.TB, name string, rec Recording) {
	tb.Helper()
	i := slices.IndexFunc(cases, func(c Case) bool { return c.err != nil || c.Variant == rec.Variant })
	if i < 0 {
		tb.Fatalf("retake: %s has no run under faults with the id %q", name, rec.Variant)
	}
	c := cases[i]
	model := &script.Model{Name: c.Model, Turns: rec.Turns}
	tools := &script.Tools{Answers: rec.Tools}
	var judges *judges
	r := c.exec(tb, func(hp *harness.Params) {
		model.API, hp.Transport, hp.Recording = hp.API, model, true
		hp.Executors = scriptedTools(hp, tools)
		judges = newJudges(hp.Judges, rec.Judges)
	})
	Check(tb, r)
	if r.Verdict == harness.Invalid || r.Verdict == harness.Broken {
		return // what it asked for is no recording
	}
	if n := len(model.Interactions()); n != len(rec.Turns) {
		tb.Errorf("%s: %d of %d turns of the script were asked for", name, n, len(rec.Turns))
	}
	judges.left(tb, name)
	dirs, secrets := c.suite.Dirs, c.suite.Config.Hidden()
	path := func(path string) string {
		if c.Variant == "" {
			return path
		}
		return harness.UnderVariant(path, c.Variant)
	}
	hold(tb, path(harness.ModelCassette(dirs.Cassettes, name, c.Model)), c.Model, model.Interactions(), secrets)
	if len(judges.made) > 0 {
		hold(tb, path(harness.JudgeCassette(dirs.Cassettes, name, c.Model)), "", judges.made, secrets)
	}
	if calls := tools.Interactions(); len(calls) > 0 {
		hold(tb, path(harness.ToolCassette(dirs.Cassettes, name)), "", calls, secrets)
	}
}

// scriptedTools lets the script answer for every tool that does not run for real.
func scriptedTools(p *harness.Params, tools *script.Tools) map[string]tool.Executor {
	out := map[string]tool.Executor{}
	for _, d := range p.Scenario.Tools {
		switch e := p.Executors[d.Name]; {
		case e != nil:
			out[d.Name] = e
		case !p.Scenario.Runs[d.Name].Real():
			out[d.Name] = tools
		}
	}
	return out
}

// secretIn names the first secret in a body or an address.
func secretIn(secrets *redact.Values, made []cassette.Interaction) (name string, found bool) {
	for i := range made {
		in := &made[i]
		for _, text := range [][]byte{[]byte(in.Request.URL), in.Request.Body, in.Response.Body} {
			if name, found := secrets.Found(text); found {
				return name, true
			}
		}
	}
	return "", false
}

// hold compares a recording with its file, or writes the file.
func hold(tb testing.TB, path, model string, made []cassette.Interaction, secrets *redact.Values) {
	tb.Helper()
	if name, found := secretIn(secrets, made); found {
		tb.Fatalf("%s: not written: the recording has the value of the secret %s, and cassettes are committed; leave it out of the prompts, the script and what the tools answer", path, name)
	}
	target := path
	if !Updating() {
		target = filepath.Join(tb.TempDir(), "made.yaml")
	} else if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	notes := cassette.FileNotes{Source: cassette.Scripted, Model: model}
	if err := cassette.Save(target, &cassette.File{Version: 2, Notes: notes, Interactions: made}); err != nil {
		tb.Fatal(err)
	}
	if target == path {
		return
	}
	want, err := os.ReadFile(target)
	if err != nil {
		tb.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		tb.Errorf("%s is not what its script makes (%v); write it with: RETAKE_UPDATE=1 go test", path, err)
	}
}

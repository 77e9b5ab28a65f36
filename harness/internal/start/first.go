package start

import (
	"context"
	"path/filepath"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
)

const firstConfig = `# What lies outside the code, in one place; retake config prints what is in force.
default_models: [claude-opus-4-8]
models:
  claude-opus-4-8: {api: anthropic-messages, key: {env: ANTHROPIC_API_KEY}}

# Budgets of a run where a scenario does not say its own.
limits: {iterations: 10, tool_calls: 30, time: 5m}

# Who renews each secret, and by when (rotate_by: a day). The secret itself is in
# the environment, and is needed only for recording.
secrets:
  ANTHROPIC_API_KEY: {owner: nobody yet}

# Taken out of everything that is written, besides keys and cookies.
redact: {headers: [], json: []}
`

const firstScenario = `# A first scenario: change it into one of yours. The manual: go doc github.com/retake-harness/retake/harness/scenario
why: A table is booked once, and only where one is free.
owner: nobody yet
labels: [first]
system: You book tables. Look for a free table before you book one, and book exactly what was asked for.
task: Book a table for two at eight tonight.
max_tokens: 512
rollback: Go back to the prompt before.
expect:
  calls:
    - {tool: find_table, args: {guests: 2, time: "20:00"}}
    - {tool: book_table, args: {table: T-4, guests: 2}}
  answer: {contains: [T-4]}
faults:
  - {fault: model.overloaded, at: {call: 2}}
tools:
  - name: find_table
    description: Finds the tables that are free at a time.
    input:
      type: object
      properties:
        guests: {type: integer, minimum: 1}
        time: {type: string, description: "As 20:00"}
      required: [guests, time]
      additionalProperties: false
    output: {type: object, properties: {ok: {const: true}, tables: {type: array, items: {type: string}}}, required: [ok, tables]}
    max_result: 4096
    effect: read
    timeout: 5s
  - name: book_table
    description: Books one table. Only after find_table has found it free.
    input:
      type: object
      properties:
        table: {type: string}
        guests: {type: integer, minimum: 1}
        key: {type: string}
      required: [table, guests]
      additionalProperties: false
    output: {type: object, properties: {ok: {const: true}, booking: {type: string}}, required: [ok, booking]}
    max_result: 4096
    effect: write
    key: {field: key, from: host}
    timeout: 10s
    retry: {attempts: 3, backoff: 500ms}
`

// First lays out a project with one scenario, its recordings written by hand, and
// its golden, and runs it. name "" is "first". What is there already is kept.
func First(ctx context.Context, p Project, name string) (*Made, error) {
	if name == "" {
		name = "first"
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	d := p.dirs()
	m := &Made{Name: name}
	if err := m.write(filepath.Join(d.Scenarios, scenario.Config), []byte(firstConfig)); err != nil {
		return nil, err
	}
	if err := m.write(filepath.Join(d.Scenarios, filepath.FromSlash(name)+".yaml"), []byte(firstScenario)); err != nil {
		return nil, err
	}
	if m.Files[1].Kept {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s is there already; give another name: retake init NAME", m.Files[1].Path)
	}
	if err := m.script(ctx, p); err != nil {
		return nil, err
	}
	if err := m.surroundings(d); err != nil {
		return nil, err
	}
	return m, m.run(ctx, p)
}

// script makes the recordings: the reference loop runs against what the model and
// the tools are to say.
func (m *Made) script(ctx context.Context, p Project) error {
	s, err := suite.Open(p.Dirs, p.getenv)
	if err != nil {
		return err
	}
	defer s.Close()
	sc, err := s.Load(m.Name)
	if err != nil {
		return err
	}
	name := sc.Models[0]
	hp, err := s.Params(sc, name, suite.Options{})
	if err != nil {
		return err
	}
	model, tools := said(hp, name)
	quiet := *sc
	quiet.Expect.Golden = false
	hp.Scenario, hp.Transport, hp.Recording = &quiet, model, true
	hp.Executors = map[string]tool.Executor{"find_table": tools, "book_table": tools}
	if r := harness.Exec(ctx, hp); r.Verdict != harness.Pass {
		return failure.Errorf(failure.Internal, "the first scenario does not pass against its own script: %s", r.Verdict)
	}
	path := harness.ModelCassette(s.Dirs.Cassettes, m.Name, name)
	if err := m.save(path, scripted(path, name, model.Interactions())); err != nil {
		return err
	}
	path = harness.ToolCassette(s.Dirs.Cassettes, m.Name)
	return m.save(path, scripted(path, "", tools.Interactions()))
}

func scripted(path, model string, in []cassette.Interaction) *cassette.File {
	return &cassette.File{Name: path, Version: 2, Notes: cassette.FileNotes{Source: cassette.Scripted, Model: model}, Interactions: in}
}

// said is what the model and the tools say.
func said(hp harness.Params, name string) (*script.Model, *script.Tools) {
	turn := func(text string, in, out int64, calls ...script.Call) script.Turn {
		return script.Turn{Text: text, Calls: calls, Usage: script.Usage{Input: in, Output: out}, Latency: time.Second}
	}
	model := &script.Model{API: hp.API, Name: name, Turns: []script.Turn{
		turn("I will see what is free.", 512, 61, script.Call{Name: "find_table", Args: `{"guests":2,"time":"20:00"}`}),
		turn("", 630, 58, script.Call{Name: "book_table", Args: `{"table":"T-4","guests":2}`}),
		turn("Table T-4 is booked for two at eight tonight.", 741, 19),
	}}
	tools := &script.Tools{Answers: map[string][]script.Answer{
		"find_table": {{Content: `{"ok":true,"tables":["T-4"]}`, Latency: 120 * time.Millisecond}},
		"book_table": {{Content: `{"ok":true,"booking":"B-1"}`, Latency: 250 * time.Millisecond}},
	}}
	return model, tools
}

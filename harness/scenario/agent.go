package scenario

import (
	"cmp"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/tool"
)

// Agent is a program that is the system under test, in the place of the reference
// loop. It asks the model by itself, at an address that it finds in its
// environment.
type Agent struct {
	// Build is a program that is run before the agent is first started.
	Build   []string
	Command []string
	Env     []tool.Setting
	Task    Task
	Answer  AnswerBy
}

// Task is how a program is told what to do.
type Task struct {
	By       TaskBy
	Variable string // its name, with TaskByVariable
}

// TaskBy is how a program is told its task.
type TaskBy string

// The ways.
const (
	TaskByArgument TaskBy = "argument" // default: as its last argument
	TaskByStdin    TaskBy = "stdin"    // on its standard input
	TaskByVariable TaskBy = "env"      // in its environment
)

// TaskVariable has the task where a scenario gives the variable no other name.
const TaskVariable = "RETAKE_TASK"

// AnswerBy is where a program's answer is found.
type AnswerBy string

// The ways.
const (
	AnswerByModel  AnswerBy = "model"  // default: what the model said last
	AnswerByStdout AnswerBy = "stdout" // what the program wrote to its standard output
)

// AgentTime ends a program that neither the scenario nor the configuration sets a
// time.
const AgentTime = 10 * time.Minute

var agentProgram = programWith(Scratch, Build)

var agentFields = yamlwalk.Object[Agent]{
	Is: "an agent",
	Fields: []yamlwalk.Field[Agent]{
		yamlwalk.Must("command", "The program and its arguments, run in the project's folder. ${scratch} is a folder of the run's own.", agentProgram, func(a *Agent) *[]string { return &a.Command }),
		yamlwalk.F("build", "A program and its arguments that is run once, before the agent is first started, as in [go, build, -o, '${build}/agent', ./agent]; ${build} is a folder that command may name.", buildProgram, func(a *Agent) *[]string { return &a.Build }),
		yamlwalk.F("env", "The program's environment besides PATH, HOME and what retake sets: NAME takes the variable over, as a secret; NAME=value sets it.", agentEnvironment, func(a *Agent) *[]tool.Setting { return &a.Env }),
		yamlwalk.F("task", "How the program is told its task: argument (default) is its last one, stdin its standard input, env the variable RETAKE_TASK, {env: NAME} another.", taskBy, func(a *Agent) *Task { return &a.Task }),
		yamlwalk.F("answer", "Where its answer is: model (default) is what the model said last, stdout what the program wrote to its standard output.", yamlwalk.Enum(AnswerByModel, AnswerByStdout), func(a *Agent) *AnswerBy { return &a.Answer }),
	},
}

// What retake tells a program, besides where it asks the model.
const (
	ModelVariable  = "RETAKE_MODEL"   // the model that the run is of
	TaskIDVariable = "RETAKE_TASK_ID" // the run's id, as tools are told it
	ToolsVariable  = "RETAKE_MCP_URL" // where the scenario's tools are served by MCP
)

var agentEnvironment = yamlwalk.Then(environmentWith(Scratch, Build), func(v yamlwalk.Value, env []tool.Setting) {
	for _, s := range env {
		if slices.Contains([]string{ModelVariable, TaskIDVariable, ToolsVariable}, s.Name) {
			v.Failf("%s is set by retake for each run; drop it here", s.Name)
		}
	}
})

var taskBy = yamlwalk.Either("argument, stdin, env or {env: NAME}",
	yamlwalk.Map(yamlwalk.Enum(TaskByArgument, TaskByStdin, TaskByVariable), func(_ yamlwalk.Value, by TaskBy) (Task, bool) {
		t := Task{By: by}
		if by == TaskByVariable {
			t.Variable = TaskVariable
		}
		return t, true
	}),
	yamlwalk.Object[Task]{
		Is: "a variable that has the task",
		Fields: []yamlwalk.Field[Task]{
			yamlwalk.Must("env", "Name the variable.", yamlwalk.Pattern("the name of an environment variable", envNameForm), func(t *Task) *string { return &t.Variable }),
		},
		Check: func(_ yamlwalk.Value, t *Task) { t.By = TaskByVariable },
	}.Kind())

// loopOnly are fields that say what the reference loop sends, or how it goes on. A
// program decides that by itself.
var loopOnly = []string{"opening", "stream", "max_tokens", "params", "tool_choice", "parallel_tool_calls", "on_partial"}

// agent is the program under test; nil for the reference loop.
func (b *builder) agent(w *written) *Agent {
	if w.agent == nil {
		return nil
	}
	places := b.f.Places()
	for _, field := range loopOnly {
		if places.Has(field) {
			b.f.Failf(places.Find(field), "%s is what the reference loop obeys; a program under agent decides that by itself: drop it here", field)
		}
	}
	if len(w.turns) > 1 {
		b.f.Failf(places.Find("turns[1]"), "a program is given one task; with agent say one turn, and write a scenario for each further one")
	}
	a := *w.agent
	a.Task.By = cmp.Or(a.Task.By, TaskByArgument)
	a.Answer = cmp.Or(a.Answer, AnswerByModel)
	return &a
}

// bounded are the limits of a program: it does not know those that are only the
// reference loop's usual ones, and has a time by which it is ended.
func (a *Agent) bounded(own, config, usual Limits) Limits {
	if a == nil {
		return usual
	}
	usual.Iterations = cmp.Or(own.Iterations, config.Iterations)
	usual.Parallel = cmp.Or(own.Parallel, config.Parallel)
	usual.Time = cmp.Or(usual.Time, AgentTime)
	return usual
}

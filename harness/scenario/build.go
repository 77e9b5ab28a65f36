package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// Defaults of what neither a scenario nor the configuration says.
const (
	DefaultIterations    = 10
	DefaultParallel      = 8
	DefaultRepeatedCalls = 3
	DefaultPauses        = 5
	DefaultSeed          = 1
)

// builder makes a Scenario of what is written, and notes what does not fit.
type builder struct {
	f        *yamlwalk.File
	schemas  *schema.Cache
	tools    []tool.Decl
	warnings []string

	runs    map[string]Run
	servers []Server // that may be used
	used    []Server // that are
	// recorded is what runs while the scenario is recorded alone.
	recorded onlyRecorded
	found    map[string][]tool.Decl // the servers' tools; nil: they have not been asked
	probed   map[string]bool
	probeAt  map[string]yamlwalk.Pos
	pending  bool     // which tools there are is not known yet
	known    []string // models that may be named; nil: any
	foreign  bool     // the agent brings tools of its own, which nothing declares
}

func (b *builder) warnf(at yamlwalk.Pos, format string, args ...any) {
	b.warnings = append(b.warnings, yamlwalk.Problem{File: b.f.Name, Pos: at, Message: fmt.Sprintf(format, args...)}.Error())
}

// reserved are request fields that the scenario has fields of its own for.
var reserved = []string{"model", "messages", "system", "tools", "tool_choice", "stream", "max_tokens"}

func (b *builder) build(w *written, shared *toolset, o Options) *Scenario {
	b.declareServers(w, o)
	b.choose(w, shared)
	agent := b.agent(w)
	b.foreign = agent != nil && len(b.tools) == 0
	probes := b.probes(w.effects)
	s := &Scenario{
		Why: w.why, Owner: w.owner, Labels: w.labels, Rollback: w.rollback,
		API: w.api, Stream: w.stream, MaxTokens: w.maxTokens,
		Params: b.params(w.params), Tools: b.tools,
		ToolChoice: b.choice(w), Guard: b.guard(w.guard), Approvals: b.approvals(w.approvals),
		Models: b.models(w, o), Agent: agent, Limits: agent.bounded(w.limits, o.Limits, limits(w.limits, o.Limits)),
		GiveUp:    GiveUp{cmp.Or(w.giveUp.RepeatedCalls, DefaultRepeatedCalls), cmp.Or(w.giveUp.Pauses, DefaultPauses), w.giveUp.ToolErrors},
		OnPartial: cmp.Or(w.onPartial, PartialReport),
		Replay:    Replay{cmp.Or(w.replay.Match, MatchNormalised), w.replay.Ignore, w.replay.Headers},
		Expect:    b.expect(&w.expect),
		Seed:      DefaultSeed,
		Probes:    probes,
		Expires:   w.expires,
		Runs:      b.runs, Servers: b.used, recorded: b.recorded, pending: b.pending, unasked: b.found == nil && len(b.used) > 0,
	}
	if w.seed != nil {
		s.Seed = uint64(*w.seed)
	}
	b.doubt(&w.expect)
	b.texts(w, s)
	b.actAs(w, s)
	b.variants(w.variants, s)
	s.Warnings = b.warnings
	s.parts, s.places = w.tools.parts(), b.f.Places()
	return s
}

func (b *builder) texts(w *written, s *Scenario) {
	in := inputs{f: b.f}
	if len(w.inputs) > 0 {
		s.Inputs = make(map[string]string, len(w.inputs))
		for _, e := range w.inputs {
			s.Inputs[e.Key] = e.Value
		}
		in.values = s.Inputs
	}
	for _, t := range w.system {
		s.System = append(s.System, in.fill(t))
	}
	for i := range w.opening {
		s.Opening = append(s.Opening, w.opening[i].read(&in))
	}
	turns := w.turns
	if w.task.V != "" {
		turns = []turnWritten{{user: w.task}}
	}
	for _, t := range turns {
		s.Turns = append(s.Turns, Turn{User: in.fill(t.user)})
	}
	in.unused(w.inputs)
}

// read takes the one text that the message has.
func (m *message) read(in *inputs) Message {
	for _, said := range [...]struct {
		role wire.Role
		text text
	}{
		{wire.RoleSystem, m.system},
		{wire.RoleDeveloper, m.developer},
		{wire.RoleUser, m.user},
		{wire.RoleAssistant, m.assistant},
	} {
		if said.text.V != "" {
			return Message{said.role, in.fill(said.text)}
		}
	}
	return Message{} // could not be read, and is told
}

// choose puts together the scenario's tools.
func (b *builder) choose(w *written, shared *toolset) {
	if shared == nil {
		shared = &toolset{}
	}
	if w.tools.from != nil {
		b.takeFrom(w.tools.from)
		return
	}
	if w.tools.items == nil {
		b.warnings = append(b.warnings, shared.warnings...)
		b.takeAll(shared)
		return
	}
	b.tools = make([]tool.Decl, 0, len(w.tools.items))
	for _, it := range w.tools.items {
		switch {
		case it.name.V == "": // could not be read, and is told
		case b.declared(it.name.V):
			b.f.Failf(it.name.At, "tool %q is listed twice; drop one", it.name.V)
		case it.decl != nil:
			b.add(b.decl(it.decl), it.decl.run.place(), it.decl.at())
		default:
			b.take(it.name, shared)
		}
	}
}

// takeAll takes the tools of the shared file as they are there.
func (b *builder) takeAll(shared *toolset) {
	if shared.runs == nil {
		b.tools = shared.decls
		return
	}
	for i := range shared.decls {
		b.add(shared.decls[i], shared.runs[shared.decls[i].Name], yamlwalk.Pos{Line: 1, Column: 1})
	}
}

func (b *builder) take(name text, shared *toolset) {
	for i := range shared.decls {
		if shared.decls[i].Name == name.V {
			b.add(shared.decls[i], shared.runs[name.V], name.At)
			return
		}
	}
	if !shared.there {
		b.f.Failf(name.At, "unknown tool %q: no tools.yaml lies beside the scenario; declare the tool here, or name its file with tools_from", name.V)
		return
	}
	b.f.Failf(name.At, "unknown tool %q%s; the shared file does not declare it", name.V, suggest.Hint(name.V, names(shared.decls)))
}

func names(decls []tool.Decl) []string {
	out := make([]string, len(decls))
	for i := range decls {
		out[i] = decls[i].Name
	}
	return out
}

func (b *builder) declared(name string) bool {
	return slices.ContainsFunc(b.tools, func(d tool.Decl) bool { return d.Name == name })
}

// needTool notes a name that is no tool of the scenario; more says what else
// could be done.
func (b *builder) needTool(name text, more string) {
	if name.V != "" && !b.declared(name.V) && !b.pending && !b.foreign {
		b.f.Failf(name.At, "unknown tool %q%s; declare it under tools%s", name.V, suggest.Hint(name.V, names(b.tools)), more)
	}
}

func (b *builder) params(entries []yamlwalk.Entry[yamlwalk.Tree]) []wire.Field {
	if len(entries) == 0 {
		return nil
	}
	out := make([]wire.Field, len(entries))
	for i, e := range entries {
		if slices.Contains(reserved, e.Key) {
			b.f.Failf(e.At, "%q is a matter of the scenario's own fields; say it there", e.Key)
		}
		out[i] = wire.Field{Name: e.Key, Value: e.Value.JSON}
	}
	slices.SortFunc(out, func(a, b wire.Field) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (b *builder) choice(w *written) wire.ToolChoice {
	c := wire.ToolChoice{Mode: w.toolChoice.mode, Name: w.toolChoice.tool.V}
	c.NoParallel = w.parallel != nil && !*w.parallel
	b.needTool(w.toolChoice.tool, "")
	if len(b.tools) == 0 && !b.pending && c.Mode == wire.ChoiceAny {
		b.f.Failf(w.toolChoice.at, "tool_choice any asks for a call, and the scenario has no tools")
	}
	return c
}

func (b *builder) guard(written []block) []Block {
	var out []Block
	for _, w := range written {
		b.needTool(w.tool, "")
		out = append(out, Block{w.tool.V, w.reason})
	}
	return out
}

func (b *builder) models(w *written, o Options) []string {
	written := w.models
	if w.model.V != "" {
		written = []text{w.model}
	}
	var out []string
	for _, m := range written {
		if o.Known != nil && m.V != "" && !slices.Contains(o.Known, m.V) {
			b.f.Failf(m.At, "unknown model %q%s; describe it under models in retake.yaml", m.V, suggest.Hint(m.V, o.Known))
		}
		if slices.Contains(out, m.V) {
			b.f.Failf(m.At, "model %q is listed twice; drop one", m.V)
		}
		out = append(out, m.V)
	}
	if w.models == nil && w.model.At == (yamlwalk.Pos{}) {
		out = o.Models
		if len(out) == 0 {
			b.f.Failf(yamlwalk.Pos{}, "no model to run; say model, or default_models in retake.yaml")
		}
	}
	return out
}

// limits takes each limit from the first that says it.
func limits(own, config Limits) Limits {
	return Limits{
		Iterations: cmp.Or(own.Iterations, config.Iterations, DefaultIterations),
		Tokens:     cmp.Or(own.Tokens, config.Tokens),
		ToolCalls:  cmp.Or(own.ToolCalls, config.ToolCalls),
		Time:       cmp.Or(own.Time, config.Time),
		Parallel:   cmp.Or(own.Parallel, config.Parallel, DefaultParallel),
	}
}

func (b *builder) expect(w *expect) Expect {
	e := Expect{
		Outcome: cmp.Or(w.outcome, completed), Stop: w.stop, StopRaw: w.stopRaw,
		Iterations: w.iterations, ToolCalls: w.toolCalls, Calls: b.expected(w.calls),
		Answer: Answer{w.answer.equals, w.answer.contains, w.answer.regexp, b.schema(w.answer.schema)},
		Tokens: w.tokens, Cost: w.cost, Latency: w.latency,
		Golden:   w.golden == nil || *w.golden,
		Attempts: w.attempts, Told: w.told, Breaches: w.breaches,
		Judges: b.judges(w.judges),
	}
	for _, entry := range w.effects {
		b.needTool(text{V: entry.Key, At: entry.At}, "")
		if e.Effects == nil {
			e.Effects = make(map[string]int, len(w.effects))
		}
		e.Effects[entry.Key] = entry.Value
	}
	return e
}

// doubt warns of a scenario that checks next to nothing.
func (b *builder) doubt(w *expect) {
	b.doubtEffects(w)
	if w.golden != nil && !*w.golden && !w.checks() {
		b.warnf(yamlwalk.Pos{Line: 1, Column: 1}, "without the golden transcript and any expectation but how the run ends this checks only the contract; say under expect what must hold")
	}
}

// checks tells whether anything is expected besides the outcome and the golden.
func (w *expect) checks() bool {
	numbers := w.iterations != nil || w.toolCalls != nil || w.tokens != nil || w.cost != nil || w.latency != nil || w.attempts != nil
	calls := w.calls != nil || len(w.effects) > 0 || len(w.told) > 0 || len(w.breaches) > 0 || len(w.judges) > 0
	return numbers || calls || w.stop != "" || w.stopRaw != "" || w.answer.checks()
}

func (a *answer) checks() bool {
	return a.equals != nil || len(a.contains) > 0 || a.regexp != nil || a.schema != nil
}

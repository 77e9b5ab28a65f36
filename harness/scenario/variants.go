package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/tool"
)

// completed is the outcome of a run that came to its end.
const completed = "completed"

// variants builds the runs under faults of a scenario that is complete but for
// them.
func (b *builder) variants(written []variant, s *Scenario) {
	for i := range written {
		w := &written[i]
		v := Variant{
			ID: cmp.Or(w.id, w.first.Name), Part: fmt.Sprintf("faults[%d]", i),
			Faults:       append([]fault.Spec{w.first}, w.more...),
			OnDivergence: cmp.Or(w.way.way, DivergeStop), Accept: w.way.accept,
			Expect: b.expectUnder(&w.expect, &s.Expect),
		}
		b.distinct(&v, s.Variants)
		b.ownName(&v)
		for n := range v.Faults {
			b.strike(&v.Faults[n], strikePart(&v, n), s)
		}
		for n := range w.script {
			v.Script = append(v.Script, b.said(&w.script[n], fmt.Sprintf("%s.script[%d]", v.Part, n), s))
		}
		b.wayOn(&v, s)
		s.Variants = append(s.Variants, v)
	}
}

// strikePart is where the n-th fault of a variant is said.
func strikePart(v *Variant, n int) string {
	if n == 0 {
		return v.Part
	}
	return fmt.Sprintf("%s.and[%d]", v.Part, n-1)
}

// failAt notes a problem with a part of the file.
func (b *builder) failAt(part, format string, args ...any) {
	b.f.Failf(b.f.Places().Find(part), format, args...)
}

// distinct wants an id that names one run, also where the file system does not
// tell capitals from small letters.
func (b *builder) distinct(v *Variant, others []Variant) {
	same := func(o Variant) bool { return strings.EqualFold(o.ID, v.ID) }
	switch {
	case !slices.ContainsFunc(others, same):
	case b.f.Places().Has(v.Part + ".id"):
		b.failAt(v.Part+".id", "two runs under faults have the id %q; give one another", v.ID)
	default:
		b.failAt(v.Part, "two runs under faults are called %q; give one an id", v.ID)
	}
}

// ownName refuses the name of a fault that the run is not called by itself: with
// --fault it would stand for either.
func (b *builder) ownName(v *Variant) {
	for _, name := range fault.Names() {
		if strings.EqualFold(name, v.ID) && name != v.Faults[0].Name {
			b.failAt(v.Part+".id", "is the name of another fault, which --fault %s runs; give the run an id of its own", name)
		}
	}
}

// strike holds a fault against the catalogue and the scenario.
func (b *builder) strike(f *fault.Spec, part string, s *Scenario) {
	if f.Name == "" {
		return // could not be read, and is told
	}
	for _, p := range s.FaultProblems(f) {
		b.failAt(part+keyPart(p.Key), "%s", p.What)
	}
}

// keyPart is where a scenario says a key of a spec.
func keyPart(key string) string {
	switch key {
	case "fault", "times", "chance":
		return "." + key
	case "call", "attempt", "event", "tool":
		return ".at." + key
	default:
		return ".with." + key
	}
}

// FaultProblems are all that is wrong with a fault by itself or, when there is
// nothing, what the scenario does not have of its place.
func (s *Scenario) FaultProblems(f *fault.Spec) []fault.Problem {
	problems := f.Problems()
	entry, ok := fault.Lookup(f.Name)
	if !ok || len(problems) > 0 {
		return problems
	}
	add := func(key, format string, args ...any) {
		problems = append(problems, fault.Problem{Key: key, What: fmt.Sprintf(format, args...)})
	}
	switch entry.Side() {
	case fault.SideModel:
		s.modelProblems(f, entry, add)
	case fault.SideTool:
		s.toolProblems(f, entry, add)
	case fault.SideHost: // strikes the run as a whole
	}
	return problems
}

func (s *Scenario) modelProblems(f *fault.Spec, entry *fault.Fault, add func(key, format string, args ...any)) {
	switch {
	case s.Stream:
	case entry.Inside == fault.OnlyInside:
		add("fault", "%s strikes inside a stream, and the scenario does not stream; say stream: true", f.Name)
	case f.At.Event != 0:
		add("event", "the scenario does not stream, so there are no events; say stream: true, or drop event")
	}
	if f.At.Call > s.Limits.Iterations {
		add("call", "there is no model call %d: limits.iterations ends the run after %d; name an earlier one, or raise the limit", f.At.Call, s.Limits.Iterations)
	}
}

func (s *Scenario) toolProblems(f *fault.Spec, entry *fault.Fault, add func(key, format string, args ...any)) {
	name := f.At.Tool
	i := slices.IndexFunc(s.Tools, func(d tool.Decl) bool { return d.Name == name })
	switch {
	case s.pending && i < 0, s.unasked && i >= 0, s.unasked && name == "":
		// It is checked when the server has been asked for its tools.
	case len(s.Tools) == 0:
		add("fault", "%s strikes a tool call, and the scenario has no tools", f.Name)
	case name != "" && i < 0:
		add("tool", "unknown tool %q%s; it strikes tools that are declared under tools", name, suggest.Hint(name, names(s.Tools)))
	case name != "" && s.Tools[i].Provider != nil:
		add("tool", "the provider runs %q itself, so its calls do not pass here; name a tool of the host", name)
	case name != "" && entry.FitsTool(&s.Tools[i]) != "":
		add("tool", "%s cannot strike %q: %s; name another tool", f.Name, name, entry.FitsTool(&s.Tools[i]))
	case name == "" && !slices.ContainsFunc(s.Tools, func(d tool.Decl) bool { return entry.FitsTool(&d) == "" }):
		add("fault", "%s cannot strike any of the scenario's tools: %s", f.Name, entry.FitsTool(&s.Tools[0]))
	}
	if n := s.Limits.ToolCalls; n > 0 && f.At.Call > n {
		add("call", "there is no tool call %d: limits.tool_calls ends the run after %d; name an earlier one, or raise the limit", f.At.Call, n)
	}
}

// expectUnder is what must hold of a run under faults: what it says itself, and
// what the scenario says besides. How often the model was asked, and the golden
// transcript, are its own; of a run that is to end otherwise only the effects and
// the bounds are taken over.
func (b *builder) expectUnder(w *expect, base *Expect) Expect {
	e := b.expect(w)
	e.Golden = w.golden != nil && *w.golden
	if w.effects == nil {
		e.Effects = base.Effects
	}
	e.Tokens = cmp.Or(e.Tokens, base.Tokens)
	e.Cost = cmp.Or(e.Cost, base.Cost)
	e.Latency = cmp.Or(e.Latency, base.Latency)
	if e.Outcome != completed || base.Outcome != completed {
		return e
	}
	e.Stop = cmp.Or(e.Stop, base.Stop)
	e.StopRaw = cmp.Or(e.StopRaw, base.StopRaw)
	e.Iterations = cmp.Or(e.Iterations, base.Iterations)
	e.ToolCalls = cmp.Or(e.ToolCalls, base.ToolCalls)
	e.Calls = cmp.Or(e.Calls, base.Calls)
	if !w.answer.checks() {
		e.Answer = base.Answer
	}
	if w.told == nil {
		e.Told = base.Told
	}
	if w.breaches == nil {
		e.Breaches = base.Breaches
	}
	if w.judges == nil {
		e.Judges = base.Judges
	}
	return e
}

// said builds a turn of a script.
func (b *builder) said(w *said, part string, s *Scenario) Said {
	t := w.turn
	if t.Text == "" && len(w.calls) == 0 {
		b.failAt(part, "says nothing; give text or calls")
	}
	if t.When.Code != "ok" && strings.EqualFold(t.When.Code, "ok") {
		b.failAt(part+".when.code", "a result that is no error has the code ok, in small letters")
	}
	b.scriptTool(part+".when.tool", t.When.Tool, s)
	for i, c := range w.calls {
		b.scriptTool(fmt.Sprintf("%s.calls[%d].tool", part, i), c.tool, s)
		args := jsontext.Value("{}")
		if c.args != nil && c.args.JSON != nil {
			args = c.args.JSON
		}
		t.Calls = append(t.Calls, SaidCall{c.tool, args})
	}
	return t
}

func (b *builder) scriptTool(part, name string, s *Scenario) {
	if name != "" && !b.declared(name) && !b.pending {
		b.failAt(part, "unknown tool %q%s; a script calls what is declared under tools (a tool that is not there is the fault model.unknown_tool)", name, suggest.Hint(name, names(s.Tools)))
	}
}

// wayOn checks that what is said about a divergence can happen.
func (b *builder) wayOn(v *Variant, s *Scenario) {
	places := b.f.Places()
	way := v.Part + ".on_divergence"
	scripted := v.OnDivergence == DivergeScript
	switch has := places.Has(v.Part + ".script"); {
	case scripted && len(v.Script) == 0:
		b.failAt(way, "on_divergence: script needs the model's turns; write them under script, as in [{text: I could not find it.}]")
	case !scripted && has:
		b.failAt(v.Part+".script", "a script is said only with on_divergence: script; write that, or drop the script")
	case places.Has(way) && !b.seen(v):
		b.failAt(way, "the model sees nothing of %s, so the recording does not end; drop on_divergence%s", v.faultNames(), also(scripted, " and script"))
	case scripted:
		b.reachable(v, s)
	}
}

func also(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

// seen tells whether the model sees anything of the faults. Of one that is not
// known it may.
func (b *builder) seen(v *Variant) bool {
	return slices.ContainsFunc(v.Faults, func(f fault.Spec) bool {
		entry, ok := fault.Lookup(f.Name)
		return !ok || entry.Seen
	})
}

func (v *Variant) faultNames() string {
	out := make([]string, len(v.Faults))
	for i := range v.Faults {
		out[i] = v.Faults[i].Name
	}
	return strings.Join(out, " and ")
}

// reachable refuses turns of a script that can never be said.
func (b *builder) reachable(v *Variant, s *Scenario) {
	for n, t := range v.Script {
		part := fmt.Sprintf("%s.script[%d]", v.Part, n)
		if t.When.Call > s.Limits.Iterations {
			b.failAt(part+".when.call", "there is no model call %d: limits.iterations ends the run after %d", t.When.Call, s.Limits.Iterations)
		}
		for before, o := range v.Script[:n] {
			switch {
			case o.When.Call != 0 && o.When.covers(t.When):
				b.failAt(part, "is never said: turn %d of the script answers that model call already; give it another condition, or drop it", before+1)
			case o.final() && o.When == (When{}) && len(s.Turns) == 1 && !v.again():
				b.failAt(part, "is never said: turn %d of the script answers every request and ends the run; put it last, or give it a condition", before+1)
			default:
				continue
			}
			break
		}
	}
}

// covers tells whether every request that o allows is allowed by w.
func (w When) covers(o When) bool {
	return (w.Code == "" || w.Code == o.Code) && (w.Tool == "" || w.Tool == o.Tool) && (w.Call == 0 || w.Call == o.Call)
}

// final tells that the model is done after the turn.
func (s *Said) final() bool { return len(s.Calls) == 0 && s.Stop == "" }

// again tells that the task is run more than once.
func (v *Variant) again() bool {
	return slices.ContainsFunc(v.Faults, func(f fault.Spec) bool {
		entry, ok := fault.Lookup(f.Name)
		return ok && entry.Side() == fault.SideHost
	})
}

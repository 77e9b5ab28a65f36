package suite

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/sweep"
)

// course is one run of a scenario with a model. The zero value is the one without
// faults.
type course struct {
	variant *scenario.Variant // one that the scenario declares
	specs   []fault.Spec      // faults that were asked for
}

// id names the course in reports, and for --fault.
func (c *course) id() string {
	switch {
	case c.variant != nil:
		return c.variant.ID
	case c.specs != nil:
		return sweep.Spell(c.specs)
	default:
		return ""
	}
}

// courses are the runs of a scenario that are asked for, in their order.
func courses(sc *scenario.Scenario, faults []string) ([]course, error) {
	var out []course
	if len(faults) == 0 {
		out = append(out, course{})
	}
	for i := range sc.Variants {
		if v := &sc.Variants[i]; len(faults) == 0 || slices.Contains(faults, v.ID) {
			out = append(out, course{variant: v})
		}
	}
	specs, err := specsOf(slices.DeleteFunc(slices.Clone(faults), func(word string) bool { return sc.Variant(word) != nil }))
	if err != nil || len(specs) == 0 {
		return out, err
	}
	for i := range specs {
		for _, p := range sc.FaultProblems(&specs[i]) {
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s: fault %q: %w", sc.File, specs[i], p)
		}
	}
	return append(out, course{specs: specs}), nil
}

// specsOf reads the faults among the words. What is neither a fault's name nor has
// an address can only be an id.
func specsOf(words []string) ([]fault.Spec, error) {
	var out []fault.Spec
	for _, word := range words {
		if _, ok := fault.Lookup(word); !ok && !strings.Contains(word, "@") {
			continue
		}
		spec, err := fault.ParseSpec(word)
		if err != nil {
			return nil, err
		}
		out = append(out, spec)
	}
	return out, nil
}

// Spelled are the faults that were asked for in the spelling of reports, in which
// secrets are recognised; what is no fault's spelling stays.
func Spelled(words []string) []string {
	out := slices.Clone(words)
	for i, word := range words {
		if spec, err := fault.ParseSpec(word); err == nil {
			out[i] = spec.String()
		}
	}
	return out
}

// checkFaults refuses a word that names neither a fault nor a run of one of the
// scenarios loaded so far. The lock is held.
func (s *Suite) checkFaults(words []string) error {
	for _, word := range words {
		if _, ok := fault.Lookup(word); ok || s.faults[word] || strings.Contains(word, "@") {
			continue
		}
		known := append(slices.Sorted(maps.Keys(s.faults)), fault.Names()...)
		return failure.Errorf(failure.ScenarioInvalid,
			"%q is no fault, and no selected scenario has a run under faults of that id%s; see: retake faults", word, suggest.Hint(word, known))
	}
	return nil
}

// exec runs one scenario with each of its models, each by all courses. trial is 0
// for all that there is only one of.
func (s *Suite) exec(ctx context.Context, name string, trial int, o Options) []*harness.Result {
	sc, err := s.Load(name)
	if err != nil {
		return once(trial, harness.NotBuilt(name, "", err))
	}
	if trial > 0 && !repeated(sc, o) {
		if trial > 1 {
			return nil
		}
		trial = 0
	}
	var out []*harness.Result
	for _, model := range modelsOf(sc, o) {
		all, err := coursesOf(sc, o)
		if err != nil {
			r := harness.NotBuilt(name, model, err)
			r.Variant = strings.Join(Spelled(o.Faults), " ")
			out = append(out, once(trial, r)...)
			continue
		}
		for i := range all {
			r := s.run(ctx, sc, model, &all[i], trial, o)
			r.Trial = trial
			if r.Variant == "" {
				r.Variant = all[i].id()
			}
			out = append(out, r)
		}
	}
	return out
}

// repeated tells whether two runs of the scenario may differ.
func repeated(sc *scenario.Scenario, o Options) bool { return o.Live != nil || sc.RunsPrograms() }

// modelsOf are the models to run a scenario with. A live run takes those that are
// asked for whether the scenario names them or not: so a new one is tried.
func modelsOf(sc *scenario.Scenario, o Options) []string {
	own := ModelsOf(sc, nil, o.Labels)
	if o.Live != nil && len(own) > 0 && len(o.Models) > 0 {
		return o.Models
	}
	return ModelsOf(sc, o.Models, o.Labels)
}

// coursesOf are the runs of a scenario.
func coursesOf(sc *scenario.Scenario, o Options) ([]course, error) {
	if o.Live != nil {
		return []course{{}}, nil
	}
	return courses(sc, o.Faults)
}

// once tells what is the same in every trial in the first one alone.
func once(trial int, r *harness.Result) []*harness.Result {
	if trial > 1 {
		return nil
	}
	return []*harness.Result{r}
}

// run makes one run; it is told also when it cannot be made.
func (s *Suite) run(ctx context.Context, sc *scenario.Scenario, model string, c *course, trial int, o Options) *harness.Result {
	if ctx.Err() != nil {
		return harness.Interrupted(sc, sc.Name, model)
	}
	if o.Live != nil {
		return s.live(ctx, sc, model, trial, o)
	}
	p, err := s.Params(sc, model, o)
	if err != nil {
		return harness.NotBuilt(sc.Name, model, err)
	}
	p.Trial = trial
	if c.specs != nil {
		return try(ctx, p, c.specs)
	}
	p.Variant = c.variant
	return harness.Exec(ctx, p)
}

// try makes one run of a sweep: what else to expect of it nobody has said.
func try(ctx context.Context, p harness.Params, specs []fault.Spec) *harness.Result {
	base := p
	quiet := *p.Scenario
	quiet.Expect.Golden = false
	base.Scenario, base.Update = &quiet, false
	without := harness.Exec(ctx, base)
	if without.Verdict != harness.Pass {
		without.Warnings = append(without.Warnings, "the faults were not tried: the scenario does not pass without them; mend that first")
		return without
	}
	p.Variant, p.ContractOnly = sweep.Variant(p.Scenario, without, specs), true
	return told(harness.Exec(ctx, p))
}

// told gives a run that diverged its reason, which a sweep has no room for.
func told(r *harness.Result) *harness.Result {
	if r.Verdict == harness.Diverged && len(r.Failures) == 0 {
		r.Failures = []harness.Failure{{
			Class: failure.Diverged, Part: failure.PartScenario,
			What: "the contract held until the model saw the fault: " + r.Outcome.Detail,
			Why:  "a recorded model cannot answer what it never saw",
			Next: "write the fault into the scenario, under faults, and say there how the run goes on, under on_divergence",
		}}
	}
	return r
}

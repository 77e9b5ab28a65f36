package sweep

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
)

// runAll makes the runs, each into its own job, so that their order is that of
// the plan whatever the number of workers.
func (s *sweep) runAll(ctx context.Context, jobs []*job) {
	var mu sync.Mutex
	done := 0
	next := make(chan *job)
	var wg sync.WaitGroup
	for range max(1, min(s.Parallel, len(jobs))) {
		wg.Go(func() {
			for j := range next {
				j.out = s.one(ctx, j)
				mu.Lock()
				done++
				if s.Progress != nil {
					s.Progress(done, len(jobs))
				}
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- j
	}
	close(next)
	wg.Wait()
}

// one makes one run; nil when it was interrupted.
func (s *sweep) one(ctx context.Context, j *job) *Outcome {
	p := s.Run
	p.Survey, p.Update, p.ContractOnly, p.Unread, p.Seed = false, false, true, true, s.Seed
	p.Variant = Variant(s.Run.Scenario, s.base, j.specs)
	r := s.Exec(ctx, p)
	if r.Verdict == harness.NotRun {
		return nil
	}
	return s.judge(j, r)
}

// Variant is the run of a scenario under the faults as a sweep makes it: judged by
// the contract, and by the effects of base, the run without faults: no run may do
// more.
func Variant(sc *scenario.Scenario, base *harness.Result, specs []fault.Spec) *scenario.Variant {
	if base.Scenario != nil {
		sc = base.Scenario // with the tools that servers have
	}
	effects := map[string]int{}
	for i := range sc.Tools {
		if d := &sc.Tools[i]; d.Writes() {
			effects[d.Name] = 0
		}
	}
	maps.Copy(effects, base.Effects)
	return &scenario.Variant{
		ID: Spell(specs), Faults: specs, OnDivergence: scenario.DivergeStop,
		Expect: scenario.Expect{Effects: effects},
	}
}

// judge says what came of a run.
func (s *sweep) judge(j *job, r *harness.Result) *Outcome {
	o := &Outcome{Spec: Spell(j.specs), Class: string(r.Outcome.Class), Detail: r.Outcome.Detail}
	if o.Class == "" {
		o.Class = "completed"
	}
	if why := s.unfired(j, r); why != "" {
		o.State, o.Why = NotApplicable, why
		return o
	}
	o.Breaches = breaches(r)
	switch {
	case len(o.Breaches) > 0:
		o.State, o.Command = Breached, s.Command(j.specs)
	case r.Verdict == harness.Diverged:
		o.State, o.Why = Diverged, r.Outcome.Detail
	default:
		o.State = Held
	}
	return o
}

// unfired says why a fault of the run did not strike: it does not fit there, or,
// in a pair, the other one kept the run from coming so far.
func (s *sweep) unfired(j *job, r *harness.Result) string {
	for _, f := range r.Faults {
		switch {
		case f.Times > 0:
		case f.Why != "":
			return f.Why
		case len(j.specs) > 1:
			return "the run ends before " + f.Spec.Name + " is due"
		}
	}
	return ""
}

// breaches are the rules that did not hold; of a run that broke in another way,
// what its failures are.
func breaches(r *harness.Result) []Breach {
	var out []Breach
	for _, b := range r.Breaches {
		out = append(out, Breach{Rule: string(b.Rule), Part: string(b.Part), What: strings.TrimPrefix(b.String(), string(b.Rule)+": ")})
	}
	if len(out) == 0 && r.Verdict != harness.Pass && r.Verdict != harness.Diverged {
		for _, f := range r.Failures {
			out = append(out, Breach{Rule: string(f.Class), Part: string(f.Part), What: f.What})
		}
	}
	slices.SortStableFunc(out, func(a, b Breach) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}

// Spell is the faults in one line, as retake run --fault takes each.
func Spell(specs []fault.Spec) string {
	parts := make([]string, len(specs))
	for i := range specs {
		parts[i] = specs[i].String()
	}
	return strings.Join(parts, " ")
}

// commandLine repeats a run with retake run.
func (p *Params) commandLine(specs []fault.Spec) string {
	sc := p.Run.Scenario
	words := append([]string{"retake", "run", sc.Name}, p.Flags...)
	if len(sc.Models) > 1 {
		words = append(words, "--model", p.Run.Model)
	}
	for i := range specs {
		text := specs[i].String()
		if sc.Variant(text) != nil {
			text += "@times=1" // else it would be the run that the scenario declares
		}
		words = append(words, "--fault", text)
	}
	if p.Seed != max(sc.Seed, 1) {
		words = append(words, "--seed", strconv.FormatUint(p.Seed, 10))
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted is text as a word of a POSIX shell.
func quoted(text string) string {
	for _, c := range text {
		if !strings.ContainsRune("@=,._-%:+/", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
	}
	return text
}

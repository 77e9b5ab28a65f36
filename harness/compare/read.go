package compare

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/report"
)

// key names a run among those of its side; trials share it.
type key struct{ name, fault, model string }

func (k key) title() string { return report.Title(k.name, k.fault) }

// group is all trials of one key.
type group struct {
	runs   []run
	hashes report.Hashes
}

// side is a report as it is compared.
type side struct {
	asked  Side
	dir    string // of the report
	doc    *report.Document
	groups map[key]*group
	models []string // in their order
	counts counts
}

// counts are over all runs of a side.
type counts struct {
	runs, passed, excluded int
	classes                map[string]int // of those that did not pass
	excludedBy             map[string]int
	sums                   [figureCount]float64
	unknown                [figureCount]int
}

// readBoth reads the two reports at the same time.
func readBoth(old, newer Side) (a, b *side, err error) {
	var wg sync.WaitGroup
	var errA, errB error
	wg.Go(func() { a, errA = read(old) })
	wg.Go(func() { b, errB = read(newer) })
	wg.Wait()
	if errA != nil && errB != nil && errA.Error() == errB.Error() {
		return nil, nil, errA
	}
	if err := errors.Join(errA, errB); err != nil {
		return nil, nil, failure.Wrap(failure.Of(firstOf(errA, errB)), err)
	}
	return a, b, match(a, b)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func read(from Side) (*side, error) {
	s := &side{asked: from, dir: filepath.Dir(report.File(from.Report)), groups: map[key]*group{}}
	n, models := names{}, map[string]bool{}
	doc, err := report.Stream(from.Report, func(e *report.Entry) error {
		if !models[e.Model] {
			model := strings.Clone(e.Model)
			models[model] = true
			s.models = append(s.models, model)
		}
		if from.Model == "" || e.Model == from.Model {
			s.add(e, n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.doc = doc
	if doc.Run.Live {
		s.answered()
	}
	slices.Sort(s.models)
	switch {
	case len(s.models) == 0:
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: the report has no runs, so there is nothing to compare", report.File(from.Report))
	case from.Model != "" && !models[from.Model]:
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: the report has no run of the model %q%s; it has %s",
			report.File(from.Report), from.Model, suggest.Hint(from.Model, s.models), quoted(s.models))
	}
	return s, nil
}

func (s *side) add(e *report.Entry, n names) {
	k := key{n.one(e.Name), n.one(e.Fault), n.one(e.Model)}
	g := s.groups[k]
	if g == nil {
		g = &group{hashes: report.Hashes{Scenario: n.one(e.Hashes.Scenario), Prompt: n.one(e.Hashes.Prompt), Tools: n.one(e.Hashes.Tools)}}
		s.groups[k] = g
	}
	r := runOf(e, n)
	g.runs = append(g.runs, r)
}

// answered notes that the models have answered themselves: what cassettes there
// are, are the tools'.
func (s *side) answered() {
	for _, g := range s.groups {
		for i := range g.runs {
			g.runs[i].replay = false
		}
	}
}

// tell counts the runs that are compared.
func (s *side) tell() {
	c := counts{classes: map[string]int{}, excludedBy: map[string]int{}}
	for _, g := range s.groups {
		for i := range g.runs {
			c.add(&g.runs[i])
		}
	}
	s.counts = c
}

func (c *counts) add(r *run) {
	c.runs++
	switch {
	case r.excluded:
		c.excluded++
		c.excludedBy[r.class]++
	case r.pass:
		c.passed++
	default:
		c.classes[r.class]++
	}
	for f, v := range r.figures {
		if v != v {
			c.unknown[f]++
			continue
		}
		c.sums[f] += v
	}
}

// match gives the runs of both sides the same models: where each side has one, it
// is another name for the same thing.
func match(a, b *side) error {
	for _, s := range []struct{ this, other *side }{{a, b}, {b, a}} {
		if s.this.asked.Model == "" && s.other.asked.Model != "" && len(s.this.models) > 1 {
			s.this.only(s.other.asked.Model)
		}
	}
	one := func(s *side) bool { return s.asked.Model != "" || len(s.models) == 1 }
	switch {
	case one(a) && one(b):
		a.rename()
		b.rename()
	case !slices.Equal(a.models, b.models):
		return failure.Errorf(failure.ScenarioInvalid, "the reports have several models, and not the same ones: %s has %s, %s has %s; say which to compare with: --model OLD --model NEW",
			a.asked.Report, quoted(a.models), b.asked.Report, quoted(b.models))
	}
	a.tell()
	b.tell()
	return nil
}

// only keeps one model's runs, where there are such.
func (s *side) only(model string) {
	if !slices.Contains(s.models, model) {
		return
	}
	for k := range s.groups {
		if k.model != model {
			delete(s.groups, k)
		}
	}
	s.asked.Model = model
}

// rename takes the model out of the keys, and notes which it was.
func (s *side) rename() {
	if s.asked.Model == "" {
		s.asked.Model = s.models[0]
	}
	groups := make(map[key]*group, len(s.groups))
	for k, g := range s.groups {
		k.model = ""
		groups[k] = g
	}
	s.groups = groups
}

// quoted lists a few texts.
func quoted(texts []string) string {
	const most = 8
	shown := make([]string, 0, most+1)
	for i, t := range texts {
		if i == most {
			shown = append(shown, fmt.Sprintf("and %d more", len(texts)-most))
			break
		}
		shown = append(shown, fmt.Sprintf("%q", cut(t, 100)))
	}
	return strings.Join(shown, ", ")
}

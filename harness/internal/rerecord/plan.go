// Package rerecord makes recordings and looks after them: it records scenarios
// against the live APIs, tells which recordings are stale and how a fresh run
// differs from one, and gives an old answer to a changed request.
//
// A recording is made in three steps. The scenario is run live, through a
// recorder that keeps what was paid for as it comes. Where the run came to an end
// by itself, the cassette is written. Then it is replayed, which checks it like
// any other, and makes the golden transcript.
package rerecord

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Options say what to record, and how.
type Options struct {
	Models []string // model versions; none: those that a scenario names
	Labels []string // only scenarios with one of these; none: all
	// Faults are ids of runs under faults that have a recording of their own, which
	// are recorded instead of the run without; none: that one.
	Faults      []string
	OnlyMissing bool // leave alone what has a cassette
	// Tools runs the tools that run while recording also for calls that their
	// cassette could not answer although it has calls of the same tool.
	Tools bool
	// Judges asks the judges alone, about runs that are recorded already.
	Judges bool
	// Unjudged asks no judges.
	Unjudged bool
	Parallel int // scenarios at once; 0 is one
	Cap      live.Cap
	SDK      string // name and version of the reference loop, for the cassettes' notes
	Getenv   func(string) string
	// Approve asks a person about a call; nil: nobody is there.
	Approve func(ctx context.Context, c tool.Call) (bool, error)
	Watch   func(live.Spent)  // is told of each answer, one at a time; nil: nobody is
	Next    http.RoundTripper // is asked instead of the network, for tests
}

// Job is one recording to make.
type Job struct {
	Scenario *scenario.Scenario
	Model    string
	Variant  *scenario.Variant // nil is the run without faults
	Path     string            // of the cassette
	target   live.Target
	// judges are the models that are asked about the run; judged says that the run
	// itself is recorded already.
	judges map[string]live.Target
	judged bool
}

// Fault is the id of the job's run under faults; "" without.
func (j *Job) Fault() string {
	if j.Variant == nil {
		return ""
	}
	return j.Variant.ID
}

// Plan is what is to be recorded. Nothing has been asked so far.
type Plan struct {
	Jobs    []Job
	Secrets *redact.Values // that must not be written: the configuration's, and the keys

	suite   *suite.Suite
	options Options
}

// Prepare finds what there is to record of the named scenarios, and whether it can
// be: keys are there, models and faults are known. An error is of class world or
// scenario_invalid.
func Prepare(s *suite.Suite, names []string, o Options) (*Plan, error) {
	p := &Plan{suite: s, options: o}
	for _, name := range names {
		sc, err := s.Load(name)
		if err != nil {
			return nil, err
		}
		if err := p.add(sc); err != nil {
			return nil, err
		}
	}
	if err := s.CheckNames(suite.Options{Labels: o.Labels}); err != nil {
		return nil, err
	}
	p.Secrets = p.secrets()
	return p, nil
}

func (p *Plan) add(sc *scenario.Scenario) error {
	models, err := p.models(sc)
	if err != nil {
		return err
	}
	variants, err := p.variants(sc)
	if err != nil {
		return err
	}
	for _, m := range models {
		for _, v := range variants {
			j := Job{Scenario: sc, Model: m, Variant: v, Path: harness.ModelCassette(p.suite.Dirs.Cassettes, sc.Name, m)}
			if v != nil {
				j.Path = harness.UnderVariant(j.Path, v.ID)
			}
			if due, err := p.due(&j); err != nil || !due {
				if err != nil {
					return err
				}
				continue
			}
			if err := p.aim(&j); err != nil {
				return err
			}
			p.Jobs = append(p.Jobs, j)
		}
	}
	return nil
}

// due tells whether there is anything to do, and notes where it is the judges'
// part alone.
func (p *Plan) due(j *Job) (bool, error) {
	there, err := exists(j.Path)
	if err != nil {
		return false, err
	}
	asks := len(j.expect().Judges) > 0
	switch {
	case p.options.Judges && !asks:
		return false, nil
	case p.options.Judges && !there:
		return false, failure.Errorf(failure.World, "%s: there is no recording of the run that is to be judged; record it with: retake record %s", j.Path, j.args())
	case p.options.Judges:
		j.judged = true
	case p.options.OnlyMissing && there:
		said, err := exists(p.judgePath(j.Scenario, j.Model, j.Variant))
		j.judged = true
		return asks && !p.options.Unjudged && !said, err
	}
	return true, nil
}

// aim finds where the job's models are asked.
func (p *Plan) aim(j *Job) (err error) {
	if !j.judged {
		if j.target, err = p.target(j.Scenario, j.Model); err != nil {
			return err
		}
	}
	return p.aimJudges(j)
}

// targets are all that the job asks.
func (j *Job) targets() []live.Target {
	var out []live.Target
	if !j.judged {
		out = append(out, j.target)
	}
	for _, name := range slices.Sorted(maps.Keys(j.judges)) {
		out = append(out, j.judges[name])
	}
	return out
}

// models are the scenario's, or those that are asked for, also where it does not
// name them: so a new one is tried.
func (p *Plan) models(sc *scenario.Scenario) ([]string, error) {
	own := suite.ModelsOf(sc, nil, p.options.Labels)
	if len(p.options.Models) == 0 || len(own) == 0 {
		return own, nil
	}
	known := p.suite.Config.Names()
	for _, m := range p.options.Models {
		if len(known) > 0 && !slices.Contains(known, m) {
			return nil, failure.Errorf(failure.ScenarioInvalid, "unknown model %q%s; describe it under models in %s", m, suggest.Hint(m, known), p.suite.Config.File)
		}
	}
	return p.options.Models, nil
}

// variants are the runs to record: the one without faults, or those asked for.
func (p *Plan) variants(sc *scenario.Scenario) ([]*scenario.Variant, error) {
	if len(p.options.Faults) == 0 {
		return []*scenario.Variant{nil}, nil
	}
	var out []*scenario.Variant
	var ids []string
	for i := range sc.Variants {
		ids = append(ids, sc.Variants[i].ID)
	}
	for _, id := range p.options.Faults {
		v := sc.Variant(id)
		switch {
		case v == nil:
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s: there is no run under the fault %q%s; declare it under faults, with on_divergence: recorded", sc.File, id, suggest.Hint(id, ids))
		case v.OnDivergence != scenario.DivergeRecorded:
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s: the run %s has no recording of its own: what a fault leaves in a cassette would be replayed as real; say on_divergence: recorded there, or record without --fault", sc.Place(v.Part), id)
		}
		out = append(out, v)
	}
	return out, nil
}

// target is where the model is asked, with its key.
func (p *Plan) target(sc *scenario.Scenario, model string) (live.Target, error) {
	params, err := p.suite.Params(sc, model, suite.Options{})
	if err != nil {
		return live.Target{}, err
	}
	return p.targetOf(&params)
}

// targetOf is where the model of a run is asked.
func (p *Plan) targetOf(params *harness.Params) (live.Target, error) {
	named := ""
	if m, ok := p.suite.Config.Model(params.Model); ok {
		named = m.Key
	}
	key, err := live.FindKey(params.API, params.Model, named, params.BaseURL != "", p.suite.Config.File, p.options.Getenv)
	if err != nil {
		return live.Target{}, err
	}
	return live.Target{API: params.API, Model: params.Model, BaseURL: harness.BaseURL(*params), Key: key, Price: params.Price}, nil
}

// secrets are what must not be written: what the configuration declares, and the
// keys that are used.
func (p *Plan) secrets() *redact.Values {
	var all []redact.Secret
	for i := range p.suite.Config.Secrets {
		s := &p.suite.Config.Secrets[i]
		all = append(all, redact.Secret{Name: s.Name, Value: s.Value()})
	}
	for _, t := range p.targets() {
		k := t.Key
		if !slices.ContainsFunc(all, func(s redact.Secret) bool { return s.Name == k.Name }) {
			all = append(all, redact.Secret{Name: k.Name, Value: k.Value})
		}
	}
	return redact.New(all...)
}

// targets are all that the plan asks.
func (p *Plan) targets() []live.Target {
	var out []live.Target
	for i := range p.Jobs {
		out = append(out, p.Jobs[i].targets()...)
	}
	return out
}

// Unpriced are the models of the plan whose price is not known, sorted.
func (p *Plan) Unpriced() []string {
	var out []string
	for _, t := range p.targets() {
		if t.Price == nil && !slices.Contains(out, t.Model) {
			out = append(out, t.Model)
		}
	}
	slices.Sort(out)
	return out
}

// Hosts are where the models of the plan are asked, sorted.
func (p *Plan) Hosts() []string {
	var out []string
	for _, t := range p.targets() {
		_, rest, _ := strings.Cut(t.BaseURL, "://")
		host, _, _ := strings.Cut(rest, "/")
		if !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	slices.Sort(out)
	return out
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, failure.Errorf(failure.World, "%w", err)
	}
	return err == nil, nil
}

// Package suite runs the scenarios of a folder: it is what the command line and
// go test have in common. It opens the configuration once, finds the scenarios
// that are asked for, runs them on as many workers as wanted and hands over the
// results one by one, always in the order of names and models.
package suite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/agent"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Dirs are the folders of a project. An empty one is below Root by its usual
// name; an empty Root is the working directory.
type Dirs struct {
	Root, Scenarios, Cassettes, Golden, Reports string
}

// Filled are the folders with the usual names for those that are not said.
func Filled(d Dirs) Dirs { return d.filled() }

func (d Dirs) filled() Dirs {
	below := func(dir *string, name string) {
		if *dir == "" {
			*dir = filepath.Join(d.Root, name)
		}
	}
	below(&d.Scenarios, "scenarios")
	below(&d.Cassettes, "cassettes")
	below(&d.Golden, "golden")
	below(&d.Reports, "reports")
	return d
}

// Suite is a folder of scenarios with its configuration. It may be shared.
type Suite struct {
	Dirs   Dirs
	Config *config.Config
	// Foreign makes the agent of every scenario, in the place of its own; nil: it has
	// its own.
	Foreign func(*scenario.Scenario) harness.Agent

	names []string
	// toolPrices are the configuration's, for runs.
	toolPrices map[string]float64
	cache      scenario.Cache
	shared     *world.Shared
	getenv     func(string) string
	root       string // where programs run

	mu     sync.Mutex
	models map[string]bool // named by the scenarios loaded so far
	labels map[string]bool
	faults map[string]bool // ids of runs under faults
}

// Open reads the configuration and lists the scenarios. getenv gives secrets
// only. An error has the class scenario_invalid or world.
func Open(dirs Dirs, getenv func(string) string) (*Suite, error) {
	s := &Suite{Dirs: dirs.filled(), getenv: getenv, root: dirs.Root, shared: world.NewShared(), models: map[string]bool{}, labels: map[string]bool{}, faults: map[string]bool{}}
	names, err := scenario.List(s.Dirs.Scenarios)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.Errorf(failure.World, "%s: there is no folder of scenarios here; go to the project's folder, or name it with -C DIR (or the folder of scenarios with --scenarios DIR)", s.Dirs.Scenarios)
	case err != nil:
		return nil, err
	}
	if s.Config, err = config.Load(s.Dirs.Scenarios, getenv); err != nil {
		return nil, err
	}
	s.names = names
	s.toolPrices = map[string]float64{}
	for _, p := range s.Config.ToolPrices {
		s.toolPrices[p.Tool] = p.Call
	}
	return s, nil
}

// Close removes what was built for the runs. None may be made afterwards.
func (s *Suite) Close() { s.shared.Close() }

// OpenConfig reads the configuration alone, for what needs no scenario.
func OpenConfig(dirs Dirs, getenv func(string) string) (*config.Config, error) {
	return config.Load(dirs.filled().Scenarios, getenv)
}

// Names are all scenarios, sorted.
func (s *Suite) Names() []string { return s.names }

// Select finds scenarios by name, by folder, by file or by a pattern with *; no
// argument is all of them. An argument that finds none is an error.
func (s *Suite) Select(args []string) ([]string, error) {
	if len(args) == 0 {
		return s.names, nil
	}
	want := map[string]bool{}
	for _, arg := range args {
		if arg == "" {
			return nil, failure.Errorf(failure.ScenarioInvalid, "an empty name is no scenario's; to run all of them, give none")
		}
		name := s.nameOf(arg)
		found := false
		for _, n := range s.names {
			if matches(name, n) {
				want[n], found = true, true
			}
		}
		if !found {
			return nil, failure.Errorf(failure.ScenarioInvalid, "no scenario %q below %s%s", arg, s.Dirs.Scenarios, suggest.Hint(name, s.names))
		}
	}
	return slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return !want[n] }), nil
}

// nameOf turns a path below the folder of scenarios into a name.
func (s *Suite) nameOf(arg string) string {
	clean := strings.TrimSuffix(path.Clean(filepath.ToSlash(arg)), ".yaml")
	dir := path.Clean(filepath.ToSlash(s.Dirs.Scenarios))
	if clean == dir {
		return "."
	}
	return strings.TrimPrefix(clean, dir+"/")
}

func matches(pattern, name string) bool {
	if pattern == "." || pattern == name || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Load reads one scenario.
func (s *Suite) Load(name string) (*scenario.Scenario, error) {
	sc, err := scenario.Load(s.Dirs.Scenarios, name, s.Config.Options(&s.cache))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range sc.Models {
		s.models[m] = true
	}
	for _, l := range sc.Labels {
		s.labels[l] = true
	}
	for i := range sc.Variants {
		s.faults[sc.Variants[i].ID] = true
	}
	return sc, nil
}

// Options say how scenarios are run.
type Options struct {
	// Agent runs the scenarios that have none of their own; nil is the reference loop.
	Agent  harness.Agent
	Stdout io.Writer // gets what scenarios' programs write to their standard output; nil: nobody does
	Stderr io.Writer // and to their standard error
	RunID  string
	Models []string // only these; none: those that the scenario names
	Labels []string // only scenarios with one of these; none: all
	// Faults are what to run a scenario under: the ids of runs under faults that it
	// declares, each a run, and faults in the spelling of fault.ParseSpec, which
	// together are one more. None: the run without faults, and then all that it
	// declares.
	Faults   []string
	Seed     uint64 // what chance is drawn from; 0 is the scenario's
	Update   bool
	Pace     float64 // see harness.Params
	Parallel int     // scenarios at once, within the bounds of Workers; 0 is one
	FailFast bool
	// Trials is how often each run is made whose course may be another each time: one
	// whose agent or tools are programs. What replays recordings in virtual time is the same each
	// time, and is run once, without a number. 0 is one.
	Trials int
	// Live has the models answer themselves; nil replays recordings. A scenario is then
	// run without faults alone, with its tools as they run while it is recorded, and
	// also with models that it does not name.
	Live Live
	// Approve asks a person about a call, where the scenario says nothing of it and
	// its tools really run; nil: nobody is there.
	Approve func(ctx context.Context, c tool.Call) (bool, error)
}

// Live is the way to the models themselves.
type Live interface {
	// Adapt has a run ask its model. over is called with the run's result, and may
	// change it.
	Adapt(sc *scenario.Scenario, p *harness.Params) (over func(*harness.Result), err error)
	// Reached says why nothing more may be asked; "" while it may.
	Reached() string
}

// Params are what a run of the scenario with the model takes.
func (s *Suite) Params(sc *scenario.Scenario, model string, o Options) (harness.Params, error) {
	if s.Foreign != nil && sc.Agent == nil {
		foreign := *sc
		foreign.Agent = &scenario.Agent{}
		sc = &foreign
	}
	p := harness.Params{
		Scenario: sc, Model: model, API: sc.API, Agent: o.Agent, RunID: o.RunID, Seed: o.Seed, Pace: o.Pace, Update: o.Update, Secrets: s.Config.Hidden(),
		CassetteDir: s.Dirs.Cassettes, GoldenDir: s.Dirs.Golden, Schemas: &s.cache.Schemas,
		Retry: s.Retry(),
	}
	if p.Agent == nil {
		p.Agent = agent.Loop{}
	}
	p.RealWaitCap, p.ToolPrices = s.Config.RealWaitCap, s.toolPrices
	p.Redact = s.Redaction()
	if sc.Agent != nil {
		p.Agent = &world.Agent{Scenario: sc, Options: s.World(), Stdout: o.Stdout, Stderr: o.Stderr}
	}
	if s.Foreign != nil {
		p.Agent = s.Foreign(sc)
	}
	if sc.RunsPrograms() {
		p.Clock = clock.ModeReal
	}
	if sc.RunsTools() {
		p.OpenTools, p.Approve = s.openTools, o.Approve
	}
	if m, ok := s.Config.Model(model); ok {
		p.BaseURL = m.BaseURL
		if p.API == "" {
			p.API = m.API
		}
		p.Price = priceOf(m)
	}
	p.Judges = s.judges(sc)
	if p.API == "" {
		at := sc.Place("model")
		return p, failure.Errorf(failure.ScenarioInvalid,
			"%s: model %q: its API is not known; describe it in %s under models, as in {%s: {api: anthropic-messages}}, or write api: in the scenario (anthropic-messages, openai-chat, openai-responses or gemini)", at, model, s.Config.File, model)
	}
	return p, nil
}

// priceOf is nil where the price is not known.
func priceOf(m *config.Model) *harness.Price {
	if m.Price == nil {
		return nil
	}
	return &harness.Price{Input: m.Price.Input, Output: m.Price.Output, CacheRead: m.Price.CacheRead, CacheWrite: m.Price.CacheWrite}
}

// Retry is the policy for model calls.
func (s *Suite) Retry() harness.Retry {
	of := &s.Config.Retries
	return harness.Retry{
		Attempts: of.Attempts, Backoff: of.Backoff, MaxBackoff: of.MaxBackoff, RetryAfterCap: of.RetryAfterCap, Timeout: of.AttemptTimeout,
	}
}

// Redaction is what recordings do not have of what is asked.
func (s *Suite) Redaction() cassette.Redaction {
	return cassette.Redaction{Headers: s.Config.Redact.Headers, JSON: s.Config.Redact.JSON}
}

// judges are where the scenario's judges are asked; one that the configuration does
// not describe is missing.
func (s *Suite) judges(sc *scenario.Scenario) map[string]harness.Judge {
	out := map[string]harness.Judge{}
	for _, name := range sc.JudgeModels() {
		if j, err := s.Judge(name); err == nil {
			out[name] = j
		}
	}
	return out
}

// Judge is where a model is asked that judges. An error is of class
// scenario_invalid.
func (s *Suite) Judge(name string) (harness.Judge, error) {
	m, ok := s.Config.Model(name)
	if !ok {
		return harness.Judge{}, failure.Errorf(failure.ScenarioInvalid, "unknown model %q%s; describe it under models in %s", name, suggest.Hint(name, s.Config.Names()), s.Config.File)
	}
	return harness.Judge{API: m.API, BaseURL: m.BaseURL, Price: priceOf(m)}, nil
}

// openTools starts what the tools of one run run on.
func (s *Suite) openTools(ctx context.Context, sc *scenario.Scenario) (*harness.Tools, error) {
	return world.Open(ctx, sc, s.World())
}

// World is what the tools of the project are given.
func (s *Suite) World() world.Options {
	return world.Options{
		Dir: s.root, Getenv: s.getenv, Config: s.Config.File,
		Secret: func(name string) bool { _, ok := s.Config.Secret(name); return ok }, Shared: s.shared,
	}
}

// Prices is the oldest day of a price in the configuration, "" without any.
func (s *Suite) Prices() string {
	var days []time.Time
	for _, m := range s.Config.Models {
		if m.Price != nil && !m.Price.AsOf.IsZero() {
			days = append(days, m.Price.AsOf)
		}
	}
	for _, p := range s.Config.ToolPrices {
		days = append(days, p.AsOf)
	}
	if len(days) == 0 {
		return ""
	}
	return slices.MinFunc(days, time.Time.Compare).Format(time.DateOnly)
}

// ModelsOf are the models to run a scenario with: all that it names, or those
// of them that are asked for; none without one of the labels.
func ModelsOf(sc *scenario.Scenario, models, labels []string) []string {
	if !labelled(sc.Labels, labels) {
		return nil
	}
	if len(models) == 0 {
		return sc.Models
	}
	return slices.DeleteFunc(slices.Clone(sc.Models), func(m string) bool { return !slices.Contains(models, m) })
}

func labelled(have, want []string) bool {
	return len(want) == 0 || slices.ContainsFunc(want, func(l string) bool { return slices.Contains(have, l) })
}

// CheckNames refuses a model or a label that none of the scenarios loaded so far
// names: it runs nothing, and would look like success.
func (s *Suite) CheckNames(o Options) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Live == nil {
		if err := known("runs with the model", o.Models, s.models); err != nil {
			return err
		}
	}
	if err := known("has the label", o.Labels, s.labels); err != nil {
		return err
	}
	return s.checkFaults(o.Faults)
}

func known(what string, asked []string, have map[string]bool) error {
	for _, name := range asked {
		if !have[name] {
			return failure.Errorf(failure.ScenarioInvalid, "no selected scenario %s %q%s", what, name, suggest.Hint(name, slices.Sorted(maps.Keys(have))))
		}
	}
	return nil
}

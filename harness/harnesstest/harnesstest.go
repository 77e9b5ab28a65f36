// Package harnesstest runs scenarios from go test: with the reference loop, or
// with an agent of your own.
//
//	func TestScenarios(t *testing.T) {
//		harnesstest.Run(t, harnesstest.Params{Dir: ".", Agent: harness.Func(myAgent)})
//	}
//
// An agent is a func that gets a context, an *http.Client that answers from the
// cassette, the tools and the task. It runs inside a testing/synctest bubble, so
// the timers of its SDK cost no time; the bubble needs a *testing.T. Under
// Ginkgo, where a spec has none, give Params.T the suite's, kept in its TestX,
// and Run the spec's GinkgoTB().
//
// RETAKE_UPDATE=1 (or GOLDIE_UPDATE=1) accepts transcripts as golden.
//
// # What the loop does on bad days
//
// Sweep puts the agent under every fault of the catalogue, at every place of a
// scenario, and fails where it breaks the contract or does something twice:
//
//	func TestSweep(t *testing.T) {
//		harnesstest.Sweep(t, harnesstest.SweepParams{Params: harnesstest.Params{Dir: ".", Agent: harness.Func(myAgent)}})
//	}
//
// Each breach comes with a command that repeats it alone.
//
// # What a tool does when it is called again
//
// Drill tries the tools themselves: repeats, races, lost answers, crashes, other
// tenants. Drills are described in drill.yaml beside the scenarios, or in Go; see
// package drill.
//
//	func TestDrill(t *testing.T) { harnesstest.Drill(t, harnesstest.DrillParams{Dir: "."}) }
//
// # A first scenario
//
// Write scenarios/NAME.yaml, and a test that says the model's turns:
//
//	func TestCassettes(t *testing.T) {
//		harnesstest.Scripted(t, harnesstest.Params{Dir: "."}, "NAME", harnesstest.Recording{
//			Turns: []script.Turn{{Text: "Hello!"}},
//		})
//	}
//
// It takes two rounds, since a golden transcript needs a cassette to come from:
//
//	RETAKE_UPDATE=1 go test -run Cassettes .   writes cassettes/NAME/
//	RETAKE_UPDATE=1 go test .                  writes golden/NAME/
//
// Read both files, commit them, and from then on go test holds against them.
package harnesstest

import (
	"context"
	"fmt"
	"os"
	"path"
	"testing"
	"testing/synctest"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/internal/update"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Params say what to run. The zero value runs every scenario of the working
// directory's project with the reference loop.
type Params struct {
	Dir       string   // the project's folder; "" is the working directory
	Scenarios []string // names, folders or patterns; none: all
	Models    []string // only these model versions; none: all that a scenario names
	Labels    []string // only scenarios with one of these; none: all

	Agent harness.Agent // nil is the reference loop
	// T is where the bubble of an agent hangs. nil takes the testing.TB given to
	// Run, which then must be a *testing.T.
	T *testing.T
	// Virtual runs Agent on the virtual clock, without a bubble: for agents that
	// wait only through package clock.
	Virtual bool

	Tools map[string]tool.Executor // tools that run for real, by name; others answer from the cassette
	// NewTools makes them anew for each run, in the place of Tools: for tools that
	// keep a world of their own, which no run may leave to the next, and where its
	// probes count what was done. Its Scenario is not asked for.
	NewTools func() *harness.Tools
	// Cleanup is given what is to be done when all runs are over, which removes what
	// servers were built into: t.Cleanup, for instance. nil takes that of the
	// testing.TB, in Cases that of T; without either the folder stays with the
	// system's temporary ones.
	Cleanup func(func())
	// NoGolden leaves the golden transcript to the caller.
	NoGolden bool
}

// Case is one scenario with one model, without faults or under those of one of its
// variants. One whose scenario cannot be loaded has neither model nor labels, and
// is always selected: nobody knows what it would say.
type Case struct {
	Name   string
	Model  string
	Labels []string
	// Variant is the id of the run under faults; "" without.
	Variant string

	err      error // why the scenario cannot be loaded
	scenario *scenario.Scenario
	suite    *suite.Suite
	params   Params
}

// String names the case in a list of specs.
func (c Case) String() string {
	s := c.Name
	if c.Model != "" {
		s += " with " + c.Model
	}
	if c.Variant != "" {
		s += " under " + c.Variant
	}
	return s
}

// Cases lists what p selects, by name, model and variant, each model without
// faults first. A scenario that cannot be loaded is a case, too, which comes out as
// invalid, so that it hides no other.
func Cases(p Params) ([]Case, error) {
	s, err := suite.Open(suite.Dirs{Root: p.Dir}, os.Getenv)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Cleanup != nil:
		p.Cleanup(s.Close)
	case p.T != nil:
		p.T.Cleanup(s.Close)
	}
	names, err := s.Select(p.Scenarios)
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, n := range names {
		sc, err := s.Load(n)
		if err != nil {
			out = append(out, Case{Name: n, err: err, suite: s, params: p})
			continue
		}
		for _, m := range suite.ModelsOf(sc, p.Models, p.Labels) {
			c := Case{Name: n, Model: m, Labels: sc.Labels, scenario: sc, suite: s, params: p}
			out = append(out, c)
			for i := range sc.Variants {
				c.Variant = sc.Variants[i].ID
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: no scenario has the labels %q and models %q that are asked for", s.Dirs.Scenarios, p.Labels, p.Models)
	}
	return out, nil
}

// cleanUp leaves it to tb to clean up, unless the caller does.
func (p *Params) cleanUp(tb testing.TB) {
	tb.Helper()
	if p.Cleanup == nil {
		p.Cleanup = tb.Cleanup
	}
}

// Run runs every selected scenario and fails tb for each that does not pass. On
// a *testing.T each is a subtest, named by scenario, model and, under faults, the
// id of the run.
func Run(tb testing.TB, p Params) {
	tb.Helper()
	p.cleanUp(tb)
	cases, err := Cases(p)
	if err != nil {
		tb.Fatalf("retake: %v", err)
	}
	for _, c := range cases {
		t, ok := tb.(*testing.T)
		if !ok {
			Check(tb, c.Exec(tb))
			continue
		}
		t.Run(path.Join(c.Name, c.Model, c.Variant), func(t *testing.T) { Check(t, c.Exec(t)) })
	}
}

// Exec runs the case and returns what came out; of one that cannot be run, why.
// It fails tb only when there is no *testing.T for the bubble of an agent.
func (c *Case) Exec(tb testing.TB) *harness.Result {
	tb.Helper()
	return c.exec(tb, func(*harness.Params) {})
}

// notBuilt is the result of a case that cannot be run.
func (c *Case) notBuilt(err error) *harness.Result {
	r := harness.NotBuilt(c.Name, c.Model, err)
	r.Variant = c.Variant
	r.Secrets = c.suite.Config.Hidden()
	return r
}

func (c *Case) exec(tb testing.TB, edit func(*harness.Params)) *harness.Result {
	tb.Helper()
	p, err := c.build()
	if err != nil {
		return c.notBuilt(err)
	}
	edit(&p)
	return c.runner(tb)(tb.Context(), p)
}

// build is what a run of the case takes.
func (c *Case) build() (harness.Params, error) {
	if c.err != nil {
		return harness.Params{}, c.err
	}
	p, err := c.suite.Params(c.scenario, c.Model, suite.Options{Agent: c.params.Agent, Update: Updating()})
	if err != nil {
		return p, err
	}
	c.params.equip(&p)
	if c.params.NoGolden {
		quiet := *p.Scenario
		quiet.Expect.Golden = false
		p.Scenario = &quiet
	}
	if v := c.scenario.Variant(c.Variant); v != nil {
		under := *v
		under.Expect.Golden = under.Expect.Golden && !c.params.NoGolden
		p.Variant = &under
	}
	return p, nil
}

// equip gives runs the tools of p.
func (p *Params) equip(run *harness.Params) {
	if p.NewTools == nil {
		run.Executors = p.Tools
		return
	}
	next := run.OpenTools
	run.OpenTools = func(ctx context.Context, s *scenario.Scenario) (*harness.Tools, error) {
		if next == nil {
			return p.NewTools(), nil
		}
		started, err := next(ctx, s)
		if err != nil {
			return nil, err
		}
		return started.With(p.NewTools()), nil
	}
}

// runner makes a run on the clock that the agent needs.
func (c *Case) runner(tb testing.TB) func(context.Context, harness.Params) *harness.Result {
	tb.Helper()
	if c.params.Agent == nil || c.params.Virtual {
		return harness.Exec
	}
	t := c.testingT(tb)
	return func(ctx context.Context, p harness.Params) *harness.Result {
		if p.Clock == clock.ModeReal { // a server or a command would not be in the bubble
			return harness.Exec(ctx, p)
		}
		p.Clock = clock.ModeBubble
		return bubble(t, p)
	}
}

func (c *Case) testingT(tb testing.TB) *testing.T {
	tb.Helper()
	if c.params.T != nil {
		return c.params.T
	}
	t, ok := tb.(*testing.T)
	if !ok {
		tb.Fatal("retake: an agent of your own runs in a testing/synctest bubble, which needs a *testing.T: " +
			"set Params.T to the one of the suite's TestX function, or Params.Virtual when the agent waits only through package clock")
	}
	return t
}

// bubble runs the scenario in a bubble. Nothing in there touches a testing.TB:
// a failure would lose its message. A bubble in which all are waiting for ever
// panics; that is the agent's failure.
func bubble(t *testing.T, p harness.Params) (r *harness.Result) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			r = harness.NotBuilt(p.Scenario.Name, p.Model, failure.Errorf(failure.Agent,
				"the agent hung, or left a goroutine behind that does: %v; look for a wait without a timeout", v))
			r.Secrets = p.Secrets
			if p.Variant != nil {
				r.Variant = p.Variant.ID
			}
			r.Scenario, r.Clock, r.Failures[0].Where = p.Scenario, p.Clock, p.Scenario.File
		}
	}()
	synctest.Test(t, func(t *testing.T) { r = harness.Exec(context.WithoutCancel(t.Context()), p) })
	return r
}

// Check fails tb with an explanation when the result is no pass.
func Check(tb testing.TB, r *harness.Result) {
	tb.Helper()
	for _, w := range r.Warnings {
		tb.Logf("warning: %s", r.Secrets.Text(w))
	}
	if r.Accepted {
		tb.Logf("golden accepted: %s", report.Title(r.Name, r.Variant))
	}
	if r.Verdict != harness.Pass {
		tb.Error(Explain(r))
	}
}

// Explain says why a result is no pass.
func Explain(r *harness.Result) string {
	name := report.Title(r.Name, r.Variant)
	if r.Model != "" {
		name += " [" + r.Model + "]"
	}
	return fmt.Sprintf("%s: %s\n%s", r.Verdict, name, report.Explain(r, 2))
}

// Updating tells whether RETAKE_UPDATE=1 or GOLDIE_UPDATE=1 asks for files to be
// written anew.
func Updating() bool { return update.Asked(os.Getenv) }

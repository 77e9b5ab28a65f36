package harnesstest

import (
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/sweep"
)

// SweepParams say what to sweep, and with which faults.
type SweepParams struct {
	Params
	Faults     []string // names of faults, or patterns such as tool.*; none: all
	Pairs      bool     // every two faults as well
	EveryEvent bool     // every event of a stream; else the first, the middle, the last and each block's boundary
	Seed       uint64   // what chance is drawn from; 0 is the scenario's
	Max        int      // the most runs of one scenario, drawn by the seed; 0: see sweep.Params
}

// repeatVar is the environment variable that repeats one run of a sweep.
const repeatVar = "RETAKE_FAULT"

// Sweep runs every selected scenario under every fault of the catalogue, at every
// place where it can strike, and fails tb where the agent breaks the contract or
// does something twice; the matrix is logged. On a *testing.T each scenario is a
// subtest. Each breach comes with the command that repeats it alone, by way of
// RETAKE_FAULT, and then shows the run's transcript.
//
// Tools that keep a world of their own come from Params.NewTools, so that each run
// begins in the same.
//
// The reports are those of the scenarios that could be swept, in their order.
func Sweep(tb testing.TB, p SweepParams) []*sweep.Report {
	tb.Helper()
	p.cleanUp(tb)
	cases, err := Cases(p.Params)
	if err != nil {
		tb.Fatalf("retake: %v", err)
	}
	var out []*sweep.Report
	one := func(tb testing.TB, c *Case) {
		tb.Helper()
		if r := c.sweep(tb, p); r != nil {
			out = append(out, r)
		}
	}
	for i := range cases {
		c := &cases[i]
		if c.Variant != "" {
			continue
		}
		if t, ok := tb.(*testing.T); ok {
			t.Run(path.Join(c.Name, c.Model), func(t *testing.T) { one(t, c) })
			continue
		}
		one(tb, c)
	}
	return out
}

// sweep sweeps one case; nil when it cannot be, or when one run was repeated.
func (c *Case) sweep(tb testing.TB, p SweepParams) *sweep.Report {
	tb.Helper()
	hp, err := c.build()
	if err != nil {
		tb.Error(Explain(c.notBuilt(err)))
		return nil
	}
	if specs, ok := os.LookupEnv(repeatVar); ok {
		c.repeat(tb, hp, strings.Fields(specs), p.Seed)
		return nil
	}
	workers := 1 // a bubble hangs on its test
	if p.Agent == nil || p.Virtual {
		workers = runtime.GOMAXPROCS(0)
	}
	r, err := sweep.Run(tb.Context(), sweep.Params{
		Run: hp, Exec: c.runner(tb), Only: p.Faults, Pairs: p.Pairs, EveryEvent: p.EveryEvent, Seed: p.Seed, Max: p.Max,
		Parallel: workers, Command: func(specs []fault.Spec) string { return command(tb.Name(), specs) },
	})
	if err != nil {
		tb.Errorf("retake: %s", hp.Secrets.Text(err.Error()))
		return nil
	}
	if r.Totals.Runs == 0 {
		tb.Errorf("retake: %s: none of the faults %q applies anywhere: nothing was swept", c.Name, p.Faults)
		return r
	}
	matrix := hp.Secrets.Text(string(r.AppendText(nil)))
	if len(r.Breached()) > 0 {
		tb.Errorf("the agent does not survive the sweep\n%s", matrix)
	} else {
		tb.Log("\n" + matrix)
	}
	return r
}

// repeat makes the one run that RETAKE_FAULT names.
func (c *Case) repeat(tb testing.TB, hp harness.Params, texts []string, seed uint64) {
	tb.Helper()
	var specs []fault.Spec
	for _, text := range texts {
		spec, err := fault.ParseSpec(text)
		if err != nil {
			tb.Fatalf("retake: %s: %v", repeatVar, err)
		}
		specs = append(specs, spec)
	}
	if len(specs) == 0 {
		tb.Fatalf("retake: %s names no fault; unset it to sweep, or say for instance %s=model.reset", repeatVar, repeatVar)
	}
	exec := c.runner(tb)
	base := sweep.Base(hp)
	r := exec(tb.Context(), base)
	if r.Verdict != harness.Pass {
		tb.Fatalf("retake: without the fault, mend that first\n%s", Explain(r))
	}
	hp.Variant, hp.ContractOnly, hp.Seed = sweep.Variant(hp.Scenario, r, specs), true, seed
	r = exec(tb.Context(), hp)
	tb.Logf("%s under %s only: %s\n%s", c.Name, sweep.Spell(specs), r.Verdict, r.Secrets.Text(string(r.Transcript)))
	if r.Verdict != harness.Pass && r.Verdict != harness.Diverged {
		tb.Error(Explain(r))
	}
}

// command repeats one run of the test.
func command(test string, specs []fault.Spec) string {
	parts := make([]string, len(specs))
	for i := range specs {
		parts[i] = specs[i].String()
	}
	return repeatVar + "='" + strings.ReplaceAll(strings.Join(parts, " "), "'", "%27") + "' go test -v -run '" + anchored(test) + "'"
}

// anchored selects one test and no other: each element of its path, whole.
func anchored(test string) string {
	elements := strings.Split(test, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elements, "/")
}

package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/sweep"
)

// some are faults of each kind, to keep tests short.
var some = []string{"model.overloaded", "model.truncated_stream", "model.empty_turn", "tool.lost_ack", "tool.panic", "host.*"}

func document(tb testing.TB, r *sweep.Report) []byte {
	tb.Helper()
	b, err := r.JSON()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// The same seed gives the same matrix, byte for byte, on any number of workers.
func TestTheSameOnAnyNumberOfWorkers(t *testing.T) {
	for _, name := range []string{"travel/umbrella", "travel/umbrella-stream"} {
		p := sweep.Params{Run: paramsOf(t, name), Only: some, Pairs: true, Seed: 7}
		want := document(t, sweepOf(t, p))
		for _, n := range []int{2, 8, 64} {
			p.Parallel = n
			if got := document(t, sweepOf(t, p)); !bytes.Equal(got, want) {
				t.Errorf("%s: %d workers give another report", name, n)
			}
		}
	}
}

// Stream faults strike the first, the middle and the last event and the first of
// each block; all events when asked to.
func TestEventsOfAStream(t *testing.T) {
	p := sweep.Params{Run: paramsOf(t, "travel/umbrella-stream"), Only: []string{"model.truncated_stream"}}
	few, all := sweepOf(t, p), sweepOf(t, with2(p, func(p *sweep.Params) { p.EveryEvent = true }))
	events := func(r *sweep.Report) []string {
		var out []string
		for _, o := range r.Rows[0].Cells[0].Runs {
			_, event, _ := strings.Cut(o.Spec, "event=")
			out = append(out, event)
		}
		return out
	}
	if got := strings.Join(events(few), " "); got != "1 5 6 8 12 6,times=2 6,times=every" {
		t.Errorf("events %q", got)
	}
	if got, n := events(few), len(events(all)); n <= len(got) || !slices.Contains(got, "1") {
		t.Errorf("events %v of %d", got, n)
	}
}

func with2(p sweep.Params, edit func(*sweep.Params)) sweep.Params {
	edit(&p)
	return p
}

// A fault that a loop may try again after strikes once, twice, and at every attempt;
// where it does not fit the reason is told.
func TestAttemptsOfASweep(t *testing.T) {
	r := sweepOf(t, sweep.Params{Run: paramsOf(t, "travel/umbrella"), Only: []string{"model.reset", "model.truncated_stream"}})
	var got []string
	for _, o := range r.Rows[0].Cells[0].Runs {
		got = append(got, o.Spec)
	}
	if want := []string{"model.reset@call=1", "model.reset@call=1,times=2", "model.reset@call=1,times=every"}; !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q", got, want)
	}
	if c := r.Rows[1].Cells[0]; c.State != sweep.NotApplicable || len(c.Runs) != 1 || c.Runs[0].Why != "the answer is no stream" {
		t.Errorf("got %+v", c)
	}
}

// A sweep that is larger than the maximum is drawn from by the seed, and says how
// much it left out.
func TestMax(t *testing.T) {
	p := sweep.Params{Run: paramsOf(t, "travel/umbrella"), Only: some, Max: 5}
	a, b := sweepOf(t, p), sweepOf(t, with2(p, func(p *sweep.Params) { p.Seed = 9 }))
	all := sweepOf(t, with2(p, func(p *sweep.Params) { p.Max = 0 }))
	for _, r := range []*sweep.Report{a, b} {
		if r.Totals.Runs != 5 || r.LeftOut != all.Totals.Runs-5 || r.Totals.NotRun != r.LeftOut {
			t.Errorf("made %d, left out %d of %d, not run %d", r.Totals.Runs, r.LeftOut, all.Totals.Runs, r.Totals.NotRun)
		}
		if !bytes.Contains(r.AppendText(nil), []byte("runs were left out")) {
			t.Error("the matrix does not say that it is a part")
		}
	}
	if bytes.Equal(document(t, a), document(t, b)) {
		t.Error("two seeds draw the same runs")
	}
}

// What is breached comes with a command that repeats it.
func TestABreachCanBeRepeated(t *testing.T) {
	p := sweep.Params{Run: with(paramsOf(t, "travel/umbrella"), careless{dropsFailed: true}), Only: []string{"tool.unavailable"}}
	r := sweepOf(t, p)
	out := r.Breached()
	if len(out) == 0 {
		t.Fatalf("nothing is breached:\n%s", r.AppendText(nil))
	}
	const prefix = "retake run travel/umbrella --fault "
	text, ok := strings.CutPrefix(out[0].Command, prefix)
	if !ok {
		t.Fatalf("the command is %q", out[0].Command)
	}
	spec, err := fault.ParseSpec(text)
	if err != nil || spec.String() != out[0].Spec {
		t.Errorf("%q is read as %q, %v", text, spec, err)
	}
}

// Two faults together show what neither shows alone.
func TestPairs(t *testing.T) {
	p := sweep.Params{Run: paramsOf(t, "travel/umbrella"), Only: []string{"model.overloaded", "model.reset"}, Pairs: true}
	r := sweepOf(t, p)
	// Six places of a fault: fifteen pairs of two; the three of them at one call come
	// in both orders, since either strikes the attempt that the other has caused.
	if want := 18; r.Pairs.Totals.Runs != want {
		t.Errorf("%d pairs, want %d", r.Pairs.Totals.Runs, want)
	}
	if r.Pairs.Totals.Held != r.Pairs.Totals.Runs {
		t.Errorf("the reference loop: %s", r.Pairs.Totals)
	}
}

// A write under two faults, too: a claim that a second run of the task makes good
// is none that the check of the effects would have to report.
func TestPairsWithAWrite(t *testing.T) {
	r := sweepOf(t, sweep.Params{Run: paramsOf(t, "checkout/gift"), Only: []string{"model.false_claim", "host.regenerate", "tool.lost_ack"}, Pairs: true})
	for _, o := range r.Breached() {
		for _, b := range o.Breaches {
			if b.Part != "tool" || !strings.HasPrefix(b.What, "send_confirmation: ") {
				t.Errorf("%s: %+v", o.Spec, b)
			}
		}
	}
}

func TestASweepThatCannotBeMade(t *testing.T) {
	p := paramsOf(t, "travel/umbrella")
	t.Run("an unknown fault", func(t *testing.T) {
		_, err := sweep.Run(t.Context(), sweep.Params{Run: p, Only: []string{"tool.painc"}})
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), `"tool.panic"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a scenario that fails without faults", func(t *testing.T) {
		_, err := sweep.Run(t.Context(), sweep.Params{Run: with(p, harness.Func(func(context.Context, *harness.Env) (string, error) { return "", nil }))})
		if bad := new(sweep.NotPassedError); !errors.As(err, &bad) || !strings.Contains(err.Error(), "mend that first") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("fewer runs than none", func(t *testing.T) {
		_, err := sweep.Run(t.Context(), sweep.Params{Run: p, Max: -1})
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), "say how many to make") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := sweep.Run(ctx, sweep.Params{Run: p, Only: some, Progress: func(done, _ int) {
			if done == 3 {
				cancel()
			}
		}})
		if failure.Of(err) != failure.Interrupted || r == nil || r.Totals.Runs < 3 || r.Totals.NotRun == 0 {
			t.Errorf("got %v, %+v", err, r)
		}
	})
}

// An agent that panics, and one that returns an error: the first has no excuse,
// the second has given up, which is its right.
func TestHowAnAgentEnds(t *testing.T) {
	p := paramsOf(t, "travel/umbrella")
	for _, tc := range []struct {
		why  string
		bad  func() (harness.Outcome, error)
		want sweep.State
	}{
		{"a panic", func() (harness.Outcome, error) { panic("nil map") }, sweep.Breached},
		{"an error", func() (harness.Outcome, error) { return harness.Outcome{}, errors.New("overloaded") }, sweep.Held},
	} {
		agent := agentFunc(func(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
			out, err := careless{}.Run(ctx, env)
			if out.Class != failure.None {
				return tc.bad()
			}
			return out, err
		})
		r := sweepOf(t, sweep.Params{Run: with(p, agent), Only: []string{"model.client_error"}})
		if got := r.Rows[0].Cells[0].State; got != tc.want {
			t.Errorf("%s is %q, want %q:\n%s", tc.why, got, tc.want, r.AppendText(nil))
		}
	}
}

type agentFunc func(context.Context, *harness.Env) (harness.Outcome, error)

func (f agentFunc) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	return f(ctx, env)
}

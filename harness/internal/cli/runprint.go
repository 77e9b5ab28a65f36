package cli

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// runPrinter prints a line for each result, and below it what did not hold; below
// all of them, how far the run is.
type runPrinter struct {
	sys      IO
	quiet    bool
	color    bool
	said     map[string]string // explanation → the scenario that it was printed for
	progress *progress
	way      way
	name     string // of the last result
	fixed    int    // results that are the same in every trial
}

func newRunPrinter(sys IO, quiet bool, total int) *runPrinter {
	p := &runPrinter{
		sys: sys, quiet: quiet, said: map[string]string{}, color: sys.Terminal && sys.Getenv("NO_COLOR") == "",
		progress: newProgress(sys), way: way{total: total},
	}
	p.progress.quiet = quiet
	return p
}

// result prints one result. Results of one scenario come one after the other, so
// the one before is done when the next one comes.
func (p *runPrinter) result(r *harness.Result) {
	if p.name != r.Name && p.name != "" {
		p.way.done++
	}
	p.name = r.Name
	if r.Verdict == harness.NotRun {
		return // the summary counts them
	}
	f := report.FiguresOf(r)
	p.count(r, &f)
	if r.Trial == 0 {
		p.fixed++
	}
	if !p.quiet || r.Verdict != harness.Pass {
		p.progress.above(func() { p.print(r, &f) })
	}
	p.progress.say(false, p.way.texts(p.progress.watch())...)
}

func (p *runPrinter) count(r *harness.Result, f *report.Figures) {
	if r.Verdict != harness.Pass {
		p.way.failed++
	}
	p.way.tokens += f.Tokens.Total
	for _, cost := range []*float64{f.Cost, f.ToolCost} {
		if cost != nil && *cost > 0 {
			sum := *cost
			if p.way.cost != nil {
				sum += *p.way.cost
			}
			p.way.cost = &sum
		}
	}
}

func (p *runPrinter) print(r *harness.Result, f *report.Figures) {
	_, _ = fmt.Fprintf(p.sys.Stdout, "%s %-34s %-18s %2d turns %2d model %2d tool %6d tok %9s %9s %-7s %7.2f ms\n",
		p.word(r.Verdict), transcript.Safe(report.TitleOf(r)), transcript.Safe(r.Model), f.Iterations, f.ModelAttempts, f.ToolCalls, f.Tokens.Total,
		report.Dollars(f.Cost), report.Duration(f.Latency), r.Clock, float64(r.Real.Microseconds())/1000)
	if r.Accepted {
		_, _ = fmt.Fprintln(p.sys.Stdout, "      golden accepted")
	}
	for _, w := range r.Warnings {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      warning: %s\n", transcript.AppendSafe(nil, w, 15))
	}
	if r.Verdict != harness.Pass {
		p.struck(r)
	}
	p.explain(r)
}

// struck says of each fault what came of it.
func (p *runPrinter) struck(r *harness.Result) {
	for i := range r.Faults {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      fault %s\n", transcript.AppendSafe(nil, cameOf(&r.Faults[i]), 12))
	}
}

// cameOf is what came of a fault, in a line.
func cameOf(f *fault.Fired) string {
	where := f.At.String()
	switch entry, ok := fault.Lookup(f.Spec.Name); {
	case ok && entry.Side() == fault.SideHost:
		where = "the run as a whole"
	case ok && entry.Side() == fault.SideModel:
		where = "model " + where
	}
	switch {
	case f.Times > 1:
		return fmt.Sprintf("%s struck %d times, first %s", f.Spec, f.Times, where)
	case f.Times == 1:
		return fmt.Sprintf("%s struck %s", f.Spec, where)
	case f.Why != "":
		return fmt.Sprintf("%s did not strike: %s", f.Spec, f.Why)
	default:
		return fmt.Sprintf("%s did not strike: the run never came to its place", f.Spec)
	}
}

// explain prints what did not hold, once: a mistake in a shared file is every
// scenario's.
func (p *runPrinter) explain(r *harness.Result) {
	text := report.Explain(r, 6)
	if first, ok := p.said[text]; ok && text != "" {
		_, _ = fmt.Fprintf(p.sys.Stdout, "      for the same reason as %s\n", transcript.Safe(first))
		return
	}
	p.said[text] = report.TitleOf(r)
	_, _ = fmt.Fprint(p.sys.Stdout, text)
}

var verdictWords = map[harness.Verdict]string{
	harness.Pass: "PASS", harness.Fail: "FAIL", harness.Invalid: "INVAL", harness.Broken: "BROKE", harness.Diverged: "DIVRG",
}

func (p *runPrinter) word(v harness.Verdict) string {
	word := fmt.Sprintf("%-5s", verdictWords[v])
	switch {
	case !p.color:
		return word
	case v == harness.Pass:
		return "\x1b[32m" + word + "\x1b[0m"
	default:
		return "\x1b[31m" + word + "\x1b[0m"
	}
}

func (p *runPrinter) summary(t report.Totals, dir string) {
	p.progress.clear()
	var parts []string
	for _, v := range []harness.Verdict{harness.Pass, harness.Fail, harness.Invalid, harness.Broken, harness.Diverged, harness.NotRun} {
		if n := t.Verdicts[string(v)]; n > 0 || v == harness.Pass {
			parts = append(parts, fmt.Sprintf("%d %s", n, summaryWords[v]))
		}
	}
	_, _ = fmt.Fprintf(p.sys.Stdout, "\n%s: %s\n", strings.Join(parts, ", "), report.Summary(t))
	if dir != "" {
		_, _ = fmt.Fprintf(p.sys.Stdout, "report: %s\n", dir)
	}
}

// once says which runs were not made as often as was asked for.
func (p *runPrinter) once(trials int) {
	if trials <= 1 || p.fixed == 0 {
		return
	}
	_, _ = fmt.Fprintf(p.sys.Stdout, "note: %s of recordings in virtual time: the same each time, so one trial is enough, and one was made of the %d\n",
		report.Count(p.fixed, "replay"), trials)
}

var summaryWords = map[harness.Verdict]string{
	harness.Pass: "passed", harness.Fail: "failed", harness.Invalid: "invalid", harness.Broken: "broken",
	harness.Diverged: "diverged", harness.NotRun: "not run",
}

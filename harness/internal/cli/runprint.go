package cli

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// runPrinter prints a line for each result, and below it what did not hold.
type runPrinter struct {
	sys   IO
	quiet bool
	color bool
	total int
	done  int
	said  map[string]string // explanation → the scenario that it was printed for
}

func newRunPrinter(sys IO, quiet bool, total int) *runPrinter {
	return &runPrinter{sys: sys, quiet: quiet, total: total, said: map[string]string{}, color: sys.Terminal && sys.Getenv("NO_COLOR") == ""}
}

func (p *runPrinter) result(r *harness.Result) {
	p.done++
	if r.Verdict == harness.NotRun {
		return // the summary counts them
	}
	if p.quiet && r.Verdict == harness.Pass {
		p.progress()
		return
	}
	p.clear()
	f := report.FiguresOf(r)
	_, _ = fmt.Fprintf(p.sys.Stdout, "%s %-34s %-18s %2d turns %2d model %2d tool %6d tok %9s %9s %-7s %7.2f ms\n",
		p.word(r.Verdict), transcript.Safe(report.Title(r.Name, r.Variant)), transcript.Safe(r.Model), f.Iterations, f.ModelAttempts, f.ToolCalls, f.Tokens.Total,
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
	p.said[text] = report.Title(r.Name, r.Variant)
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

// progress shows a quiet run's way on a terminal.
func (p *runPrinter) progress() {
	if p.sys.Terminal && (p.done%50 == 0 || p.done == p.total) {
		_, _ = fmt.Fprintf(p.sys.Stdout, "\r%d of %d scenarios", p.done, p.total)
	}
}

func (p *runPrinter) clear() {
	if p.quiet && p.sys.Terminal {
		_, _ = fmt.Fprint(p.sys.Stdout, "\r\x1b[K")
	}
}

func (p *runPrinter) summary(t report.Totals, dir string) {
	p.clear()
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

var summaryWords = map[harness.Verdict]string{
	harness.Pass: "passed", harness.Fail: "failed", harness.Invalid: "invalid", harness.Broken: "broken",
	harness.Diverged: "diverged", harness.NotRun: "not run",
}

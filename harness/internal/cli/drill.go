package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
)

type drillFlags struct {
	file                     string
	only                     []string
	repeat                   atLeastOne
	json, markdown, noReport bool

	server string
	quick  drillfile.Quick
}

func drillCommand(sys IO, p *project) *cobra.Command {
	f := &drillFlags{repeat: 1}
	cmd := &cobra.Command{
		Use:   "drill [NAME…]",
		Short: "Try a tool that writes for idempotency: repeats, races, crashes, other tenants",
		Long: `drill calls a writing tool as models and platforms do: again, at the same time, with
a lost answer, across a restart, and with its process killed between two steps of the
write. What came of it is counted in the world by a probe, and held against the
invariants I1 to I22 (and T1 to T4, of tenants). A breach is shown with the calls that
led to it and with what to do; a declared policy that is a hazard is a warning; what
cannot be tried here does not apply, with the reason.

Drills are described in drill.yaml beside scenarios (NAME is its folder and the
drill's own name), or for a first try by flags. The report is also written to
reports/drill/NAME.json and .md.

exit codes: 0 nothing breached, 1 a breach, 2 bad usage or file, 3 the tool's world
could not be built, 4 nothing applies, 130 interrupted, after what was found is told`,
		Example: `  retake drill shop/order
  retake drill shop --only I2,I10 --repeat 20
  retake drill --server 'shop-server --db ${scratch}/shop.db' --tool create_order --args '{"sku":"A-17"}' \
    --key idempotency_key --probe-tool list_orders --probe-pointer /orders`,
		RunE: func(_ *cobra.Command, args []string) error { return runDrill(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "the file that describes the drills, instead of those beside scenarios")
	flags.StringSliceVar(&f.only, "only", nil, "only these invariants, like I2,I10")
	flags.Var(&f.repeat, "repeat", "drill so many times, and say which rows came out differently")
	flags.BoolVar(&f.json, "json", false, "print JSON, a document a line, instead of the table")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the table")
	flags.BoolVar(&f.noReport, "no-report", false, "write no files")
	flags.StringVar(&f.server, "server", "", "try the MCP server that this command starts (words between spaces; ${scratch} is a new folder for each row)")
	flags.StringVar(&f.quick.URL, "url", "", "try the MCP server at this address")
	flags.StringVar(&f.quick.Tool, "tool", "", "the tool to try")
	flags.StringVar(&f.quick.Args, "args", "{}", "arguments that it accepts, without the key, as JSON")
	flags.StringVar(&f.quick.Key, "key", "", "the argument with the idempotency key")
	flags.StringVar(&f.quick.ProbeTool, "probe-tool", "", "a reading tool that shows the effects")
	flags.StringVar(&f.quick.ProbeArgs, "probe-args", "", "what that tool is called with, as JSON; default {}")
	flags.StringVar(&f.quick.ProbeMatches, "probe-matches", "", "count what this regular expression fits in its answer, instead of a pointer")
	flags.StringVar(&f.quick.ProbePointer, "probe-pointer", "", "where its answer shows them, as a JSON pointer: a number, or what has as many members")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	cmd.MarkFlagsMutuallyExclusive("server", "url", "file")
	return cmd
}

func runDrill(sys IO, p *project, f *drillFlags, args []string) error {
	drills, reports, done, err := f.drills(&sys, p, args)
	defer done()
	if err != nil {
		return err
	}
	d := &driller{sys: sys, flags: f, reports: reports, progress: newProgress(sys)}
	worst := exitPass
	for _, one := range drills {
		if worst = worse(worst, d.drill(one)); worst == exitInterrupted {
			break
		}
	}
	if worst != exitPass {
		return exitError(worst)
	}
	return nil
}

// drills are those that are asked for, with the folder of their reports; done is
// called when they are over.
func (f *drillFlags) drills(sys *IO, p *project, args []string) (drills []*drillfile.Drill, reports string, done func(), err error) {
	done = func() {}
	quick := f.server != "" || f.quick.URL != ""
	if quick || f.file != "" {
		if len(args) > 0 && quick {
			return nil, "", done, failure.Errorf(failure.ScenarioInvalid, "%q names a drill, and --server and --url say another one; give one of them", args[0])
		}
		c, err := suite.OpenConfig(p.dirs, sys.Getenv)
		if err != nil {
			return nil, "", done, err
		}
		sys.hidden.values = c.Hidden()
		o := suite.DrillOptions(c, p.dirs.Root, sys.Getenv)
		drills, err = f.described(quick, args, o)
		return drills, filepath.Join(suite.Filled(p.dirs).Reports, "drill"), o.Close, err
	}
	if f.quick.Tool != "" {
		return nil, "", done, failure.Errorf(failure.ScenarioInvalid, "--tool %s: say where it runs, with --server or --url", f.quick.Tool)
	}
	s, err := openSuite(*sys, p)
	if err != nil {
		return nil, "", done, err
	}
	drills, err = s.Drills(args)
	return drills, filepath.Join(s.Dirs.Reports, "drill"), s.Close, err
}

// described are the drills of the file, or of the flags.
func (f *drillFlags) described(quick bool, names []string, o drillfile.Options) ([]*drillfile.Drill, error) {
	if !quick {
		drills, err := drillfile.Load(f.file, "", o)
		if err != nil {
			return nil, err
		}
		return suite.SelectDrills(drills, names, "in "+f.file)
	}
	if f.quick.Tool == "" || f.quick.ProbeTool == "" {
		return nil, failure.Errorf(failure.ScenarioInvalid, "to try a server, say --tool NAME and how its effects are counted: --probe-tool NAME --probe-pointer POINTER")
	}
	f.quick.Command = strings.Fields(f.server)
	d, err := drillfile.NewQuick(f.quick, o)
	return []*drillfile.Drill{d}, err
}

// driller makes one drill after the other. What goes wrong with one keeps no other
// from being made.
type driller struct {
	sys      IO
	flags    *drillFlags
	reports  string
	progress *progress
}

func (d *driller) drill(one *drillfile.Drill) int {
	p, err := one.Params(d.sys.Context)
	switch {
	case d.sys.Context.Err() != nil:
		return complain(d.sys, failure.Errorf(failure.Interrupted, "interrupted: %s was not drilled", one.Name), exitInterrupted)
	case err != nil:
		return complain(d.sys, err, exitOf(err))
	}
	p.Only, p.Progress = d.flags.only, d.progress.show
	seen := map[string]map[drill.State]int{} // what each row came out as, and how often
	worst := exitPass
	for n := 1; n <= int(d.flags.repeat) && worst != exitInterrupted; n++ {
		worst = worse(worst, d.once(p, n, seen))
	}
	d.tellDifferences(seen)
	return worst
}

func (d *driller) once(p drill.Params, n int, seen map[string]map[drill.State]int) int {
	r, err := drill.Run(d.sys.Context, p)
	d.progress.clear()
	code := exitPass
	if r != nil {
		for name, state := range r.States() {
			if seen[name] == nil {
				seen[name] = map[drill.State]int{}
			}
			seen[name][state]++
		}
		code = d.code(r, err)
		untold := d.tell(r, n)
		code = worse(code, complain(d.sys, untold, exitOf(untold)))
	}
	return worse(code, complain(d.sys, err, exitOf(err)))
}

func (d *driller) code(r *drill.Report, err error) int {
	switch {
	case r.Totals.Breached > 0:
		return exitFail
	case r.Totals.Applied() == 0 && err == nil:
		return complain(d.sys, failure.Errorf(failure.Diverged, "%s: none of the invariants applies, so nothing was found out; the reasons are in the table", r.Drill), exitInconclusive)
	}
	return exitPass
}

// tell prints a report and writes its files. Of several the first is printed, and
// each that has a breach; the files have the last.
func (d *driller) tell(r *drill.Report, n int) error {
	if n == 1 || d.flags.json || r.Totals.Breached > 0 {
		out, err := d.shown(r)
		if err != nil {
			return err
		}
		if _, err := d.sys.Stdout.Write(out); err != nil {
			return failure.Errorf(failure.World, "writing the report: %w", err)
		}
	}
	if d.flags.noReport {
		return nil
	}
	return d.write(r)
}

func (d *driller) shown(r *drill.Report) ([]byte, error) {
	switch {
	case d.flags.json:
		return r.JSONLine()
	case d.flags.markdown:
		return r.AppendMarkdown(nil), nil
	}
	return r.AppendText(nil), nil
}

// tellDifferences says what chance there is in the rows.
func (d *driller) tellDifferences(seen map[string]map[drill.State]int) {
	if d.flags.repeat == 1 || d.flags.json {
		return
	}
	times := 0 // an interrupt may have come before the last
	for _, states := range seen {
		n := 0
		for _, k := range states {
			n += k
		}
		times = max(times, n)
	}
	differed := 0
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if len(seen[name]) < 2 {
			continue
		}
		differed++
		var parts []string
		for _, s := range slices.Sorted(maps.Keys(seen[name])) {
			parts = append(parts, fmt.Sprintf("%s %d times", s, seen[name][s]))
		}
		_, _ = fmt.Fprintf(d.sys.Stdout, "  %s came out differently: %s\n", name, strings.Join(parts, ", "))
	}
	if differed == 0 {
		_, _ = fmt.Fprintf(d.sys.Stdout, "  drilled %d times: each row came out the same each time\n", times)
	}
}

func (d *driller) write(r *drill.Report) error {
	text, err := r.JSON()
	if err != nil {
		return failure.Errorf(failure.Internal, "the drill's report: %w", err)
	}
	base := filepath.Join(d.reports, filepath.FromSlash(r.Drill))
	err = os.MkdirAll(filepath.Dir(base), 0o755)
	secrets := d.sys.hidden.values
	if err == nil {
		err = file.Replace(base+".json", secrets.Bytes(text))
	}
	if err == nil {
		err = file.Replace(base+".md", secrets.Bytes(r.AppendMarkdown(nil)))
	}
	if err != nil {
		return failure.Errorf(failure.World, "%s: the drill's report cannot be written: %w; name a writable folder with --reports DIR, or write none with --no-report", base, err)
	}
	return nil
}

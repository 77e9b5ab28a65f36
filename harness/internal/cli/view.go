package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/internal/view"
	"github.com/retake-harness/retake/harness/transcript"
)

type viewFlags struct {
	out  string
	last atLeastOne
}

func viewCommand(sys IO, p *project) *cobra.Command {
	f := &viewFlags{last: 20}
	cmd := &cobra.Command{
		Use:   "view [REPORT…]",
		Short: "Draw reports as one HTML file: runs, matrices, conversations, differences",
		Long: `view puts reports into one HTML file that loads nothing: it opens from disk, and as
what a CI server keeps. It has the runs and models over time, the matrix of scenarios
and models, each scenario's conversation with its calls, attempts, latency and tokens,
the matrices of sweeps and drills, and what changed between two runs. Press ? in it
for its keys.

A REPORT is a run's folder or its report.json, the JSON of a sweep or a drill, or a
folder of reports; without any it is the folder of reports, with its newest runs, its
sweeps and its drills.

exit codes: 0 the page is written, 2 a REPORT is none, 3 one cannot be read or the page
cannot be written`,
		Example: `  retake view                                 reports/view.html
  retake view reports/latest --out run.html   one run`,
		RunE: func(_ *cobra.Command, args []string) error { return runView(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "the file to write (default: view.html in the folder of reports)")
	flags.Var(&f.last, "last", "how many of a folder's runs, from the newest; one with a name of its own is always there")
	return cmd
}

func runView(sys IO, p *project, f *viewFlags, args []string) error {
	reports := suite.Filled(p.dirs).Reports
	paths := args
	if len(paths) == 0 {
		paths = []string{reports}
	}
	found, err := view.Find(paths, int(f.last))
	if err != nil {
		return err
	}
	page, err := view.Build(sys.Context, found)
	if err != nil {
		return err
	}
	for _, problem := range page.Problems {
		_, _ = fmt.Fprintf(sys.Stderr, "warning: %s\n", transcript.AppendSafe(nil, problem.Error(), 9))
	}
	out := f.out
	if out == "" {
		out = filepath.Join(reports, "view.html")
	}
	if err := writePage(page, out); err != nil {
		return failure.Errorf(failure.World, "%s: the page cannot be written: %w; name another file with --out FILE", out, err)
	}
	_, _ = fmt.Fprintln(sys.Stdout, out)
	return nil
}

// writePage writes the page by way of a temporary file in the same folder: a
// browser that looks at the old one reads all of it.
func writePage(page *view.Page, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return file.ReplaceWith(out, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		if _, err := page.WriteTo(w); err != nil {
			return err
		}
		return w.Flush()
	})
}

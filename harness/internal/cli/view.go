package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/internal/view"
	"github.com/retake-harness/retake/harness/transcript"
)

type viewFlags struct {
	out    string
	last   atLeastOne
	open   bool
	serve  bool
	listen string
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

--serve shows the same on this machine alone, and draws it again when a report is
written; Ctrl-C ends it.

exit codes: 0 the page is written, 2 a REPORT is none, 3 one cannot be read or the page
cannot be written`,
		Example: `  retake view                                 reports/view.html
  retake view reports/latest --out run.html   one run
  retake view --serve --open`,
		RunE: func(_ *cobra.Command, args []string) error { return runView(sys, p, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "the file to write (default: view.html in the folder of reports)")
	flags.Var(&f.last, "last", "how many of a folder's runs, from the newest; one with a name of its own is always there")
	flags.BoolVar(&f.open, "open", false, "open the page in the browser")
	flags.BoolVar(&f.serve, "serve", false, "write no file: show the page here until Ctrl-C, and again when reports are written")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "where --serve listens; port 0: any free one")
	cmd.MarkFlagsMutuallyExclusive("serve", "out")
	return cmd
}

func runView(sys IO, p *project, f *viewFlags, args []string) error {
	reports := suite.Filled(p.dirs).Reports
	paths := args
	if len(paths) == 0 {
		paths = []string{reports}
	}
	draw := func(ctx context.Context) (*view.Page, error) {
		found, err := view.Find(paths, int(f.last))
		if err != nil {
			return nil, err
		}
		page, err := view.Build(ctx, found)
		if err == nil {
			complainOf(sys, page)
		}
		return page, err
	}
	if f.serve {
		return serveView(sys, f, &view.Server{Draw: draw, Folders: foldersOf(paths)})
	}
	page, err := draw(sys.Context)
	if err != nil {
		return err
	}
	out := cmp.Or(f.out, filepath.Join(reports, "view.html"))
	if err := writePage(page, out); err != nil {
		return failure.Errorf(failure.World, "%s: the page cannot be written: %w; name another file with --out FILE", out, err)
	}
	_, _ = fmt.Fprintln(sys.Stdout, out)
	if f.open {
		return openPage(sys.Context, out)
	}
	return nil
}

func complainOf(sys IO, page *view.Page) {
	for _, problem := range page.Problems {
		_, _ = fmt.Fprintf(sys.Stderr, "warning: %s\n", transcript.AppendSafe(nil, problem.Error(), 9))
	}
}

// foldersOf are the folders in which the reports are.
func foldersOf(paths []string) []string {
	var out []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		out = append(out, path)
	}
	return out
}

// serveView serves until an interruption, which is how it ends.
func serveView(sys IO, f *viewFlags, s *view.Server) error {
	if _, err := s.Draw(sys.Context); err != nil {
		return err
	}
	l, err := view.Listen(sys.Context, f.listen)
	if err != nil {
		return err
	}
	address := "http://" + l.Addr().String() + "/"
	_, _ = fmt.Fprintf(sys.Stdout, "%s (ends with Ctrl-C)\n", address)
	if f.open {
		if err := openPage(sys.Context, address); err != nil {
			_, _ = fmt.Fprintf(sys.Stderr, "warning: %s\n", transcript.AppendSafe(nil, err.Error(), 9))
		}
	}
	return s.Serve(sys.Context, l)
}

// openPage asks the system to show a file or an address, and does not wait.
func openPage(ctx context.Context, what string) error {
	args := []string{"xdg-open", what}
	switch runtime.GOOS {
	case "darwin":
		args[0] = "open"
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", what}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return failure.Errorf(failure.World, "no browser could be opened: %w; open it yourself: %s", err, what)
	}
	go func() { _ = cmd.Wait() }()
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

package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/report"
)

// many is how many scenarios one run has to bear.
const many = 10_000

// childRoot names, in a child process, the project that it runs instead of tests.
const childRoot = "RETAKE_BENCH_PROJECT"

func TestMain(m *testing.M) {
	root := os.Getenv(childRoot)
	if root == "" {
		os.Exit(m.Run())
	}
	if err := runAll(root); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// BenchmarkTenThousand is a run of 10,000 scenarios on all cores, in a process
// of its own, so that the peak of its memory is that of the run. The goal is 100
// MB.
func BenchmarkTenThousand(b *testing.B) {
	if testing.Short() {
		b.Skip("writes 50,000 files")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("the peak is read from /proc, which is not here")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	newProject(b, root, stories(many))
	peak := 0.0
	for b.Loop() {
		c := exec.CommandContext(b.Context(), self)
		c.Env = append(os.Environ(), childRoot+"="+root)
		out, err := c.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		var kb float64
		if _, err := fmt.Sscan(string(out), &kb); err != nil {
			b.Fatalf("the child said %q: %v", out, err)
		}
		peak = max(peak, kb*1024/1e6)
	}
	b.ReportMetric(peak, "peak-MB")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/scenario")
}

// runAll runs every scenario of a project, with its report, and prints the
// process's peak resident memory in kB.
func runAll(root string) error {
	s, err := suite.Open(suite.Dirs{Root: root}, func(string) string { return "" })
	if err != nil {
		return err
	}
	w, err := report.New(report.Options{Dir: filepath.Join(root, "reports"), ID: report.NewID(clock.Wallclock(), uint32(os.Getpid())), Tool: "bench"})
	if err != nil {
		return err
	}
	o := suite.Options{RunID: "bench", Parallel: runtime.NumCPU()}
	err = s.Run(context.Background(), s.Names(), o, func(r *harness.Result) error {
		if r.Verdict != harness.Pass {
			return fmt.Errorf("%s: %s", r.Name, report.Explain(r, 0))
		}
		return w.Add(r)
	})
	if err != nil {
		w.Discard()
		return err
	}
	if _, err := w.Close(false); err != nil {
		return err
	}
	kb, err := peakMemory()
	fmt.Println(kb)
	return err
}

// peakMemory is VmHWM of proc_pid_status(5), in kB.
func peakMemory() (string, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", fmt.Errorf("/proc/self/status has no VmHWM")
	}
	return fields[0], nil
}

package report_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/sebdah/goldie/v2"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// virtual are the repository's own scenarios whose figures are the same each time:
// their tools answer from recordings.
func virtual(t *testing.T) (*suite.Suite, []string) {
	t.Helper()
	s, err := suite.Open(suite.Dirs{Root: "../.."}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	names, err := s.Select([]string{"travel", "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	return s, names
}

// ours are their results.
func ours(t *testing.T, parallel int) []*harness.Result {
	t.Helper()
	s, names := virtual(t)
	var out []*harness.Result
	err := s.Run(t.Context(), names, suite.Options{RunID: t.Name() + time.Now().String(), Parallel: parallel}, func(r *harness.Result) error {
		out = append(out, r)
		return nil
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%d results, %v", len(out), err)
	}
	return out
}

const hostile = "a\x1b[2J\x00\ufffe\u202e\xff|<b>`x`\n```\n# title\n[x](javascript:1) ]]> & \u009b"

// everyVerdict has a result of each verdict, full of hostile text.
func everyVerdict() []*harness.Result {
	var out []*harness.Result
	for i, v := range []harness.Verdict{harness.Pass, harness.Fail, harness.Invalid, harness.Broken, harness.Diverged, harness.NotRun} {
		n := int64(i)
		r := &harness.Result{
			Scenario: &scenario.Scenario{File: "scenarios/x.yaml", Owner: hostile, Why: hostile, Labels: []string{hostile}},
			Name:     "dir/" + string(v), Model: "m " + hostile, Clock: "virtual", Verdict: v, TaskID: "t",
			Warnings: []string{hostile}, Outcome: harness.Outcome{Answer: hostile, Detail: hostile, Tokens: &n},
			Transcript: []byte("scenario  x\n"),
			Models: []*journal.ModelAttempt{{
				Ordinal: 1, Status: 529, Class: failure.Overloaded, Err: errors.New(hostile), Latency: time.Duration(i) * time.Second,
				Response: &wire.Response{
					Err: &wire.APIError{Type: hostile, Message: hostile}, RawUsage: jsontext.Value(`{"x":1.50}`), RawStop: []string{hostile},
					Problems: []wire.Problem{{Kind: wire.ProblemBadEvent}},
				},
			}},
			Calls:    []*journal.ToolCall{{Ordinal: 1, Tool: hostile, ArgsText: "{", Outcome: journal.Rejected, Class: failure.ToolInvalidArguments}},
			Attempts: []*journal.ToolAttempt{{Call: 1, Attempt: 1, Ordinal: 1, Tool: hostile, Outcome: journal.Rejected, Class: failure.ToolInvalidArguments}},
			Findings: []contract.Finding{{Rule: "W1", State: contract.Breached, Breaches: []contract.Breach{{Rule: "W1", What: hostile}}}},
			Effects:  map[string]int{"b": 2, "a": 1}, AttemptIDs: []string{"t-a1"},
		}
		if i%2 == 1 {
			r.Variant = hostile
			r.Faults = []fault.Fired{
				{Spec: fault.Spec{Name: hostile}, Why: hostile},
				{Spec: fault.Spec{Name: "tool.slow", At: fault.Address{Tool: hostile}}, Times: 1, At: fault.Address{Tool: hostile, Call: 1}},
			}
		}
		if v != harness.Pass {
			r.Failures = []harness.Failure{{
				Class: failure.Contract, Part: failure.PartTool, What: hostile, Where: "x.yaml:3:1", Line: 3,
				Diff: "-" + hostile + "\n+```\n", Why: hostile, Next: hostile,
			}}
		}
		out = append(out, r)
	}
	return out
}

// write makes a report and returns its folder.
func write(t *testing.T, dir string, results []*harness.Result, interrupted bool) string {
	t.Helper()
	return writeAs(t, report.Options{Dir: dir, ID: report.NewID(time.Unix(0, 0), 1), Tool: "retake test"}, results, interrupted)
}

func writeAs(t *testing.T, o report.Options, results []*harness.Result, interrupted bool) string {
	t.Helper()
	w, err := report.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := w.Close(interrupted)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Two runs of the same scenarios differ in run.volatile alone, however many are
// run at once.
func TestTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	var first []byte
	for i, parallel := range []int{1, 8, 8, 3} {
		o := report.Options{Dir: dir, ID: report.NewID(time.Unix(int64(i), 0), 1), Tool: "retake test", Parallel: parallel}
		text := read(t, writeAs(t, o, ours(t, parallel), false), "report.json")
		at := bytes.LastIndex(text, []byte(`"volatile":{`))
		if at < 0 {
			t.Fatal("no run.volatile")
		}
		stable := text[:at]
		if first == nil {
			first = stable
		}
		if diff := cmp.Diff(string(first), string(stable)); diff != "" {
			t.Errorf("run %d with %d at once (-first +this):\n%.2000s", i, parallel, diff)
		}
	}
	var doc struct {
		Run struct {
			Volatile jsontext.Value `json:"volatile"`
		} `json:"run"`
		Scenarios []report.Entry `json:"scenarios"`
	}
	text := read(t, dir, "latest", "report.json")
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Scenarios) == 0 {
		t.Fatal(err)
	}
	// Nothing after it belongs to what must be the same.
	if tail := text[bytes.LastIndex(text, doc.Run.Volatile)+len(doc.Run.Volatile):]; string(tail) != "}}\n" {
		t.Errorf("after run.volatile comes %q", tail)
	}
}

// Each call refers to an id by its ordinal, and each id is there.
func TestIDs(t *testing.T) {
	var doc report.Document
	if err := json.Unmarshal(read(t, write(t, t.TempDir(), ours(t, 2), false), "report.json"), &doc); err != nil {
		t.Fatal(err)
	}
	tasks := map[string]bool{}
	for i, e := range doc.Scenarios {
		stamp := doc.Run.Volatile.Entries[i]
		tasks[stamp.TaskID] = true
		used := map[string]bool{}
		for _, m := range e.Models {
			used[stamp.AttemptIDs[m.AttemptID-1]] = true
		}
		for _, c := range e.Tools {
			for _, a := range c.Attempts {
				used[stamp.AttemptIDs[a.AttemptID-1]] = true
			}
		}
		if len(used) != len(stamp.AttemptIDs) {
			t.Errorf("%s: %d ids are used of %d", e.Name, len(used), len(stamp.AttemptIDs))
		}
	}
	if len(tasks) != len(doc.Scenarios) {
		t.Errorf("%d task ids for %d runs", len(tasks), len(doc.Scenarios))
	}
}

// The reports for people and for CI servers, with every verdict and text that
// wants to break out.
func TestEveryVerdict(t *testing.T) {
	folder := write(t, t.TempDir(), everyVerdict(), true)
	md := read(t, folder, "report.md")
	goldie.New(t, goldie.WithNameSuffix(".golden")).Assert(t, "every-verdict.md", md)
	for line := range strings.Lines(string(md)) {
		if strings.HasPrefix(line, "# title") || strings.ContainsAny(line, "\x1b\x00\u202e\u009b") {
			t.Errorf("broke out: %q", line)
		}
	}
	if text := read(t, folder, "report.json"); strings.ContainsAny(string(text), "\u202e") || !strings.Contains(string(text), `\u202e`) {
		t.Error("report.json has a character that turns around what is read")
	}
	junit := read(t, folder, "junit.xml")
	var got struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	dec := xml.NewDecoder(bytes.NewReader(junit))
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("no XML: %v", err)
	}
	if _, err := dec.Token(); err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("after the document: %v", err)
	}
	s := got.Suites[0]
	if s.Tests != 6 || s.Failures != 2 || s.Errors != 2 || s.Skipped != 1 || len(s.Cases) != 6 {
		t.Errorf("counted %d tests, %d failures, %d errors, %d skipped", s.Tests, s.Failures, s.Errors, s.Skipped)
	}
	for _, r := range string(junit) {
		if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' || r == 0x9b || r == 0xfffe {
			t.Errorf("%U is in the XML", r)
		}
	}
}

// A report that cannot be written says where, is the world's failure, and leaves
// the last one and the folder as they were.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, everyVerdict(), false)
	file := filepath.Join(first, "report.json")
	_, err := report.New(report.Options{Dir: file, ID: "x"})
	if failure.Of(err) != failure.World || !strings.HasPrefix(err.Error(), file+": the report cannot be written: ") || !strings.HasSuffix(err.Error(), "name a writable folder with --reports DIR") {
		t.Errorf("got %v of class %s", err, failure.Of(err))
	}
	// The folder of the run is taken: its files are not written over.
	before := read(t, dir, "latest", "report.json")
	w, err := report.New(report.Options{Dir: dir, ID: filepath.Base(first)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(false); failure.Of(err) != failure.World {
		t.Errorf("written over: %v", err)
	}
	// A transcript that cannot be written.
	w, err = report.New(report.Options{Dir: dir, ID: report.NewID(time.Unix(5, 0), 2)})
	if err != nil {
		t.Fatal(err)
	}
	bad := everyVerdict()[0]
	bad.Name = "a\x00b/c"
	if err := w.Add(bad); failure.Of(err) != failure.World {
		t.Errorf("a transcript was written: %v", err)
	}
	if _, err := w.Close(false); failure.Of(err) != failure.World {
		t.Errorf("a report with a hole was published: %v", err)
	}
	if !bytes.Equal(before, read(t, dir, "latest", "report.json")) {
		t.Error("the last report is another")
	}
	holds(t, dir, filepath.Base(first), "latest")
}

func holds(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s holds (-want +got):\n%s", dir, diff)
	}
}

// Only the newest are kept; what is no run of ours is left alone.
func TestPruning(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "baseline"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		writeAs(t, report.Options{Dir: dir, ID: report.NewID(time.Unix(int64(i), 0), 1), Keep: 2}, nil, false)
	}
	holds(t, dir, "19700101-000002-00000001", "19700101-000003-00000001", "baseline", "latest")
	// A run that ends after a younger one does not take itself away.
	late := writeAs(t, report.Options{Dir: dir, ID: report.NewID(time.Unix(1, 0), 1), Keep: 1}, nil, false)
	read(t, late, "report.json")
	read(t, dir, "latest", "report.json")
}

// Two runs into one folder, at the same time and in the same second.
func TestTwoRunsAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			w, err := report.New(report.Options{Dir: dir, ID: report.NewID(time.Now(), uint32(i))})
			if err != nil {
				t.Error(err)
				return
			}
			for _, r := range everyVerdict() {
				if err := w.Add(r); err != nil {
					t.Error(err)
				}
			}
			if _, err := w.Close(false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 9 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	read(t, dir, "latest", "report.json")
}

// An interruption is told, and what was finished is there.
func TestInterrupted(t *testing.T) {
	s, names := virtual(t)
	ctx, cancel := context.WithCancel(t.Context())
	var results []*harness.Result
	err := s.Run(ctx, names, suite.Options{Parallel: 2}, func(r *harness.Result) error {
		results = append(results, r)
		cancel()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var doc report.Document
	if err := json.Unmarshal(read(t, write(t, t.TempDir(), results, true), "report.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if !doc.Run.Volatile.Stopped || doc.Totals.Scenarios != len(results) || doc.Totals.Verdicts["pass"] < 1 {
		t.Errorf("interrupted: %v, %v", doc.Run.Volatile.Stopped, doc.Totals.Verdicts)
	}
}

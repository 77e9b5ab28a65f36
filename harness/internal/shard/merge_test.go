package shard_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/shard"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

const secret = "sk-very-secret-value"

// results are made-up runs of scenarios, in the order of reports, with words that
// want to break out.
func results(t *rapid.T) (names []string, all []*harness.Result) {
	names = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"a", "a/b", "a/c", "a-b", "b/x", "b/y", "c", "d/" + secret, "e|f", "g`h", "travel/umbrella", "travel/duplicate", "z\u202ez",
	}), 1, 9, rapid.ID).Draw(t, "names")
	slices.Sort(names)
	words := rapid.SampledFrom([]string{"wrong", "x\xffy", "\x1b[31m", "<b>", "=1+1", "key " + secret, "line\nline\r\n", strings.Repeat("long ", 2000)})
	for _, name := range names {
		for _, model := range []string{"m-1", "m-2"}[:rapid.IntRange(1, 2).Draw(t, "models")] {
			trials := rapid.IntRange(1, 3).Draw(t, "trials")
			for trial := 1; trial <= trials; trial++ {
				r := one(t, name, model, words)
				if trials > 1 {
					r.Trial = trial
				}
				all = append(all, r)
			}
		}
	}
	return names, all
}

func one(t *rapid.T, name, model string, words *rapid.Generator[string]) *harness.Result {
	tokens, cost := rapid.Int64Range(0, 1e6).Draw(t, "tokens"), rapid.Float64Range(0, 3).Draw(t, "cost")
	r := &harness.Result{
		Scenario: &scenario.Scenario{File: "scenarios/" + name + ".yaml", Owner: words.Draw(t, "owner"), Labels: []string{words.Draw(t, "label")}},
		Name:     name, Model: model, Clock: "virtual", Verdict: harness.Pass, TaskID: "t", AttemptIDs: []string{"t-a1"},
		Transcript: []byte("scenario  x\nmodel  said\n"), Cost: &cost, Tokens: wire.Usage{Output: &tokens},
		Models: []*journal.ModelAttempt{{
			Ordinal: 1, Latency: time.Duration(tokens) * time.Millisecond,
			Response: &wire.Response{Stop: wire.StopDone, RawUsage: []byte(`{"x": 1.50,"y":[ ]}`)},
		}},
		Real: time.Duration(rapid.IntRange(0, 1e6).Draw(t, "real")) * time.Microsecond,
	}
	if rapid.Bool().Draw(t, "fails") {
		r.Verdict = harness.Fail
		r.Failures = []harness.Failure{{Class: failure.Expectation, Part: failure.PartAgent, What: words.Draw(t, "what"), Diff: words.Draw(t, "diff")}}
	}
	if rapid.Bool().Draw(t, "unpriced") {
		r.Cost = nil
	}
	return r
}

func write(t rapid.TB, dir string, part *report.Shard, all []*harness.Result) string {
	o := report.Options{
		Dir: dir, ID: report.NewID(time.Unix(int64(len(all)), 0), 7), Tool: "retake test", Parallel: 2, Shard: part,
		Secrets: redact.New(redact.Secret{Name: "KEY", Value: secret}),
	}
	w, err := report.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := w.Close(false)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// However a run is split, its parts together give the report that it would have
// given unsplit, to the byte, but for the run's id and times.
func TestMergeIsTheWhole(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		names, all := results(t)
		whole := write(t, filepath.Join(dir, "whole"), nil, all)
		of := rapid.IntRange(2, 5).Draw(t, "of")
		times := map[string]int64{}
		for _, name := range names {
			times[name] = rapid.Int64Range(0, 100).Draw(t, "took")
		}
		var paths []string
		for i := range of {
			mine, part := shard.Choice{Index: i + 1, Of: of}.Part(names, times)
			var some []*harness.Result
			for _, r := range all {
				if slices.Contains(mine, r.Name) {
					some = append(some, r)
				}
			}
			paths = append(paths, write(t, filepath.Join(dir, fmt.Sprint(i)), part, some))
		}
		paths = rapid.Permutation(paths).Draw(t, "order")
		merged := merge(t, dir, paths)
		if diff := cmp.Diff(files(t, whole), files(t, merged)); diff != "" {
			t.Fatalf("(-whole +merged):\n%.3000s", diff)
		}
		_ = os.RemoveAll(dir)
	})
}

func merge(t *rapid.T, dir string, paths []string) string {
	parts, err := shard.Sources(paths)
	if err != nil {
		t.Fatal(err)
	}
	o := shard.Options(parts)
	o.Dir, o.ID, o.Folder = dir, report.NewID(time.Unix(1, 0), 9), "merged"
	w, err := report.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := shard.Merge(parts, w.AddEntry); err != nil {
		t.Fatal(err)
	}
	folder, err := w.Close(shard.Interrupted(parts))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// What differs from run to run: the id, and the time of the whole.
var volatile = []*regexp.Regexp{
	regexp.MustCompile(`"volatile":\{"id":"[^"]*","started":"[^"]*","ended":"[^"]*","real_us":[0-9]+`),
	regexp.MustCompile(`(<testsuite name="retake" [^>]*) time="[^"]*"`),
}

func files(t *rapid.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Fatalf("%s has the secret", path)
		}
		for _, v := range volatile {
			text = v.ReplaceAll(text, []byte("$1"))
		}
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(text)
		return err
	})
	if err != nil || len(out) < 6 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return out
}

func plain(name string, took time.Duration) *harness.Result {
	return &harness.Result{Name: name, Model: "m", Clock: "virtual", Verdict: harness.Pass, TaskID: "t", Real: took}
}

// A report that does not say the times of all its entries, or in another order, is
// no part that can be joined.
func TestSourcesRefuses(t *testing.T) {
	dir := t.TempDir()
	var parts []string
	for i, some := range [][]*harness.Result{{plain("a", 0), plain("c", 0)}, {plain("b", 0), plain("d", 0)}} {
		parts = append(parts, write(t, filepath.Join(dir, fmt.Sprint(i)), &report.Shard{Index: i + 1, Of: 2, Plan: "p"}, some))
	}
	if _, err := shard.Sources(parts); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ why, old, new, want string }{
		{"another version", `"tool":"retake test"`, `"tool":"retake 2"`, `the version of one is "retake test", of the other "retake 2"`},
		{"another Go", `"go":"go1`, `"go":"go2`, "the version of Go of one is"},
		{"another split", `"plan":"p"`, `"plan":"q"`, "give each the same --shard-times REPORT"},
		{"another number of parts", `"of":2`, `"of":3`, "run all parts with the same flags and files"},
		{"another seed", `"seed":0`, `"seed":1`, "run all parts with the same flags and files"},
		{"the same part", `"index":2`, `"index":1`, "are both part 1 of 2"},
		{"a scenario of the other part", `"name":"b"`, `"name":"a"`, "the scenario a is in "},
		{"another order", `"name":"b"`, `"name":"e"`, "its entries are not in the order of their names"},
		{"a time is missing", `{"task_id":"t",`, `{"task_id":"t","attempt_ids":[],"real_us":0},{"task_id":"t",`, "it has 2 entries and the times of 3"},
	} {
		copied := filepath.Join(t.TempDir(), "part")
		if err := os.CopyFS(copied, os.DirFS(parts[1])); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(copied, "report.json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(text), tc.old, tc.new, 1)
		if edited == string(text) {
			t.Fatalf("%s: nothing to replace", tc.why)
		}
		if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := shard.Sources([]string{parts[0], copied}); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.why, err)
		}
	}
}

// The newest report of a whole run counts, and no damaged one.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	if times, from, err := shard.Times(filepath.Join(dir, "none")); times != nil || from != "" || err != nil {
		t.Errorf("%v, %q, %v", times, from, err)
	}
	a, b := plain("a", 2*time.Second), plain("a", 3*time.Second)
	write(t, dir, nil, []*harness.Result{a, b})                                           // …02
	write(t, dir, &report.Shard{Index: 1, Of: 2}, []*harness.Result{a, b, plain("b", 0)}) // …03
	bad := filepath.Join(dir, "19700101-000009-00000007")
	if err := os.MkdirAll(bad, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "report.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	times, from, err := shard.Times(dir)
	if err != nil || filepath.Base(from) != "19700101-000002-00000007" || times["a"] != 5e6 || len(times) != 1 {
		t.Errorf("%v, %q, %v", times, from, err)
	}
}

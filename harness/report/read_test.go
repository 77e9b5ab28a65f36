package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// What is written is read again, with each transcript, by whatever name the report
// goes.
func TestOpen(t *testing.T) {
	dir, results := t.TempDir(), append(ours(t, 2), everyVerdict()...)
	results[0].Trial = 3
	folder := write(t, dir, results, false)
	for _, path := range []string{folder, filepath.Join(folder, "report.json"), filepath.Join(dir, "latest")} {
		doc, err := report.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Scenarios) != len(results) || doc.Totals.Scenarios != len(results) || doc.Run.Volatile.ID != filepath.Base(folder) {
			t.Fatalf("%s: %d entries, %d in all, run %q", path, len(doc.Scenarios), doc.Totals.Scenarios, doc.Run.Volatile.ID)
		}
		for i, e := range doc.Scenarios {
			if want := results[i]; e.Name != want.Name || e.Trial != want.Trial {
				t.Errorf("entry %d is %s, trial %d, and not %s, %d", i, e.Name, e.Trial, want.Name, want.Trial)
			}
			got, err := report.TranscriptOf(folder, e)
			if err != nil || got != string(results[i].Transcript) {
				t.Errorf("%s: %v, transcript %q", e.Name, err, got)
			}
		}
	}
}

// Stream has one entry at a time, and ends with its reader.
func TestStream(t *testing.T) {
	folder := write(t, t.TempDir(), everyVerdict(), false)
	var names []string
	doc, err := report.Stream(folder, func(e *report.Entry) error { names = append(names, e.Name); return nil })
	if err != nil || doc.Scenarios != nil || doc.Totals.Scenarios != 6 {
		t.Fatalf("%v, %+v", err, doc)
	}
	if diff := cmp.Diff([]string{"dir/pass", "dir/fail", "dir/invalid", "dir/broken", "dir/diverged", "dir/not_run"}, names); diff != "" {
		t.Error(diff)
	}
	enough := errors.New("enough")
	seen := 0
	if _, err = report.Stream(folder, func(*report.Entry) error { seen++; return enough }); !errors.Is(err, enough) || err.Error() != "enough" || seen != 1 {
		t.Errorf("%v after %d", err, seen)
	}
}

func TestOpenRefuses(t *testing.T) {
	good := string(read(t, write(t, t.TempDir(), everyVerdict(), false), "report.json"))
	for _, tc := range []struct {
		why, text string
		class     failure.Class
		want      string
	}{
		{"a newer format", strings.Replace(good, "report/1", "report/2", 1), failure.ScenarioInvalid, `the report has the format "retake.report/2", and this retake reads up to "retake.report/1"`},
		{"another program's", `{"tests":[]}`, failure.ScenarioInvalid, "this is no report of retake"},
		{"another document of ours", `{"schema":"retake.drill/1"}`, failure.ScenarioInvalid, "this is no report of retake"},
		{"entries without a format", `{"scenarios":[]}`, failure.ScenarioInvalid, "this is no report of retake"},
		{"a list", `[]`, failure.ScenarioInvalid, "damaged"},
		{"nothing", ``, failure.ScenarioInvalid, "in the middle"},
		{"half of it", good[:len(good)/2], failure.ScenarioInvalid, "in the middle"},
		{"an entry of another kind", `{"schema":"retake.report/1","scenarios":[{"name":7}]}`, failure.ScenarioInvalid, "another kind at /scenarios/0/name"},
		{"two documents", good + good, failure.ScenarioInvalid, "something follows it"},
	} {
		path := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := report.Open(path)
		if failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v", tc.why, err)
		}
	}
	_, err := report.Open(filepath.Join(t.TempDir(), "none"))
	if failure.Of(err) != failure.World || !strings.Contains(err.Error(), "there is no report here") {
		t.Error(err)
	}
}

// A report of the first version has neither trials nor bytes of transcripts, and
// one of a later version has members that nobody knows here.
func TestOpenOtherVersions(t *testing.T) {
	folder := write(t, t.TempDir(), ours(t, 1), false)
	path := filepath.Join(folder, "report.json")
	text := string(read(t, path))
	text = strings.Replace(text, `"scenarios":[`, `"added":{"x":[1]},"scenarios":[`, 1)
	text = strings.Replace(text, `{"name"`, `{"added":1,"name"`, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := report.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Scenarios {
		with, err := report.TranscriptOf(folder, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Transcript.At = 0
		if without, err := report.TranscriptOf(folder, e); err != nil || with != without || with == "" {
			t.Errorf("%s: %v, %q and %q", e.Name, err, with, without)
		}
	}
}

func TestTranscriptOfRefuses(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.txt")
	if err := os.WriteFile(outside, []byte("=== dir/pass [m]\nsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	results := everyVerdict()[:1]
	results[0].Model = "m"
	folder := write(t, dir, results, false)
	doc, err := report.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	e := doc.Scenarios[0]
	for _, tc := range []struct {
		why   string
		at    *report.Place
		class failure.Class
		want  string
	}{
		{"a file outside of the report", &report.Place{File: "../outside.txt", Line: 1}, failure.World, "cannot be read"},
		{"by its whole path", &report.Place{File: outside, Line: 1}, failure.World, "cannot be read"},
		{"no such file", &report.Place{File: "transcripts/x.txt", Line: 1}, failure.World, "cannot be read"},
		{"a line that is no heading", &report.Place{File: e.Transcript.File, Line: 2}, failure.ScenarioInvalid, ":2: the transcript of dir/pass is not here"},
		{"a line after the end", &report.Place{File: e.Transcript.File, Line: 99}, failure.ScenarioInvalid, "is not here"},
	} {
		e := e
		e.Transcript = tc.at
		text, err := report.TranscriptOf(folder, e)
		if text != "" || failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %q, %v", tc.why, text, err)
		}
	}
	other := e
	other.Name = "dir/other"
	if text, err := report.TranscriptOf(folder, other); err == nil {
		t.Errorf("another's transcript: %q", text)
	}
	e.Transcript = nil
	if text, err := report.TranscriptOf(folder, e); text != "" || err != nil {
		t.Errorf("an entry without: %q, %v", text, err)
	}
}

// Ends of lines that a version control system has changed are no harm.
func TestTranscriptOfWithOtherLineEnds(t *testing.T) {
	results := everyVerdict()
	folder := write(t, t.TempDir(), results, false)
	doc, err := report.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, filepath.FromSlash(doc.Scenarios[0].Transcript.File))
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(read(t, path)), "\n", "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, e := range doc.Scenarios {
		if got, err := report.TranscriptOf(folder, e); err != nil || got != string(results[i].Transcript) {
			t.Errorf("%s: %v, %q", e.Name, err, got)
		}
	}
}

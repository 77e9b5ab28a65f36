package view_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/view"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// hostile is text that has broken pages, terminals and readers.
var hostile = []struct{ why, text string }{
	{"ends a script", `</script><script>document.title = "owned"</script>`},
	{"begins a comment", `<!-- <script>`},
	{"ends a comment", `--> ]]>`},
	{"is markup", `<img src=x onerror="document.title = 'owned'">`},
	{"ends lines in JavaScript alone", "\u2028\u2029"},
	{"turns the direction of text", "\u202egpj.exe\u202c \u2066abc\u2069"},
	{"drives a terminal", "\x1b[31mred\x1b]0;owned\x07"},
	{"hides text", "a\u200bb\U000e0041"},
	{"is Markdown", "[x](javascript:alert(1)) ![](https://x.example/a.png)"},
	{"is a template", "${7*7} {{7*7}} `x`"},
	{"is one long line", strings.Repeat("long ", 40_000)},
	{"is a null", "\x00"},
}

// hostileEntry has the text in everything that somebody else can write.
func hostileEntry(text string) report.Entry {
	e := entry("x", "m", "fail")
	e.Name, e.Model, e.Fault, e.Owner, e.Why, e.Rollback, e.Labels, e.Warnings = text, text, text, text, text, text, []string{text}, []string{text}
	e.Reasons = []report.Reason{{Class: "agent", Part: "agent", What: text, Where: text, Diff: text, Why: text, Next: text}}
	e.Outcome = report.Outcome{Class: "agent", Detail: text, Stop: text, Answer: text}
	e.Tools[0].Tool, e.Models[0].Error, e.Models[0].Problems = text, text, []string{text}
	e.Faults = []report.Fault{{Name: text, Spec: text, At: text, Why: text}}
	e.Contract = []report.Rule{{Rule: "W1", State: "breached", Breaches: []string{text}}}
	return e
}

// Nothing of a report stands in the page as it is: all of it is base64.
func TestHostileText(t *testing.T) {
	empty, _ := drawn(t, put(t, t.TempDir(), "r1", nil))
	for _, tc := range hostile {
		folder := put(t, t.TempDir(), "r1", []report.Entry{hostileEntry(tc.text)}, talk("x", "m", string(transcript.AppendSafe(nil, tc.text, 10))))
		page, parts := drawn(t, folder)
		if page != empty {
			t.Errorf("%s: the page is another one, apart from its data", tc.why)
		}
		var index struct{ Strings []string }
		if err := json.Unmarshal(parts["index"], &index, json.MatchCaseInsensitiveNames(true)); err != nil || !slices.Contains(index.Strings, tc.text) {
			t.Errorf("%s: the index does not have it: %v", tc.why, err)
		}
		var chunk struct {
			Entries []report.Entry
			Texts   []string
		}
		if err := json.Unmarshal(parts["chunk-0"], &chunk, json.MatchCaseInsensitiveNames(true)); err != nil || len(chunk.Entries) != 1 || chunk.Entries[0].Reasons[0].What != tc.text || len(chunk.Texts) != 1 {
			t.Errorf("%s: the chunk does not have it: %v", tc.why, err)
		}
	}
}

var elements = regexp.MustCompile(`<script type="application/octet-stream" id="([a-z0-9-]+)">([A-Za-z0-9+/=]*)</script>\n?`)

// drawn draws a page and takes it apart: what is left without the data, and the data.
func drawn(t *testing.T, paths ...string) (string, map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	if _, err := built(t, paths...).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, m := range elements.FindAllStringSubmatch(b.String(), -1) {
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[2])))
		if err != nil {
			t.Fatal(err)
		}
		if parts[m[1]], err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return elements.ReplaceAllString(b.String(), ""), parts
}

// The page loads nothing and lets nothing be loaded, but for what a served one asks
// of its own server.
func TestPolicy(t *testing.T) {
	page := built(t, put(t, t.TempDir(), "r1", nil))
	var file, served bytes.Buffer
	if _, err := page.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := page.WriteServed(&served, 7); err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`)
	got := policy.FindStringSubmatch(file.String())[1]
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "require-trusted-types-for 'script'", "base-uri 'none'"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "unsafe") || strings.Contains(got, "http") {
		t.Errorf("too much is allowed: %s", got)
	}
	if is := policy.FindStringSubmatch(served.String())[1]; is != strings.Replace(got, "connect-src 'none'", "connect-src 'self'", 1) || !strings.Contains(served.String(), `<html lang="en" data-served="7">`) {
		t.Errorf("served: %s", is)
	}
	if found := regexp.MustCompile(`(?i)<(link|script|img|iframe)[^>]+(src|href)="?(https?:)?//`).FindString(file.String()); found != "" {
		t.Errorf("it loads something: %s", found)
	}
}

func TestFind(t *testing.T) {
	dir := site(t)
	for n := 3; n < 6; n++ {
		put(t, dir, fmt.Sprintf("2026110%d-080000-0000000%d", n, n), nil)
	}
	write(t, filepath.Join(dir, ".20261109-080000-00000009.partial", "report.json"), []byte("{"))
	if err := os.Symlink("20261105-080000-00000005", filepath.Join(dir, "latest")); err != nil {
		t.Skip(err)
	}
	for _, tc := range []struct {
		why   string
		paths []string
		want  []string
	}{
		{"a folder: what has a name of its own, the last two runs, sweeps and drills", []string{dir}, []string{"baseline-3", "20261104-080000-00000004", "20261105-080000-00000005", "sweep/travel/umbrella/m.json", "drill/shop/order.json"}},
		{"a run, by its folder and its file; one that is named twice is there once", []string{dir + "/baseline-3", dir + "/baseline-3/"}, []string{"baseline-3"}},
		{"by the link", []string{dir + "/latest"}, []string{"latest"}},
		{"a sweep and a drill by their files", []string{dir + "/drill/shop/order.json", dir + "/sweep/travel/umbrella/m.json"}, []string{"drill/shop/order.json", "sweep/travel/umbrella/m.json"}},
	} {
		found, err := view.Find(tc.paths, 2)
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
		}
		var got []string
		for _, r := range found {
			name, _ := filepath.Rel(dir, r.Path)
			got = append(got, filepath.ToSlash(name))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.why, diff)
		}
	}
	write(t, filepath.Join(dir, "other.json"), []byte(`{"tests":[]}`))
	write(t, filepath.Join(dir, "newer.json"), []byte(`{"schema":"retake.sweep/2"}`))
	for _, tc := range []struct {
		why, path string
		class     failure.Class
		want      string
	}{
		{"nothing there", "none", failure.World, "there are no reports here"},
		{"another program's", "other.json", failure.ScenarioInvalid, "this is no report of a run, a sweep or a drill"},
		{"a newer format", "newer.json", failure.ScenarioInvalid, `has the format "retake.sweep/2", and this retake reads "retake.sweep/1"`},
	} {
		found, err := view.Find([]string{filepath.Join(dir, tc.path)}, 2)
		if err == nil {
			_, err = view.Build(t.Context(), found)
		}
		if failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.why, err)
		}
	}
}

// A report that was found in a folder and cannot be read keeps no other from being
// shown, and is told of.
func TestDamagedReport(t *testing.T) {
	dir := site(t)
	bad := filepath.Join(dir, "20261102-080000-00000002", "report.json")
	text, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	write(t, bad, text[:len(text)/2])
	if err := os.Remove(filepath.Join(dir, "baseline-3", "transcripts", "all.txt")); err != nil {
		t.Fatal(err)
	}
	page := built(t, dir)
	if len(page.Problems) != 2 || !strings.Contains(page.Problems[0].Error(), "cannot be read") || !strings.Contains(page.Problems[1].Error(), "damaged") {
		t.Errorf("%v", page.Problems)
	}
	_, parts := drawn(t, dir)
	var index struct {
		Runs     []struct{ Where string }
		Problems []string
	}
	if err := json.Unmarshal(parts["index"], &index, json.MatchCaseInsensitiveNames(true)); err != nil || len(index.Runs) != 2 || len(index.Problems) != 2 {
		t.Errorf("%v, %+v", err, index)
	}
	found, err := view.Find([]string{filepath.Dir(bad)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := view.Build(t.Context(), found); failure.Of(err) != failure.ScenarioInvalid {
		t.Errorf("one that was named: %v", err)
	}
}

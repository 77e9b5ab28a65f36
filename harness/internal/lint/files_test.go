package lint_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/redact"
)

const (
	sound   = "why: w\nowner: o\ntask: t\nmodel: m\nrollback: Go back.\ntools: []\nfaults: [{fault: model.reset}]\n"
	between = "tools:\n  - name: find_gift\n    description: Finds a gift.\n    input: {type: object, properties: {person: {type: string}}, required: [person], additionalProperties: false}\n" +
		"    output: {type: object}\n"
)

var fileRows = []struct {
	why   string
	files map[string]string
	want  []string // place: rule
}{
	{"a sound one", map[string]string{"a.yaml": sound, "golden/a/m.golden": ""}, nil},
	{"its golden transcript is not there", map[string]string{"a.yaml": sound}, []string{"a.yaml:1:1: scenario/golden-missing"}},
	{
		"that of a run under faults is not there",
		map[string]string{"a.yaml": strings.Replace(sound, "model.reset", "model.reset, expect: {golden: true}", 1), "golden/a/m.golden": ""},
		[]string{"a.yaml:7:10: scenario/golden-missing"},
	},
	{
		"no golden transcript is wanted",
		map[string]string{"a.yaml": sound + "expect: {golden: false, stop: done}\n"},
		[]string{"a.yaml:8:10: scenario/no-golden"},
	},
	{
		"no failure is shown",
		map[string]string{"a.yaml": strings.Replace(sound, "faults: [{fault: model.reset}]\n", "", 1), "golden/a/m.golden": ""},
		[]string{"a.yaml:1:1: scenario/no-failure-case"},
	},
	{
		"one beside it shows a failure",
		map[string]string{
			"a.yaml": strings.Replace(sound, "faults: [{fault: model.reset}]\n", "", 1), "golden/a/m.golden": "",
			"b.yaml": strings.Replace(sound, "faults: [{fault: model.reset}]\n", "expect: {outcome: refused}\n", 1), "golden/b/m.golden": "",
		},
		nil,
	},
	{"no way back", map[string]string{"a.yaml": strings.Replace(sound, "rollback: Go back.\n", "", 1), "golden/a/m.golden": ""}, []string{"a.yaml:1:1: scenario/no-rollback"}},
	{
		"it cannot be read, and the others are",
		map[string]string{"a.yaml": "why: w\nonwer: o\n", "b.yaml": sound},
		[]string{"a.yaml:1:1: scenario/unreadable", "a.yaml:1:1: scenario/unreadable", "a.yaml:2:1: scenario/unreadable", "b.yaml:1:1: scenario/golden-missing"},
	},
	{
		"a file of tools that cannot be read is told once",
		map[string]string{"a.yaml": strings.Replace(sound, "tools: []\n", "", 1), "golden/a/m.golden": "", "tools.yaml": "tool: []\n"},
		[]string{"tools.yaml:1:1: scenario/unreadable", "tools.yaml:1:1: scenario/unreadable"},
	},
	{
		"what the reader warns of",
		map[string]string{"a.yaml": sound + "expect: {golden: false}\n"},
		[]string{"a.yaml:1:1: scenario/doubt", "a.yaml:8:10: scenario/no-golden"},
	},
	{
		"a tool of a file that does not say what it does to the world",
		map[string]string{"a.yaml": sound, "golden/a/m.golden": "", "tools.yaml": between},
		[]string{"tools.yaml:2:5: tool/effect-declared"},
	},
	{
		"a tool of a file that says it", map[string]string{"a.yaml": sound, "golden/a/m.golden": "", "tools.yaml": between + "    effect: read\n"}, nil,
	},
	{
		"a write that a person approves",
		map[string]string{"a.yaml": sound, "golden/a/m.golden": "", "tools.yaml": strings.Replace(between, "Finds a gift", "Only after the user has agreed", 1) + "    effect: write\n    approval: true\n"},
		[]string{"tools.yaml:2:5: tool/name-honest"},
	},
	{
		"a tool in a scenario has its place there",
		map[string]string{"a.yaml": strings.Replace(sound, "tools: []\n", "tools:\n  - {name: a, description: d, output: {type: object}, effect: read}\n", 1), "golden/a/m.golden": ""},
		[]string{"a.yaml:7:5: tool/schema-object"},
	},
	{
		"what a tool on a server does not say, the server says",
		map[string]string{"a.yaml": strings.Replace(sound, "tools: []\n", "servers: {s: {command: [s]}}\ntools:\n  - {name: a, run: {mcp: s}}\n", 1), "golden/a/m.golden": ""},
		nil,
	},
}

func TestFiles(t *testing.T) {
	for _, tc := range fileRows {
		dir := project(t, tc.files)
		var got []string
		for _, f := range lintProject(t, dir) {
			place, err := filepath.Rel(dir, filepath.FromSlash(f.Place.File))
			if err != nil {
				place = f.Place.File
			}
			got = append(got, fmt.Sprintf("%s:%d:%d: %s", place, f.Place.Line, f.Place.Column, f.Rule))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

var secretRows = []struct {
	why             string
	owner, rotateBy string
	want            []string
}{
	{"owned, and not due yet", "team", "2027-01-02", nil},
	{"due today is not past", "team", "2027-01-01", nil},
	{"past by a day", "team", "2026-12-31", []string{"secret/overdue"}},
	{"without a day", "team", "", []string{"secret/no-date"}},
	{"without an owner", "", "2027-01-02", []string{"secret/no-owner"}},
}

func TestSecrets(t *testing.T) {
	today := time.Date(2027, 1, 1, 15, 0, 0, 0, time.UTC)
	for _, tc := range secretRows {
		s := lint.Secret{Name: "KEY", Owner: tc.owner}
		if tc.rotateBy != "" {
			s.RotateBy, _ = time.Parse(time.DateOnly, tc.rotateBy)
		}
		if diff := cmp.Diff(tc.want, ruleIDs(lint.Secrets([]lint.Secret{s}, today))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestWritten(t *testing.T) {
	dir := project(t, map[string]string{"cassettes/a.yaml": "a: 1\nb: the-secret-value\n", "cassettes/b.yaml": "a: 1\n", "golden/c": "dGhlLXNlY3JldC12YWx1ZQ=="})
	secrets := redact.New(redact.Secret{Name: "KEY", Value: "the-secret-value"})
	found, err := lint.Written(secrets, filepath.Join(dir, "cassettes"), filepath.Join(dir, "golden"), filepath.Join(dir, "reports"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s:%d %s", filepath.Base(f.Place.File), f.Place.Line, f.On))
	}
	if diff := cmp.Diff([]string{"a.yaml:2 KEY", "c:1 KEY"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if found, err := lint.Written(nil, dir); found != nil || err != nil {
		t.Errorf("without a secret: %v %v", found, err)
	}
}

func TestLooksLike(t *testing.T) {
	key := "sk-ant-" + strings.Repeat("a1B2", 8) // in one piece it would be found here
	dir := project(t, map[string]string{
		"cassettes/travel/m.yaml": "a: 1\nb: '{\"key\":\"" + key + "\"}'\nc: req_011CSHoEeqs5C35K2UUqR7Fy toolu_01A09q90qw90lq917835lq9 call_abc\n",
		"golden/c":                "the-known-value " + key + "\n",
		"reports/r/report.json":   "{}\n",
	})
	known := redact.New(redact.Secret{Name: "KEY", Value: "the-known-value"})
	var got []string
	find := func(s ...lint.Suppression) {
		t.Helper()
		found, err := lint.LooksLike(known, filepath.Join(dir, "cassettes"), filepath.Join(dir, "golden"), filepath.Join(dir, "reports"), filepath.Join(dir, "none"))
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, f := range lint.Excuse(found, s) {
			if strings.Contains(f.Message, key) {
				t.Errorf("the finding has it: %s", f.Message)
			}
			if f.Excuse == "" {
				got = append(got, fmt.Sprintf("%s:%d %s %s", filepath.Base(f.Place.File), f.Place.Line, f.On, f.Rule))
			}
		}
	}
	find()
	if diff := cmp.Diff([]string{"m.yaml:2 cassettes/travel/m.yaml secret/looks-like"}, got); diff != "" {
		t.Errorf("what is a known secret is told as one (-want +got):\n%s", diff)
	}
	find(lint.Suppression{Rule: "secret/looks-like", On: []string{"travel/*"}, Reason: "A key of the documentation's.", Asked: true})
	if len(got) > 0 {
		t.Errorf("excused, and still found: %v", got)
	}
}

var excuseRows = []struct {
	why  string
	s    lint.Suppression
	want []string // rules that are left
}{
	{"by the rule and the tool", lint.Suppression{Rule: "tool/no-description", On: []string{"find_gift"}, Reason: "r", Asked: true}, nil},
	{"by the server's tool", lint.Suppression{Rule: "tool/*", On: []string{"shop/*"}, Reason: "r", Asked: true}, nil},
	{"on anything", lint.Suppression{Rule: "tool/no-description", Reason: "r", Asked: true}, nil},
	{"of another tool", lint.Suppression{Rule: "tool/no-description", On: []string{"gift"}, Reason: "r", Asked: true}, []string{"lint/suppresses-nothing", "tool/no-description"}},
	{"of another tool, where not everything was looked at", lint.Suppression{Rule: "tool/no-description", On: []string{"gift"}, Reason: "r"}, []string{"tool/no-description"}},
	{"without a reason", lint.Suppression{Rule: "tool/no-description", Asked: true}, []string{"lint/no-reason", "tool/no-description"}},
	{"of a rule that there is not", lint.Suppression{Rule: "tool/no-descrption", Reason: "r", Asked: true}, []string{"lint/no-reason", "tool/no-description"}},
	{"at another line", lint.Suppression{Rule: "tool/no-description", Reason: "r", Line: 3, Asked: true}, []string{"lint/suppresses-nothing", "tool/no-description"}},
	{"of what is wrong with suppressions", lint.Suppression{Rule: "*", On: []string{"x"}, Reason: "r", Asked: true}, []string{"lint/suppresses-nothing", "tool/no-description"}},
}

func TestExcuse(t *testing.T) {
	for _, tc := range excuseRows {
		s := &lint.Set{Name: "shop", Server: true, Tools: []lint.Tool{toolOf(t, soundRead, `{"description":null}`)}}
		var left []string
		for _, f := range lint.Excuse(s.Lint(), []lint.Suppression{tc.s}) {
			if f.Excuse == "" {
				left = append(left, f.Rule)
			}
		}
		if diff := cmp.Diff(tc.want, left); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestComments(t *testing.T) {
	const line = "  - name: find_gift # retake:lint tool/effect-declared It is a specimen.\n"
	const above = "  # retake:lint tool/effect-declared It is a specimen.\n  # And a word more.\n  - name: find_gift\n"
	for _, tc := range []struct{ why, with string }{{"in its line", line}, {"in the lines above", above}} {
		dir := project(t, map[string]string{"a.yaml": sound, "golden/a/m.golden": "", "tools.yaml": strings.Replace(between, "  - name: find_gift\n", tc.with, 1)})
		found := lint.Excuse(lintProject(t, dir), lint.Comments(filepath.ToSlash(filepath.Join(dir, "tools.yaml"))))
		if len(found) != 1 || found[0].Excuse != "It is a specimen." {
			t.Errorf("%s: %+v", tc.why, found)
		}
	}
}

// Each rule has a row that it finds, and at least one that it lets pass.
func TestEachRuleHasRows(t *testing.T) {
	found, rows := map[string]int{}, 0
	add := func(ids []string) {
		rows++
		seen := map[string]bool{}
		for _, id := range ids {
			_, id, _ = strings.Cut(id, ": ")
			if !seen[id] {
				found[id]++
			}
			seen[id] = true
		}
	}
	prefixed := func(ids []string) []string {
		out := make([]string, len(ids))
		for i, id := range ids {
			out[i] = ": " + id
		}
		return out
	}
	for _, tc := range toolRows {
		add(prefixed(tc.want))
	}
	for _, tc := range widgetRows {
		add(prefixed(tc.want))
	}
	for _, tc := range probeRows {
		add(prefixed(tc.want))
	}
	for _, tc := range renderRows {
		var ids []string
		for _, w := range tc.want {
			id, _, _ := strings.Cut(w, ": ")
			ids = append(ids, id)
		}
		add(prefixed(ids))
	}
	// TestWidgetGolden, TestServerThatBreaksDown, TestWritten and TestLooksLike
	add([]string{": widget/golden", ": widget/no-golden", ": probe/breaks-down", ": secret/written", ": secret/looks-like"})
	for _, tc := range fileRows {
		add(tc.want)
	}
	for _, tc := range secretRows {
		add(prefixed(tc.want))
	}
	for _, tc := range excuseRows {
		add(prefixed(tc.want))
	}
	for _, r := range lint.Rules() {
		if n := found[r.ID]; n == 0 || n == rows {
			t.Errorf("%s: of %d rows it is found in %d", r.ID, rows, n)
		}
		if r.Finds == "" || r.Why == "" || r.Mend == "" || r.Source == "" || !strings.Contains(r.ID, "/") {
			t.Errorf("%s is not explained: %+v", r.ID, r)
		}
		if got, ok := lint.Explain(r.ID); !ok || got != r {
			t.Errorf("%s cannot be found by its id", r.ID)
		}
	}
}

package labels_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/labels"
)

func pairs(table [][]int, answers []string) []labels.Pair {
	var out []labels.Pair
	for i, row := range table {
		for j, n := range row {
			for range n {
				out = append(out, labels.Pair{Label: answers[i], Judge: answers[j]})
			}
		}
	}
	return out
}

func TestDecide(t *testing.T) {
	yesNo := []string{"yes", "no"}
	for _, tt := range []struct {
		why   string
		table [][]int
		min   float64
		want  labels.Verdict
		says  string
	}{
		{"many that agree", [][]int{{95, 5}, {5, 95}}, 0.6, labels.Enough, "kappa is at least 0.8"},
		{"many that do not", [][]int{{60, 40}, {40, 60}}, 0.6, labels.TooLittle, "kappa is at most 0.3"},
		{"few that agree", [][]int{{3, 0}, {0, 3}}, 0.6, labels.Inconclusive, "items like these would decide"},
		{"one kind alone", [][]int{{90, 0}, {0, 0}}, 0.1, labels.Inconclusive, "kappa is not defined"},
		{"just at it", [][]int{{20, 5}, {10, 15}}, 0.4, labels.Inconclusive, "hardly any number of items"},
		{"nothing", [][]int{{0, 0}, {0, 0}}, 0, labels.Inconclusive, "kappa is not defined"},
	} {
		a := labels.Measure(yesNo, pairs(tt.table, yesNo))
		a.Decide(tt.min)
		if a.Verdict != tt.want || !strings.Contains(a.Why, tt.says) {
			t.Errorf("%s: %s, %s", tt.why, a.Verdict, a.Why)
		}
	}
}

// What is too little is said.
func TestWarnings(t *testing.T) {
	a := labels.Measure([]string{"good", "bad", "odd"}, []labels.Pair{{Label: "good", Judge: "good"}, {Label: "good", Judge: ""}, {Label: "bad", Judge: "good"}})
	want := []string{
		"3 labelled items are few: below 50 the interval is rough, and wide",
		`only 2 labelled "good": label at least 5 of each kind`,
		`only 1 labelled "bad": label at least 5 of each kind`,
		`no item is labelled "odd": whether the judge knows one when it sees it, nobody can tell`,
	}
	if diff := cmp.Diff(want, a.Warnings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]int{{1, 0, 0, 1}, {1, 0, 0, 0}, {0, 0, 0, 0}}, a.Table); diff != "" || a.None != 1 || len(a.Differ) != 2 {
		t.Errorf("%+v\n%s", a, diff)
	}
}

// The figures do not depend on the order of items, and kappa lies in its interval.
func TestLaws(t *testing.T) {
	answers := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) labels.Pair {
			return labels.Pair{Label: rapid.SampledFrom(answers).Draw(t, "label"), Judge: rapid.SampledFrom(append(answers, "")).Draw(t, "judge")}
		})
		items := rapid.SliceOfN(one, 1, 60).Draw(t, "items")
		a := labels.Measure(answers, items)
		slices.Reverse(items)
		b := labels.Measure(answers, items)
		a.Differ, b.Differ = nil, nil
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatal(diff)
		}
		const rounding = 1e-9
		if a.Kappa != nil && (*a.Kappa < a.Lo-rounding || *a.Kappa > a.Hi+rounding || a.Lo < -1 || a.Hi > 1) {
			t.Fatalf("%v in [%v, %v]", *a.Kappa, a.Lo, a.Hi)
		}
	})
}

func TestLoadRefuses(t *testing.T) {
	const head = "question: q\nmodel: m\nanswers: [yes, no]\n"
	for _, tt := range []struct{ why, text, want string }{
		{"no items", head + "items: []\n", "without labelled items there is nothing to agree with"},
		{"a label that is no answer", head + "items: [{text: t, label: perhaps}]\n", `4:26: the label "perhaps" is none of the answers`},
		{"both", head + "items: [{text: t, scenario: s, label: yes}]\n", "text"},
		{"whose run of what", head + "items: [{text: t, agent: m, label: yes}]\n", "say scenario too"},
		{"one answer", "question: q\nmodel: m\nanswers: [yes]\nitems: [{text: t, label: yes}]\n", "give at least two"},
		{"twice", "question: q\nmodel: m\nanswers: [yes, YES]\nitems: [{text: t, label: yes}]\n", "listed twice"},
		{"unknown field", head + "items: [{text: t, lable: yes}]\n", "lable"},
	} {
		path := filepath.Join(t.TempDir(), "l.yaml")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := labels.Load(path); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

package compare_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/failure"
)

const schemaFile = "rubric.schema.json"

// RETAKE_UPDATE_SCHEMAS=1 writes it anew.
func TestCommittedRubricSchema(t *testing.T) {
	want, err := compare.RubricSchema()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("RETAKE_UPDATE_SCHEMAS") == "1" {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not what the fields give; write it with: RETAKE_UPDATE_SCHEMAS=1 go test ./harness/compare (-want +got):\n%s", schemaFile, d)
	}
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("rubric", doc); err != nil {
		t.Fatal(err)
	}
	var builtin any
	if err := yaml.Unmarshal(compare.DefaultFile(), &builtin); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("rubric").Validate(builtin); err != nil {
		t.Errorf("the built-in rubric: %v", err)
	}
}

// The built-in rubric asks what has to be asked, hard gates first.
func TestDefaultRubric(t *testing.T) {
	r := compare.Default()
	var ids []string
	for _, q := range r.Questions {
		ids = append(ids, q.ID)
		if q.Reason == "" {
			t.Errorf("%s: no reason", q.ID)
		}
	}
	want := "effects leaks pairing unasked forbidden golden faults scenarios excluded success cost output-tokens latency"
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.Primary != "success" || r.Confidence != .95 || r.Name() != "built-in" {
		t.Errorf("%+v", r)
	}
}

func rubricFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rubric.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const oneQuestion = `primary: ok
questions:
  - {id: ok, ask: success, threshold: 0.05, breach: revert, reason: It has to work.}
`

func TestRubricsThatAreRefused(t *testing.T) {
	for _, tc := range []struct{ why, from, to, want string }{
		{"an unknown field", "primary:", "margin: 1\nprimary:", `:1:1: unknown field "margin"`},
		{"an unknown question", "ask: success", "ask: succes", `(did you mean "success"?)`},
		{"a meaning of its own", "breach: revert", "breach: rollback", "must be one of revert, inconclusive, warn"},
		{"no reason", ", reason: It has to work.", "", `"reason" is missing`},
		{"no threshold", "threshold: 0.05, ", "", `"threshold" is missing`},
		{"a primary question that is not asked", "primary: ok", "primary: okk", `:1:10: primary must be the id of a question about success or a figure, is "okk" (did you mean "ok"?)`},
		{"a gate as the primary question", "ask: success, threshold: 0.05", "ask: leak, threshold: 0", "primary must be the id of a question about success"},
		{"a margin of everything", "threshold: 0.05", "threshold: 5", "the threshold of success is a share of less than 1"},
		{"a ratio below one", "ask: success, threshold: 0.05", "ask: cost, threshold: 0.1", "the threshold of cost is the highest ratio of new to old, at least 1"},
		{"half a leak", "ask: success, threshold: 0.05", "ask: leak, threshold: 0.5", "the threshold of leak is a whole number"},
		{"a confidence in percent", "primary:", "confidence: 95\nprimary:", ":1:13: must be a number of more than 0 and at most 1, is 95"},
		{"the same id twice", "questions:\n", "questions:\n  - {id: ok, ask: cost, threshold: 2, breach: warn, reason: r.}\n", `the id "ok" is given twice`},
		{"no questions", oneQuestion, "primary: ok\nquestions: []\n", "a rubric without questions decides nothing"},
	} {
		_, err := compare.LoadRubric(rubricFile(t, strings.Replace(oneQuestion, tc.from, tc.to, 1)))
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v\nwant %s", tc.why, err, tc.want)
		}
	}
	if _, err := compare.LoadRubric(filepath.Join(t.TempDir(), "none.yaml")); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), "--print-rubric") {
		t.Errorf("no file: %v", err)
	}
}

// The hash is of what is asked, not of how the file is laid out.
func TestRubricHash(t *testing.T) {
	load := func(text string) string {
		r, err := compare.LoadRubric(rubricFile(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return r.Hash()
	}
	first := load(oneQuestion)
	if load("# another comment\nseed: 1\n"+oneQuestion) != first {
		t.Error("a comment, or a default that is spelled out, is another rubric")
	}
	for _, change := range [][2]string{{"0.05", "0.06"}, {"breach: revert", "breach: warn"}, {"primary:", "confidence: 0.9\nprimary:"}} {
		if load(strings.Replace(oneQuestion, change[0], change[1], 1)) == first {
			t.Errorf("%s for %s is the same rubric", change[1], change[0])
		}
	}
	if r, err := compare.LoadRubric(rubricFile(t, string(compare.DefaultFile()))); err != nil || r.Hash() != compare.Default().Hash() {
		t.Errorf("a copy of the built-in rubric is another: %v", err)
	}
}

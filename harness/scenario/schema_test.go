package scenario_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/schema"
)

// The committed schemas are what the tables of fields give. RETAKE_UPDATE_SCHEMAS=1
// writes them anew; RETAKE_UPDATE=1, which accepts transcripts, must not.
func TestCommittedSchemas(t *testing.T) {
	for _, tc := range []struct {
		file     string
		generate func() ([]byte, error)
	}{
		{"scenario.schema.json", scenario.JSONSchema},
		{"tools.schema.json", scenario.ToolsJSONSchema},
	} {
		want, err := tc.generate()
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv("RETAKE_UPDATE_SCHEMAS") == "1" {
			write(t, tc.file, string(want))
		}
		got, err := os.ReadFile(tc.file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what the fields give; write it with: RETAKE_UPDATE_SCHEMAS=1 go test ./harness/scenario (-want +got):\n%s", tc.file, diff)
		}
	}
}

// Whatever an editor's schema can tell, it tells as the loader does.
func TestEditorAndLoaderAgree(t *testing.T) {
	editor := editorSchema(t)
	for _, tc := range slices.Concat(invalid, invalidFaults, invalidRuns, invalidProbes, invalidApprovals) {
		text, err := yamlwalk.ToJSON("s.yaml", []byte(tc.text))
		if err != nil {
			continue // no JSON comes of it: nothing for a schema
		}
		if refused := editor.Check(text) != nil; refused != tc.editor {
			t.Errorf("%s: the editor's schema refuses: %v, want %v (%v)", tc.why, refused, tc.editor, editor.Check(text))
		}
	}
	for _, dir := range []string{samples, "../../scenarios"} {
		names, err := scenario.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			file := filepath.Join(dir, name+".yaml")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := scenario.Parse(file, text, scenario.Options{Models: []string{"m"}, Servers: []scenario.Server{{Name: "giftgenius", Command: []string{"giftgenius"}}}}); err != nil {
				t.Error(err)
			}
			checkEditorAccepts(t, editor, string(text))
		}
	}
}

func TestToolsFilesFitTheirSchema(t *testing.T) {
	raw, err := scenario.ToolsJSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	editor, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(samples + "/*/tools.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files of tools", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkEditorAccepts(t, editor, string(text))
	}
}

func editorSchema(tb testing.TB) *schema.Schema {
	tb.Helper()
	raw, err := scenario.JSONSchema()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func checkEditorAccepts(t *testing.T, editor *schema.Schema, text string) {
	t.Helper()
	raw, err := yamlwalk.ToJSON("s.yaml", []byte(text))
	if err != nil {
		return // a duplicate or unclear word somewhere: nothing for a schema
	}
	if problems := editor.Check(raw); problems != nil {
		t.Errorf("the loader accepts what the editor's schema refuses: %v\n%s", problems, text)
	}
}

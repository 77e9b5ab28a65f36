package report_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/report"
)

// reportWords are the words that a place in the report may have, by type and
// member. They are read from the source, so that a new constant is never
// forgotten.
func reportWords(t *testing.T) map[string][]string {
	t.Helper()
	classes := constants(t, "failure", "Class")
	parts := constants(t, "failure", "Part")
	verdicts := constants(t, ".", "Verdict")
	outcomes := constants(t, "journal", "Outcome")
	stops := constants(t, "wire", "Stop")
	return map[string][]string{
		"Document.schema":      {report.Schema},
		"Entry.verdict":        verdicts,
		"Entry.part":           parts,
		"Entry.clock":          constants(t, "clock", "Mode"),
		"Entry.api":            append(constants(t, "wire", "API"), ""), // not known of what could not be run
		"Reason.class":         classes,
		"Reason.part":          parts,
		"Outcome.class":        append([]string{"completed"}, classes...),
		"Outcome.stop":         stops,
		"Model.class":          classes,
		"Model.stop":           stops,
		"Model.problems":       constants(t, "wire", "ProblemKind"),
		"Tool.class":           classes,
		"Tool.outcome":         outcomes,
		"ToolAttempt.class":    classes,
		"ToolAttempt.outcome":  outcomes,
		"Rule.rule":            rules(),
		"Rule.state":           constants(t, "contract", "State"),
		"Totals.verdicts":      verdicts,
		"Totals.error_classes": classes,
		"Totals.parts":         parts,
	}
}

func rules() []string {
	var out []string
	for _, f := range contract.Check(contract.Terms{}, contract.Evidence{}) {
		out = append(out, string(f.Rule))
	}
	return out
}

// constants are the values of a type's constants in a package below harness, in
// the order of the source; "" is left out: where nothing is said, the member is.
func constants(t *testing.T, pkg, typeName string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != typeName {
				return false
			}
			for _, v := range spec.Values {
				if word := literal(t, name, v); word != "" {
					out = append(out, word)
				}
			}
			return false
		})
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", pkg, typeName)
	}
	return out
}

func literal(t *testing.T, file string, v ast.Expr) string {
	t.Helper()
	lit, ok := v.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%s: a word is no literal", file)
	}
	word, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return word
}

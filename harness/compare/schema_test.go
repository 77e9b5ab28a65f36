package compare_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

const comparisonSchema = "comparison.schema.json"

// words are the only texts that a member of the type may have.
var words = map[reflect.Type][]string{
	reflect.TypeFor[compare.Verdict](): {string(compare.Keep), string(compare.Revert), string(compare.Inconclusive)},
	reflect.TypeFor[compare.State]():   {string(compare.Held), string(compare.Breached), string(compare.Open), string(compare.Unknown)},
	reflect.TypeFor[compare.Meaning](): {string(compare.MeansRevert), string(compare.MeansInconclusive), string(compare.MeansWarn)},
}

// describe is the schema of a type as it is written: a member that may be left out
// is not required, and all others are forbidden.
func describe(t reflect.Type) yamlwalk.Schema {
	switch t.Kind() {
	case reflect.String:
		if w := words[t]; w != nil {
			return yamlwalk.Schema{{Name: "enum", Value: w}}
		}
		return yamlwalk.Schema{{Name: "type", Value: "string"}}
	case reflect.Bool:
		return yamlwalk.Schema{{Name: "type", Value: "boolean"}}
	case reflect.Float64:
		return yamlwalk.Schema{{Name: "type", Value: "number"}}
	case reflect.Int, reflect.Uint64:
		return yamlwalk.Schema{{Name: "type", Value: "integer"}}
	case reflect.Map:
		return yamlwalk.Schema{{Name: "type", Value: "object"}, {Name: "additionalProperties", Value: describe(t.Elem())}}
	case reflect.Slice:
		return yamlwalk.Schema{{Name: "type", Value: "array"}, {Name: "items", Value: describe(t.Elem())}}
	case reflect.Pointer:
		return yamlwalk.Schema{{Name: "anyOf", Value: []yamlwalk.Schema{describe(t.Elem()), {{Name: "type", Value: "null"}}}}}
	case reflect.Struct:
		var properties yamlwalk.Schema
		required := []string{}
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous {
				continue
			}
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if option != "omitzero" {
				required = append(required, name)
			}
			properties = append(properties, yamlwalk.Member{Name: name, Value: describe(f.Type)})
		}
		return yamlwalk.Schema{{Name: "type", Value: "object"}, {Name: "properties", Value: properties}, {Name: "required", Value: required}, {Name: "additionalProperties", Value: false}}
	default:
		panic("no schema for " + t.String())
	}
}

// RETAKE_UPDATE_SCHEMAS=1 writes it anew.
func TestCommittedComparisonSchema(t *testing.T) {
	schema := append(yamlwalk.Schema{
		{Name: "$schema", Value: "https://json-schema.org/draft/2020-12/schema"},
		{Name: "title", Value: "What retake compare --json prints, format " + compare.Schema},
	}, describe(reflect.TypeFor[compare.Comparison]())...)
	want, err := json.Marshal(schema, jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if os.Getenv("RETAKE_UPDATE_SCHEMAS") == "1" {
		if err := os.WriteFile(comparisonSchema, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(comparisonSchema)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not what the types give; write it with: RETAKE_UPDATE_SCHEMAS=1 go test ./harness/compare (-want +got):\n%s", comparisonSchema, d)
	}
}

func TestComparisonsFitTheSchema(t *testing.T) {
	text, err := os.ReadFile(comparisonSchema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("comparison", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("comparison")
	for why, now := range map[string]*made{"kept": suite("m-2", 20, 1, nil), "few": suite("m-2", 1, 2, nil), "hostile": hostile(t)} {
		comparison := compared(t, suite("m-1", 20, 1, nil), now, compare.Options{PairByName: true})
		text, err := comparison.JSON()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", why, err)
		}
		again := compared(t, suite("m-1", 20, 1, nil), suite("m-2", 20, 1, nil), compare.Options{})
		if why == "kept" && again.Verdict != comparison.Verdict {
			t.Error("another verdict of the same reports")
		}
	}
}

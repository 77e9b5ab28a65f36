package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/report"
)

const schemaFile = "report.schema.json"

// The committed schema is what the types give. RETAKE_UPDATE=1 writes it anew.
func TestCommittedSchema(t *testing.T) {
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://github.com/retake-harness/retake/harness/report/" + schemaFile},
		{"title", "report.json of retake, format " + report.Schema},
	}
	defs := map[string]object{}
	root = append(root, schemaOf(reflect.TypeFor[report.Document](), defs)...)
	root = append(root, member{"$defs", defs})
	want, err := json.Marshal(root, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if os.Getenv("RETAKE_UPDATE") == "1" {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the types give; write it with: RETAKE_UPDATE=1 go test ./harness/report (-want +got):\n%s", schemaFile, diff)
	}
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

func schemaOf(t reflect.Type, defs map[string]object) object {
	switch t.Kind() {
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", schemaOf(t.Elem(), defs)}}
	case reflect.Slice:
		if t == reflect.TypeFor[jsontext.Value]() {
			return object{} // as the provider wrote it
		}
		return object{{"type", "array"}, {"items", schemaOf(t.Elem(), defs)}}
	case reflect.Pointer:
		return object{{"anyOf", []object{schemaOf(t.Elem(), defs), {{"type", "null"}}}}}
	case reflect.Struct:
		if _, ok := defs[t.Name()]; !ok {
			defs[t.Name()] = nil
			defs[t.Name()] = structSchema(t, defs)
		}
		return object{{"$ref", "#/$defs/" + t.Name()}}
	}
	panic("no schema for " + t.String())
}

func structSchema(t reflect.Type, defs map[string]object) object {
	var properties object
	required := []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		if option == "omitzero" && kind.Kind() == reflect.Pointer {
			kind = kind.Elem() // left out, not null
		}
		if option != "omitzero" {
			required = append(required, name)
		}
		properties = append(properties, member{name, schemaOf(kind, defs)})
	}
	return object{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}
}

// Reports of real runs, good and bad ones, fit the schema.
func TestReportsFitTheSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("report", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, results := range map[string][]*harness.Result{"good": ours(t, 1), "bad": everyVerdict(), "none": nil} {
		path := filepath.Join(write(t, filepath.Join(dir, name), results, false), "report.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// The committed schema is what the types and their words give.
// RETAKE_UPDATE_SCHEMAS=1 writes it anew; RETAKE_UPDATE=1, which accepts
// transcripts, must not.
func TestCommittedSchema(t *testing.T) {
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://github.com/retake-harness/retake/harness/report/" + schemaFile},
		{"title", "report.json of retake, format " + report.Schema},
	}
	g := generator{defs: map[string]object{}, words: reportWords(t)}
	root = append(root, g.schemaOf(reflect.TypeFor[report.Document](), "")...)
	root = append(root, member{"$defs", g.defs})
	for place := range g.words {
		t.Errorf("%s has words, and is no member of the report", place)
	}
	want, err := json.Marshal(root, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if os.Getenv("RETAKE_UPDATE_SCHEMAS") == "1" {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the types give; write it with: RETAKE_UPDATE_SCHEMAS=1 go test ./harness/report (-want +got):\n%s", schemaFile, diff)
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

// generator makes the schema of the report's types. words are the only texts
// that a place may have, and are taken out as they are used.
type generator struct {
	defs  map[string]object
	words map[string][]string // by place: Entry.verdict
}

func (g *generator) take(place string) []string {
	words := g.words[place]
	delete(g.words, place)
	return words
}

// schemaOf is the schema of a type; place says where it stands, for its words.
func (g *generator) schemaOf(t reflect.Type, place string) object {
	switch t.Kind() {
	case reflect.String:
		switch words := g.take(place); len(words) {
		case 0:
			return object{{"type", "string"}}
		case 1:
			return object{{"const", words[0]}}
		default:
			return object{{"enum", words}}
		}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{{"type", "integer"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.Map:
		out := object{{"type", "object"}}
		if words := g.take(place); words != nil {
			out = append(out, member{"propertyNames", object{{"enum", words}}})
		}
		return append(out, member{"additionalProperties", g.schemaOf(t.Elem(), "")})
	case reflect.Slice:
		if t == reflect.TypeFor[jsontext.Value]() {
			return object{} // as the provider wrote it
		}
		return object{{"type", "array"}, {"items", g.schemaOf(t.Elem(), place)}}
	case reflect.Pointer:
		return object{{"anyOf", []object{g.schemaOf(t.Elem(), place), {{"type", "null"}}}}}
	case reflect.Struct:
		if _, ok := g.defs[t.Name()]; !ok {
			g.defs[t.Name()] = nil
			g.defs[t.Name()] = g.structSchema(t)
		}
		return object{{"$ref", "#/$defs/" + t.Name()}}
	}
	panic("no schema for " + t.String())
}

func (g *generator) structSchema(t reflect.Type) object {
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
		properties = append(properties, member{name, g.schemaOf(kind, t.Name()+"."+name)})
	}
	return object{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}
}

func committedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report", document(t, read(t, schemaFile))); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func document(t *testing.T, text []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Reports of real runs, good and bad ones, fit the schema.
func TestReportsFitTheSchema(t *testing.T) {
	schema := committedSchema(t)
	dir := t.TempDir()
	for name, results := range map[string][]*harness.Result{"good": ours(t, 1), "bad": everyVerdict(), "none": nil} {
		text := read(t, write(t, filepath.Join(dir, name), results, false), "report.json")
		if err := schema.Validate(document(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A word that the report does not have is refused, wherever it stands.
func TestSchemaRefusesWrongWords(t *testing.T) {
	schema := committedSchema(t)
	good := string(read(t, write(t, t.TempDir(), slices.Concat(everyVerdict(), ours(t, 1)), false), "report.json"))
	for _, tc := range []struct{ why, right, wrong string }{
		{"another format", `"schema":"retake.report/1"`, `"schema":"retake.report/2"`},
		{"a verdict", `"verdict":"diverged"`, `"verdict":"divergd"`},
		{"a verdict that is counted", `"verdicts":{"broken":1,`, `"verdicts":{"broke":1,`},
		{"a reason's class", `"class":"contract","part":"tool"`, `"class":"contracts","part":"tool"`},
		{"a reason's part", `"class":"contract","part":"tool"`, `"class":"contract","part":"tools"`},
		{"an attempt's class", `"class":"overloaded"`, `"class":"overload"`},
		{"a class that is counted", `"error_classes":{"contract":`, `"error_classes":{"contracts":`},
		{"how an agent ended", `"outcome":{"class":"completed"`, `"outcome":{"class":"complete"`},
		{"how a call ended", `"outcome":"rejected","class"`, `"outcome":"reject","class"`},
		{"a clock", `"clock":"virtual"`, `"clock":"virtuel"`},
		{"an API", `"api":"anthropic-messages"`, `"api":"anthropic"`},
		{"a stop", `"stop":"tool_calls"`, `"stop":"tool_use"`},
		{"a rule", `"rule":"W1","state"`, `"rule":"W17","state"`},
		{"a rule's state", `"state":"held"`, `"state":"kept"`},
		{"a defect of an answer", `"problems":["bad_event"]`, `"problems":["bad"]`},
	} {
		text := strings.Replace(good, tc.right, tc.wrong, 1)
		if text == good {
			t.Errorf("%s: the report does not have %s", tc.why, tc.right)
			continue
		}
		if err := schema.Validate(document(t, []byte(text))); err == nil {
			t.Errorf("%s: %s is accepted", tc.why, tc.wrong)
		}
	}
}
